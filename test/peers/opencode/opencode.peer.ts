// opencode, a public coding agent, with a model of our own: as Keryx's agent over ACP, with Keryx's MCP servers passed on to it; and as
// a program that uses Keryx's MCP server.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { rogue } from "../../mcp/scene.ts";
import { commandIn, dataOf, type Gateway, MAIN } from "../../support/keryx.ts";
import { calls, type ModelServer, says, startModelServer } from "../../support/model-server.ts";
import { eventually } from "../../support/soon.ts";

/** It looks for updates and lists of models first, and waits where there is no network. */
const LONG = 600_000;
const OPENCODE = process.env.KERYX_PEER_OPENCODE ?? "opencode";

let root: string;
let home: string;
let model: ModelServer;
let gateway: Gateway | undefined;

beforeEach(async () => {
	// Not in /tmp, which each wall has its own of.
	root = mkdtempSync("/var/tmp/keryx-opencode-");
	home = join(root, "home");
	mkdirSync(home, { mode: 0o700 });
	model = await startModelServer();
});
afterEach(async () => {
	await gateway?.stop();
	await model.close();
	rmSync(root, { recursive: true, force: true });
});

/** As a person sets it up: in the user's own folder. */
function settings(more: object = {}): void {
	const folder = join(root, ".config", "opencode");
	mkdirSync(folder, { recursive: true });
	const own = {
		npm: "@ai-sdk/openai-compatible",
		options: { baseURL: model.url, apiKey: "none" },
		models: { test: { name: "test" } },
	};
	writeFileSync(
		join(folder, "opencode.json"),
		JSON.stringify({
			model: "own/test",
			small_model: "own/test",
			provider: { own },
			autoupdate: false,
			...more,
		}),
	);
}

/** Calls this tool once it is offered, and then says what it answered. */
function uses(tool: string, args: object): void {
	model.always((response, request) => {
		const { messages = [], tools = [] } = JSON.parse(request.body) as {
			messages?: { role: string; content: unknown }[];
			tools?: { function: { name: string } }[];
		};
		const result = messages.findLast(({ role }) => role === "tool");
		if (result) return says(`It said: ${JSON.stringify(result.content)}`)(response, request);
		if (!tools.some(({ function: { name } }) => name === tool)) return says("ok")(response, request);
		return calls({ id: "call_1", name: tool, args: JSON.stringify(args) })(response, request);
	});
}

const offered = () =>
	model.requests.flatMap(({ body }) =>
		((JSON.parse(body) as { tools?: { function: { name: string } }[] }).tools ?? []).map(
			(one) => one.function.name,
		),
	);

test(
	"as the agent over ACP it uses the MCP servers that Keryx passes on, also after a kill",
	async () => {
		settings();
		const { command, args } = rogue();
		const config = [
			`agent: {kind: acp, command: ${JSON.stringify(OPENCODE)}, args: [acp], start_seconds: 300}`,
			`mcp: {servers: {it: {command: ${JSON.stringify(command)}, args: ${JSON.stringify(args)}}}}`,
		];
		writeFileSync(join(home, "config.yaml"), `${config.join("\n")}\n`);
		uses("it_ping", { hello: "keryx" });
		const keryx = commandIn(root);
		const env = { KERYX_HOME: home, HOME: root };
		gateway = await keryx.start(home, [], env);
		const first = await keryx.keryx(["send", "use the tool"], { env });
		expect(
			first.stdout,
			`${first.stderr} ${gateway.complaints()} ${[...new Set(offered())].join(" ")}`,
		).toContain("ping was called");
		await gateway.stop("SIGKILL");
		gateway = await keryx.start(home, [], env);
		const second = await keryx.keryx(["send", "and again"], { env });
		expect(second.stdout, second.stderr).toContain("ping was called");
	},
	LONG,
);

test(
	"it asks before it writes a file, and writes it once a human has approved",
	async () => {
		settings({ permission: { edit: "ask" } });
		const folder = join(root, "work");
		mkdirSync(folder);
		const path = join(folder, "made.txt");
		const agent = `agent: {kind: acp, command: ${JSON.stringify(OPENCODE)}, args: [acp], start_seconds: 300}`;
		const workspace = `workspace: {mode: fixed, path: ${JSON.stringify(folder)}}`;
		writeFileSync(join(home, "config.yaml"), `${agent}\n${workspace}\n`);
		uses("write", { filePath: path, content: "by opencode\n" });
		const keryx = commandIn(root);
		const env = { KERYX_HOME: home, HOME: root };
		gateway = await keryx.start(home, [], env);
		const answer = keryx.keryx(["send", "write it"], { env });
		const id = await eventually(async () => {
			const { stdout } = await keryx.keryx(["confirm", "list", "--json"], { env });
			const [asked] = (JSON.parse(stdout) as { confirmations: { id: string }[] }).confirmations;
			expect(asked).toBeDefined();
			return asked?.id as string;
		}, LONG);
		expect(existsSync(path)).toBe(false);
		const { stderr } = await keryx.keryx(["confirm", "approve", id, "--yes"], { env });
		expect(stderr).toBe("");
		expect((await answer).stdout).toContain("It said");
		expect(readFileSync(path, "utf8")).toBe("by opencode\n");
	},
	LONG,
);

test(
	"it uses Keryx's MCP server",
	async () => {
		const keryx = commandIn(root);
		gateway = await keryx.start(home, [], { HOME: root });
		settings({
			mcp: {
				keryx: {
					type: "local",
					command: [process.execPath, "--disable-warning=ExperimentalWarning", MAIN, "mcp"],
					environment: { KERYX_HOME: home, XDG_DATA_HOME: dataOf(home) },
					enabled: true,
				},
			},
		});
		uses("keryx_chat", { text: "hello from opencode", client_message_id: "1" });
		const work = join(root, "work");
		mkdirSync(work);
		const asked = promisify(execFile)(OPENCODE, ["run", "ask keryx"], {
			cwd: work,
			env: { ...process.env, HOME: root, XDG_CONFIG_HOME: undefined, XDG_DATA_HOME: undefined },
			timeout: LONG,
		});
		// It reads what is piped into it first.
		asked.child.stdin?.end();
		const { stdout } = await asked;
		expect(stdout, [...new Set(offered())].join(" ")).toContain("answered");
		const { stdout: found } = await keryx.keryx(["sessions", "search", "opencode"], {
			env: { KERYX_HOME: home },
		});
		expect(found).toContain("hello from");
	},
	LONG,
);
