// I17, through a whole Keryx: what a model's command can do to Keryx itself when nobody is asked about anything. The classifier is off
// here, so what holds is the wall alone.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Keryx, openKeryx } from "../page/support.ts";
import { tell } from "../page/talk.ts";

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const NODE = `${process.execPath} --disable-warning=ExperimentalWarning ${MAIN}`;

/** Not in /tmp, which every wall has its own of: what is hidden there would prove nothing. */
const root = mkdtempSync("/var/tmp/keryx-takeover-");
const home = join(root, "owner/.keryx");

/** `HOME` is Keryx's home and `ASKED` a confirmation that waits. */
const LINES = [
	'cat "\u0024{PWD%/*/*}/operator.secret"',
	"cat HOME/operator.secret HOME/config.yaml HOME/audit.key HOME/keryx.db",
	"cat /proc/self/cwd/../../operator.secret",
	'cat "$(dirname "$(dirname "$PWD")")/operator.secret"',
	"find /var/tmp -xdev -name operator.secret 2>/dev/null | xargs -r cat",
	"ln -s HOME/operator.secret here; cat here",
	`KERYX_HOME=HOME ${NODE} confirm approve ASKED --yes`,
	`env -u KERYX_PROCESS KERYX_HOME=HOME ${NODE} confirm approve ASKED --yes --grant always`,
	`env -u KERYX_PROCESS KERYX_HOME=HOME ${NODE} token create mine --role operator`,
	`env -i PATH="$PATH" KERYX_HOME=HOME setsid ${NODE} link`,
	"sed -i 's/mode: off/mode: readonly/' HOME/config.yaml",
	"echo 'walls: {mode: off}' >> HOME/config.yaml",
	"mv HOME HOME.old && mkdir HOME && echo 'walls: {mode: off}' > HOME/config.yaml",
	'cd "\u0024{PWD%/*/*/*}" && mv .keryx x; mkdir -p .keryx; echo "walls: {mode: off}" > .keryx/config.yaml',
	"curl -s --unix-socket HOME/keryx.sock http://keryx/api/conversations",
	"tr '\\0' '\\n' < /proc/KERYXPID/environ; cat /proc/KERYXPID/root/HOME/operator.secret",
	"kill -0 KERYXPID && echo reached",
] as const;

let keryx: Keryx;
let asked: string;
let before: string;
beforeAll(async () => {
	mkdirSync(home, { recursive: true });
	writeFileSync(join(root, "bystander"), "unchanged");
	keryx = await openKeryx({
		home,
		config: { approvals: { mode: "off" }, loop: { max_repeats: 1000 } },
		script: {
			rules: [
				...LINES.map((_, index) => ({
					when: `line ${index}.`,
					steps: [
						{ tools: [{ name: "terminal", input: { command: `sh ${root}/line-${index}` } }] },
						{ text: "tried" },
					],
				})),
				{
					when: "works",
					steps: [
						{ tools: [{ name: "terminal", input: { command: "echo made > mine && cat mine && pwd" } }] },
						{ text: "tried" },
					],
				},
			],
			otherwise: [{ text: "ok" }],
		},
	});
	const { body } = await keryx.client.confirm("POST", "/confirm", { action: "drop_table", description: "d" });
	asked = body.id as string;
	for (const [index, line] of LINES.entries())
		writeFileSync(
			join(root, `line-${index}`),
			line
				.replaceAll("HOME/", `${home}/`)
				.replaceAll(/HOME\b(?!=)/g, home)
				.replaceAll("ASKED", asked)
				.replaceAll("KERYXPID", String(process.pid)),
		);
	before = readFileSync(join(home, "config.yaml"), "utf8");
});
afterAll(async () => {
	await keryx.close();
	rmSync(root, { recursive: true, force: true });
});

/** What the last call of the terminal answered. */
async function answered(text: string): Promise<{ readonly output?: string; readonly exit_code?: number }> {
	const conversation = await tell(keryx, "ada", text);
	const { live_session: session } = await keryx.client.findConversation({ id: conversation });
	const { messages } = await keryx.client.messages({ session: session as string, limit: 200 });
	const last = messages.findLast(({ role }) => role === "tool");
	return JSON.parse(String(last?.content));
}

test("an ordinary command works, and what it writes stays", async () => {
	const { output, exit_code } = await answered("works");
	expect(exit_code).toBe(0);
	const [made, folder] = (output ?? "").split("\n");
	expect(made).toBe("made");
	expect(readFileSync(join(folder as string, "mine"), "utf8")).toBe("made\n");
});

test.each(LINES.map((line, index) => [line, index] as const))("I17: %s", async (_line, index) => {
	const secrets = ["operator.secret", "audit.key", "pseudonym.key"].map((name) =>
		readFileSync(join(home, name), "latin1").trim(),
	);
	const { output = "" } = await answered(`line ${index}.`);
	for (const secret of secrets) expect(output).not.toContain(secret);
	expect(readFileSync(join(home, "operator.secret"), "latin1").trim()).toBe(secrets[0]);
	expect(readFileSync(join(home, "config.yaml"), "utf8")).toBe(before);
	expect(readFileSync(join(root, "bystander"), "utf8")).toBe("unchanged");
	const { body } = await keryx.client.confirm("GET", `/confirm/${asked}`);
	expect(body.status).toBe("pending");
	expect((await keryx.client.tokens({})).tokens).toEqual([]);
	expect(output).not.toContain('"conversations"');
	expect(output).not.toMatch(/login=|NODE_COMPILE_CACHE=|reached/);
});
