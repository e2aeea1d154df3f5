import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandIn, dataOf, MAIN } from "./support/keryx.ts";
import { type ModelServer, type Reply, refuses, says, startModelServer } from "./support/model-server.ts";
import { openTerminal } from "./support/terminal.ts";

const root = mkdtempSync(join(tmpdir(), "keryx-setup-"));
const { keryx } = commandIn(root);
let server: ModelServer;
beforeAll(async () => {
	server = await startModelServer();
});
afterAll(async () => {
	await server.close();
	rmSync(root, { recursive: true, force: true });
});

const options = () => [
	"setup",
	"--provider",
	"openai-compatible",
	"--base-url",
	server.url,
	"--model",
	"tiny",
];

describe.concurrent("keryx setup", () => {
	test("tries the model, writes config.yaml for this user alone and keeps what stands in it", async () => {
		const home = join(root, "kept");
		mkdirSync(home);
		const file = join(home, "config.yaml");
		writeFileSync(file, "# mine\nsession_reset:\n  max_messages: 50 # enough\n");
		const run = await keryx([...options(), "--api-key-env", "MY_KEY"], {
			env: { KERYX_HOME: home, MY_KEY: "sk-secret-value" },
		});
		expect(run).toMatchObject({ code: 0, stderr: "" });
		expect(run.stdout).toMatch(/tiny answered in \d+ ms/);
		const text = readFileSync(file, "utf8");
		expect(text).toContain("# mine\nsession_reset:\n  max_messages: 50 # enough\n");
		expect(text).toContain("kind: ai-sdk");
		expect(text).toContain("api_key_env: MY_KEY");
		expect(text + run.stdout).not.toContain("sk-secret-value");
		expect(statSync(file).mode & 0o777).toBe(0o600);
		expect((await keryx(["config", "check"], { env: { KERYX_HOME: home } })).code).toBe(0);
	});

	test("a model that does not answer is an error, and nothing is written", async () => {
		const refusing = await startModelServer();
		try {
			refusing.always(refuses(401, { message: "bad key" }));
			const home = join(root, "refused");
			const args = [
				"setup",
				"--provider",
				"openai-compatible",
				"--base-url",
				refusing.url,
				"--model",
				"tiny",
			];
			const run = await keryx([...args, "--json"], { env: { KERYX_HOME: home } });
			expect(run.code).toBe(1);
			expect(JSON.parse(run.stdout).error).toMatchObject({ code: "model.unreachable" });
			expect(() => readFileSync(join(home, "config.yaml"))).toThrow();
			const untried = await keryx([...args, "--no-test"], { env: { KERYX_HOME: home } });
			expect(untried.code).toBe(0);
			expect(readFileSync(join(home, "config.yaml"), "utf8")).toContain("model: tiny");
		} finally {
			await refusing.close();
		}
	});

	test.each([
		[["setup"], "--provider is required"],
		[["setup", "--provider", "antropic"], "did you mean anthropic?"],
		[["setup", "--provider", "openai"], "--model is required"],
		[["setup", "--provider", "openai-compatible", "--model", "m"], "--base-url is required"],
		[
			["setup", "--provider", "ollama", "--model", "m", "--base-url", "nowhere"],
			"--base-url must be an address",
		],
		[["setup", "--provider", "openai", "--model", "m", "--api-key-env", "sk-live-123"], "not the key itself"],
	])("%j is wrong usage and says what is missing", async (args, message) => {
		const run = await keryx(args);
		expect(run.code).toBe(2);
		expect(run.stderr).toContain(message);
	});

	test("a broken configuration is left as it is", async () => {
		const home = join(root, "broken");
		mkdirSync(home);
		writeFileSync(join(home, "config.yaml"), "agent: [\n");
		const run = await keryx([...options(), "--no-test"], { env: { KERYX_HOME: home } });
		expect(run.code).toBe(2);
		expect(readFileSync(join(home, "config.yaml"), "utf8")).toBe("agent: [\n");
	});
});

test("on a terminal a typo is asked about again, models are listed, and the key is stored but not shown", async () => {
	const offered = await startModelServer();
	const list: Reply = (response) => {
		response.setHeader("content-type", "application/json");
		response.end(JSON.stringify({ data: [{ id: "seer" }, { id: "tiny" }] }));
	};
	offered.always((response, request) =>
		(request.path.endsWith("/models") ? list : says("ok"))(response, request),
	);
	const home = join(root, "asked");
	const terminal = openTerminal([process.execPath, MAIN, "setup"], {
		columns: 160,
		rows: 40,
		env: { PATH: process.env.PATH ?? "", KERYX_HOME: home, XDG_DATA_HOME: dataOf(home), NO_COLOR: "1" },
	});
	try {
		await terminal.shows("Provider (");
		terminal.type("openai-compatibel\r");
		await terminal.shows("did you mean openai-compatible?");
		terminal.type("openai-compatible\r");
		await terminal.shows("Address of its API");
		terminal.type("nowhere\r");
		await terminal.shows("base-url must be an address");
		terminal.type(`${offered.url}\r`);
		await terminal.shows("leave empty if the server needs none");
		terminal.type("key-of-the-server-1\r");
		await terminal.shows("2. tiny");
		terminal.type("2\r");
		await terminal.shows(/tiny answered in \d+ ms/);
		expect(await terminal.ended).toBe(0);
		expect(terminal.rows().join("\n")).not.toContain("key-of-the-server-1");
	} finally {
		terminal.close();
		await offered.close();
	}
	expect(readFileSync(join(home, "config.yaml"), "utf8")).toContain("model: tiny");
	const file = join(home, "keys", "openai-compatible.key");
	expect(readFileSync(file, "utf8").trim()).toBe("key-of-the-server-1");
	expect(statSync(file).mode & 0o777).toBe(0o600);
	expect(offered.requests.map(({ headers }) => headers.authorization)).toEqual([
		"Bearer key-of-the-server-1",
		"Bearer key-of-the-server-1",
	]);
});

describe("keryx doctor", () => {
	test("calls the model that is configured, and says what is wrong with it", async () => {
		const home = join(root, "doctored");
		mkdirSync(home);
		const yaml = `agent: { kind: ai-sdk, provider: openai-compatible, base_url: "${server.url}", model: tiny, retries: 0 }\n`;
		writeFileSync(join(home, "config.yaml"), yaml);
		const env = { KERYX_HOME: home };
		const well = JSON.parse((await keryx(["doctor", "--json"], { env })).stdout);
		expect(well.checks.find(({ check }: { check: string }) => check === "model")).toMatchObject({
			state: "fine",
		});
		server.next(refuses(401, { message: "bad key" }));
		const run = await keryx(["doctor", "--json"], { env });
		expect(run.code).toBe(1);
		const ill = JSON.parse(run.stdout).checks.find(({ check }: { check: string }) => check === "model");
		expect(ill).toMatchObject({ state: "wrong", found: expect.stringContaining("key_missing") });
	});
});
