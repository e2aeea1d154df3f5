// Commands that look after Keryx from a terminal: status, stop, config set, help, completion.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { calledAs } from "../src/called.ts";
import { asJson, call, commandIn } from "./support/keryx.ts";

const root = mkdtempSync(join(tmpdir(), "keryx-manage-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let homes = 0;

function home(yaml = ""): string {
	const path = join(root, `home-${homes++}`);
	mkdirSync(path, { mode: 0o700 });
	if (yaml !== "") writeFileSync(join(path, "config.yaml"), yaml);
	return path;
}

describe("a Keryx that runs", () => {
	test("is shown by status, takes config set at once, logs no login link, and is stopped by stop", async () => {
		const { start } = commandIn(root);
		const env = { KERYX_HOME: home("gateway: {busy: queue}\n"), KERYX_HTTP_PORT: "0" };
		expect(await call(["status"], { env })).toMatchObject({
			code: 1,
			stdout: `Keryx is not running in ${env.KERYX_HOME}.\n`,
		});
		const gateway = await start(env.KERYX_HOME);
		try {
			const status = await call(["status"], { env });
			expect(status).toMatchObject({ code: 0, stderr: "" });
			expect(status.stdout).toContain(`is running (process ${gateway.pid}, started `);
			expect(status.stdout).toMatch(/^ {2}Agent +offline/m);
			expect(asJson(await call(["status", "--json"], { env }))).toMatchObject({
				running: true,
				pid: gateway.pid,
			});

			const live = await call(["config", "set", "gateway.busy", "steer"], { env });
			expect(live).toMatchObject({ code: 0, stderr: "" });
			expect(live.stdout).toContain("The running Keryx uses it now.");
			const later = await call(["config", "set", "workspace.mode", "shared"], { env });
			expect(later.stdout).toContain("It takes effect after you restart Keryx.");

			const stopped = await call(["stop"], { env });
			expect(stopped).toEqual({
				code: 0,
				stdout: `Keryx has stopped (process ${gateway.pid}).\n`,
				stderr: "",
			});
			expect(gateway.said + gateway.complaints()).not.toMatch(/[?#&/](login|key|token|code)=/);
			expect(gateway.complaints()).toContain("keryx link");
			expect(await call(["status"], { env })).toMatchObject({ code: 1 });
		} finally {
			await gateway.stop();
		}
	});

	test("is not there for stop where none runs, which is no failure", async () => {
		const env = { KERYX_HOME: home() };
		expect(await call(["stop"], { env })).toEqual({ code: 0, stdout: "Keryx is not running.\n", stderr: "" });
		expect(asJson(await call(["stop", "--json"], { env }))).toEqual({ stopped: null });
	});
});

describe("config set", () => {
	const YAML = "# mine\nsession_reset:\n  idle_minutes: 60 # an hour\nagent:\n  kind: offline\n";

	test("changes one key, keeps comments and order, and says when it takes effect", async () => {
		const env = { KERYX_HOME: home(YAML) };
		const run = await call(["config", "set", "session_reset.idle_minutes", "90"], { env });
		const file = join(env.KERYX_HOME, "config.yaml");
		expect(run).toEqual({
			code: 0,
			stdout: `Saved session_reset.idle_minutes in ${file}.\nKeryx is not running; it takes effect at the next start.\n`,
			stderr: "",
		});
		expect(readFileSync(file, "utf8")).toBe(YAML.replace("60 #", "90 #"));
		expect(statSync(file).mode & 0o777).toBe(0o600);
		expect((await call(["config", "set", "session_reset.idle_minutes", "90"], { env })).stdout).toBe(
			"session_reset.idle_minutes already has this value. Nothing was changed.\n",
		);
		await call(["config", "set", "session_reset.idle_minutes", "null"], { env });
		expect(readFileSync(file, "utf8")).not.toContain("idle_minutes");
	});

	test.each([
		["walls.env_pass", "[HTTPS_PROXY, JAVA_HOME]", ["HTTPS_PROXY", "JAVA_HOME"]],
		["agent.model", "4", "4"],
		["privacy.redact_pii", "true", true],
		["auth.telegram.allow_all", "true", true],
		["instructions.telegram/1", "be brief: please", "be brief: please"],
	])("takes %s as %s", async (key, value, expected) => {
		const env = { KERYX_HOME: home() };
		expect(await call(["config", "set", key, value], { env })).toMatchObject({ code: 0, stderr: "" });
		const rows: readonly { key: string; value: unknown }[] = asJson(
			await call(["config", "show", "--json"], { env }),
		);
		expect(rows.find((row) => row.key === key)?.value).toEqual(expected);
	});

	test.each([
		["session_reset.idle_minuets", "5", /did you mean idle_minutes\?/],
		["session_reset.idle_minutes", "soon", /must be a whole number/],
		["gateway.busy", "maybe", /must be one of queue, interrupt, steer/],
		["walls.env_pass", "[", /is not a value in YAML/],
	])("refuses %s %s, and writes nothing", async (key, value, message) => {
		const env = { KERYX_HOME: home(YAML) };
		const run = await call(["config", "set", key, value], { env });
		expect(run.code).toBe(2);
		expect(run.stderr).toMatch(message);
		expect(readFileSync(join(env.KERYX_HOME, "config.yaml"), "utf8")).toBe(YAML);
	});

	test("repairs a value that was wrong, and does not hide another problem behind it", async () => {
		const env = { KERYX_HOME: home("gateway: {busy: maybe}\n") };
		expect((await call(["config", "set", "loop.max_repeats", "3"], { env })).stderr).toContain(
			"config.yaml had this problem before",
		);
		expect(await call(["config", "set", "gateway.busy", "queue"], { env })).toMatchObject({ code: 0 });
	});

	test("says which variable overrides it", async () => {
		const env = { KERYX_HOME: home(), KERYX_LOOP_MAX_REPEATS: "7" };
		const run = await call(["config", "set", "loop.max_repeats", "3"], { env });
		expect(run.stderr).toContain("KERYX_LOOP_MAX_REPEATS is set and overrides it");
	});
});

test("help shows what --help shows, of every command and of those below, and refuses others", async () => {
	for (const path of [[], ["why"], ["sessions"], ["sessions", "list"], ["config", "set"]])
		expect(await call(["help", ...path])).toEqual(await call([...path, "--help"]));
	expect((await call(["help", "sned"])).stderr).toContain('unknown command "sned"; did you mean send?');
	expect((await call(["help", "sessions", "lst"])).stderr).toContain("did you mean list?");
});

describe("completion", () => {
	/** What bash would offer for these words, the last one being typed. */
	async function offered(script: string, ...words: string[]): Promise<string[]> {
		const { stdout } = await promisify(execFile)("bash", [
			"--norc",
			"-c",
			`${script}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _keryx; printf '%s\\n' "\${COMPREPLY[@]}"`,
			"bash",
			"keryx",
			...words,
		]);
		return stdout.split("\n").filter(Boolean);
	}

	test("bash, with the script sourced, offers commands, those below, options, and words of arguments", async () => {
		const { stdout: script } = await call(["completion", "bash"]);
		expect(await offered(script, "se")).toEqual(["send", "sessions", "service", "setup"]);
		expect(await offered(script, "sessions", "s")).toEqual(["show", "search"]);
		expect(await offered(script, "--json", "sessions", "list", "--lim")).toEqual(["--limit"]);
		expect(await offered(script, "why", "--t")).toEqual(["--timeout"]);
		expect(await offered(script, "help", "conf")).toEqual(["confirm", "confirmd", "config"]);
		expect(await offered(script, "completion", "")).toEqual(["bash", "zsh", "fish"]);
		expect(await offered(script, "why", "")).toEqual([]);
	});

	test.each(["zsh", "fish"])("%s is told every command, with what it says of itself", async (shell) => {
		const { code, stdout } = await call(["completion", shell]);
		expect(code).toBe(0);
		for (const text of ["sessions", "--timeout", "show whether Keryx is running", "restore"])
			expect(stdout).toContain(text.replace(/^--/, ""));
	});

	test("another shell is refused", async () => {
		expect(await call(["completion", "tcsh"])).toMatchObject({ code: 2, stdout: "" });
	});
});

test.each([
	[{ npm_lifecycle_event: "start", npm_package_name: "keryx" }, "npm start --"],
	[{ npm_lifecycle_event: "start", npm_package_name: "other" }, "keryx"],
	[{ npm_lifecycle_event: "npx", npm_package_name: "keryx" }, "npx keryx"],
	[{}, "keryx"],
])("started with %j, a hint names a command that works there: %s", (env, called) => {
	expect(calledAs(env)).toBe(called);
});

test.each([
	["provider: anthropic, model: claude-sonnet-4-5", "ai-sdk"],
	["model: claude-sonnet-4-5", "ai-sdk"],
	["provider: anthropic, model: x, kind: offline", "offline"],
	["max_steps: 3", "offline"],
])("an agent with %s is %s", async (agent, kind) => {
	const env = { KERYX_HOME: home(`agent: {${agent}}\n`) };
	const rows: readonly { key: string; value: unknown }[] = asJson(
		await call(["config", "show", "--json"], { env }),
	);
	expect(rows.find((row) => row.key === "agent.kind")?.value).toBe(kind);
});
