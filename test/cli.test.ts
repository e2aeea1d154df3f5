import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { asJson, call, commandIn, MAIN, NODE_OPTIONS } from "./support/keryx.ts";

const root = mkdtempSync(join(tmpdir(), "keryx-cli-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const NOW = ["--now", "2026-03-10T12:00:00Z"];
const DM = { platform: "telegram", chat_id: "42", chat_type: "dm", user_name: "Ann" };

const { keryx } = commandIn(root);

/** What a command answers, without a process for each question. */
const inside: typeof keryx = (args, { env, ...more } = {}) =>
	call(args, { ...more, env: { KERYX_HOME: join(root, "empty"), ...env } });

let files = 0;

function file(text: string): string {
	const path = join(root, `file-${files++}`);
	writeFileSync(path, text);
	return path;
}

function home(yaml: string): string {
	const path = join(root, `home-${files++}`);
	mkdirSync(path);
	writeFileSync(join(path, "config.yaml"), yaml);
	return path;
}

describe.concurrent("keryx", () => {
	test("a message over a pipe is answered, and why tells its story", async () => {
		const env = { KERYX_HOME: join(root, "chat") };
		const chat = await keryx(["chat"], { stdin: "hello\n/status\n", env });
		expect(chat).toMatchObject({ code: 0, stderr: "" });
		expect(chat.stdout).toContain("No model is connected");
		expect(chat.stdout).toContain("agent:main:local:dm:cli");
		const story = await keryx(["why", "1"], { env });
		expect(story.stdout).toMatch(
			/It was accepted and stored[\s\S]*was delivered[\s\S]*Result: it was answered/,
		);
		expect(asJson(await keryx(["why", "99", "--json"], { env })).error).toMatchObject({
			code: "store.not_found",
		});
	});

	test.each([
		[["--help"], "keryx config check"],
		[["explain", "--help"], "keryx explain message.json"],
		[["config", "check", "--help"], "keryx config check ./config.yaml --json"],
		[["config", "show", "--help"], "keryx config show"],
	])("%j has examples and the option --json", async (args, example) => {
		const run = await keryx(args);
		expect(run).toMatchObject({ code: 0, stderr: "" });
		expect(run.stdout).toContain(`$ ${example}`.replace("$ keryx config show", "keryx config show"));
		expect(run.stdout).toContain("--json");
	});

	test("--version is the package's, with the commit of the clone", async () => {
		const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
		const said = expect.stringMatching(
			new RegExp(`^${version.replaceAll(".", "\\.")}( \\([0-9a-f]{7,}\\))?\n$`),
		);
		expect(await keryx(["--version"])).toEqual({ code: 0, stdout: said, stderr: "" });
	});

	test.each([
		[["explian"], /unknown command "explian"; did you mean explain\?/],
		[["config"], /config needs a command: check, show or set/],
		[["config", "shwo"], /unknown command "shwo"; did you mean show\?/],
		[["explain"], /missing required argument 'source\.json'/],
		[["explain", "a", "b"], /too many arguments/],
		[["config", "check", "a", "b"], /too many arguments/],
		[["explain", "x", "--frobnicate"], /unknown option '--frobnicate'/],
		[["explain", "x", "--now"], /option '--now <time>' argument missing/],
	])("%j is wrong usage: exit code 2, what is wrong, what to do", async (args, message) => {
		const run = await keryx(args);
		expect(run).toMatchObject({ code: 2, stdout: "" });
		expect(run.stderr).toMatch(/^keryx: /);
		expect(run.stderr).toMatch(message);
		expect(run.stderr).toMatch(/\nwhat to do: .*--help/);
		expect(run.stderr.trimEnd().split("\n")).toHaveLength(2);
	});

	test("with --json an error is one object on stdout and stderr is empty", async () => {
		const run = await keryx(["explain", "--json", "x", "--now", "noon"]);
		expect(run).toMatchObject({ code: 2, stderr: "" });
		expect(asJson(run)).toEqual({
			error: {
				code: "argument.invalid",
				message: expect.stringContaining("--now must be an ISO 8601 time"),
				hint: expect.any(String),
				field: "--now",
			},
		});
		expect(asJson(await keryx(["--json", "explian"])).error.code).toBe("usage.invalid");
	});

	test("a reader that closes the pipe early is no failure", async () => {
		const lines = `${JSON.stringify(DM)}\n`.repeat(2000);
		const child = spawn(process.execPath, [...NODE_OPTIONS, MAIN, "explain", file(lines)], {
			env: { PATH: process.env.PATH, KERYX_HOME: root },
		});
		let stderr = "";
		child.stderr.on("data", (data) => (stderr += data));
		child.stdout.once("data", () => child.stdout.destroy());
		const code = await new Promise((resolve) => child.on("close", resolve));
		expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
	});
});

describe.concurrent("keryx explain", () => {
	test("prints the address, the policy with its origins, and what the message would do", async () => {
		const env = {
			KERYX_HOME: home("session_reset:\n  at_hour: 4\n  by_type:\n    dm: {idle_minutes: 720}\n"),
		};
		const args = [
			"explain",
			file(JSON.stringify(DM)),
			...NOW,
			"--last-activity",
			"2026-03-10T09:00:00Z",
			"--messages",
			"12",
		];
		const run = await inside(args, { env });
		expect(run).toMatchObject({ code: 0, stderr: "" });
		expect(run.stdout).toMatch(/^telegram: DM with Ann$/m);
		expect(run.stdout).toMatch(/^ {2}key +agent:main:telegram:dm:42$/m);
		expect(run.stdout).toMatch(/^ {2}digest +[0-9a-f]{64}$/m);
		expect(run.stdout).toMatch(/^ {2}shared +no/m);
		expect(run.stdout).toMatch(/^ {2}chat type +dm$/m);
		expect(run.stdout).toMatch(/^ {2}participant +-$/m);
		expect(run.stdout).toMatch(/^ {2}at_hour +4 +.*config\.yaml:2$/m);
		expect(run.stdout).toMatch(
			/^ {2}idle_minutes +720 +session_reset\.by_type\.dm\.idle_minutes, .*config\.yaml:4$/m,
		);
		expect(run.stdout).toMatch(/^ {2}mode +both +default$/m);
		expect(run.stdout).toContain("The session continues: last active 3 h ago, idle limit 12 h;");
	});

	test("the environment's policy names its variable", async () => {
		const env = { KERYX_SESSION_RESET_BY_PLATFORM_TELEGRAM_MODE: "none" };
		const { policy } = asJson(await inside(["explain", "-", "--json"], { stdin: JSON.stringify(DM), env }));
		expect(policy).toContainEqual({
			field: "mode",
			value: "none",
			key: "session_reset.by_platform.telegram.mode",
			origin: "KERYX_SESSION_RESET_BY_PLATFORM_TELEGRAM_MODE",
		});
	});

	test.each([
		[["--last-activity", "2026-03-09T10:00:00Z"], "boundary", "idle"],
		[["--last-activity", "2026-03-10T04:30:00+02:00"], "boundary", "daily"],
		[["--messages", "200"], "boundary", "message_limit"],
		[["--messages", "200", "--active-process"], "continue", null],
		[["--suspended"], "boundary", "suspended"],
		[["--interrupted", "2026-03-10T10:00:00Z"], "boundary", "resume_expired"],
		[["--messages", "199"], "continue", null],
		[[], "first", null],
	])("%j decides %s %s", async (args, kind, reason) => {
		const run = await inside(["explain", "-", "--json", ...NOW, ...args], { stdin: JSON.stringify(DM) });
		expect(asJson(run).decision).toMatchObject({ kind, reason });
	});

	test("an array and JSON lines explain each source, and answer in the same form", async () => {
		const other = { ...DM, chat_id: "43" };
		const array = await inside(["explain", "-", "--json"], { stdin: JSON.stringify([DM, other]) });
		const lines = await inside(["explain", "-", "--json"], {
			stdin: `${JSON.stringify(DM)}\n\n${JSON.stringify(other)}\n`,
		});
		const keys = ["agent:main:telegram:dm:42", "agent:main:telegram:dm:43"];
		expect(asJson(array).map(({ key }: { key: string }) => key)).toEqual(keys);
		expect(
			lines.stdout
				.trimEnd()
				.split("\n")
				.map((line) => JSON.parse(line).key),
		).toEqual(keys);
	});

	test("one bad source among several is named, the others are explained, and the exit code is 2", async () => {
		const stdin = JSON.stringify([DM, { platform: "telegram", chat_type: "grupo" }]);
		const json = await inside(["explain", "-", "--json"], { stdin });
		expect(json.code).toBe(2);
		expect(asJson(json)).toEqual([
			expect.objectContaining({ description: "DM with Ann" }),
			{ error: expect.objectContaining({ code: "source.invalid", field: "chat_type" }) },
		]);
		const text = await inside(["explain", "-"], { stdin });
		expect(text.code).toBe(2);
		expect(text.stdout).toMatch(/source 2 is refused: chat_type must be one of/);
	});

	test.each([
		["", "input.invalid", undefined],
		["[]", "input.invalid", undefined],
		['{"platform": ', "input.invalid", undefined],
		['{"platform":"irc"}\n{oops', "input.invalid", undefined],
		["5", "source.invalid", undefined],
		['{"platform":"Tele Gram"}', "source.invalid", "platform"],
		['{"platform":"telegram"}', "address.incomplete", "chat_id"],
		['{"platform":"telegram","chat_id":"1","profile":"../x"}', "profile.invalid", "profile"],
	])("%j is bad input: exit code 2 and the field", async (stdin, code, field) => {
		const run = await inside(["explain", "-", "--json"], { stdin });
		expect(run).toMatchObject({ code: 2, stderr: "" });
		expect(asJson(run).error).toMatchObject({ code, ...(field && { field }) });
	});

	test("a bad line is named by its number", async () => {
		const run = await inside(["explain", "-"], { stdin: `${JSON.stringify(DM)}\n\n{oops\n` });
		expect(run.stderr).toMatch(/^keryx: stdin, line 3, is not JSON/);
	});

	test("a file that is not there, a folder and bytes that are no text are told without a stack", async () => {
		const missing = await inside(["explain", join(root, "none.json")]);
		expect(missing).toMatchObject({ code: 2, stdout: "" });
		expect(missing.stderr).toMatch(/none\.json cannot be read: there is no such file\nwhat to do: /);
		const folder = await inside(["explain", root, "--json"]);
		expect(asJson(folder).error.code).toBe("input.unreadable");
		const path = file("");
		writeFileSync(path, new Uint8Array([0x7b, 0xff]));
		expect(asJson(await inside(["explain", path, "--json"])).error.message).toContain("not UTF-8");
		expect(missing.stderr).not.toContain("    at ");
	});

	test.each([
		["--now", "2026-03-10"],
		["--now", "2026-03-10T12:00:00"],
		["--now", "2026-02-30T12:00:00Z"],
		["--last-activity", "yesterday"],
		["--interrupted", "2026-13-01T00:00:00Z"],
		["--messages", "-1"],
		["--messages", "many"],
	])("%s %s is refused by name", async (option, value) => {
		const run = await inside(["explain", "-", "--json", `${option}=${value}`], { stdin: JSON.stringify(DM) });
		expect(run.code).toBe(2);
		expect(asJson(run).error).toMatchObject({ code: "argument.invalid", field: option });
	});

	test("an id written as a number keeps every digit", async () => {
		const stdin = '{"platform":"discord","chat_id":1100110011001100113,"chat_type":"dm"}';
		expect(asJson(await inside(["explain", "-", "--json"], { stdin })).key).toBe(
			"agent:main:discord:dm:1100110011001100113",
		);
	});

	test("--prompt prints the context block, with pseudonyms where the configuration wants them", async () => {
		const stdin = JSON.stringify({ platform: "signal", chat_id: "+15551230000", user_id: "+15551230000" });
		const args = ["explain", "-", "--prompt", "--json"];
		expect(asJson(await inside(args, { stdin })).prompt).toContain("+15551230000");
		const { prompt } = asJson(await inside(args, { stdin, env: { KERYX_PRIVACY_REDACT_PII: "true" } }));
		expect(prompt).not.toContain("15551230000");
		expect(prompt).toMatch(/user_[0-9a-f]{12}/);
	});

	test("--prompt shows the homes, the profile and the tools that the message would really meet", async () => {
		const env = {
			KERYX_HOME: home(
				"home_channels: {telegram: {chat_id: '-100555', name: Ops}, slack: {chat_id: C0, name: S}}\nprofiles: {garden: {}}\nprofile_rules: [{profile: garden, platform: telegram}]\n",
			),
		};
		const stdin = JSON.stringify({ platform: "telegram", chat_id: "42", user_name: "Ann" });
		const { prompt, key } = asJson(await inside(["explain", "-", "--prompt", "--json"], { stdin, env }));
		expect(key).toBe("agent:garden:telegram:dm:42");
		expect(prompt).toContain('id "-100555"');
		expect(prompt).not.toContain("C0");
	});

	test("a wrong configuration is told before anything is explained", async () => {
		const run = await inside(["explain", "-"], {
			stdin: JSON.stringify(DM),
			env: { KERYX_HOME: home("rooting: {}\n") },
		});
		expect(run).toMatchObject({ code: 2, stdout: "" });
		expect(run.stderr).toMatch(/config\.yaml:1:1: unknown key "rooting"; did you mean routing\?/);
	});

	test("--config reads another file, and a warning does not mix with the result", async () => {
		const config = file("routing: {group_sessions_per_user: false}\n");
		const stdin = JSON.stringify({ platform: "irc", chat_id: "#x", chat_type: "group", user_id: "ann" });
		const run = await inside(["explain", "-", "--json", "--config", config], {
			stdin,
			env: { KERYX_NONSENSE: "1" },
		});
		expect(asJson(run)).toMatchObject({ key: "agent:main:irc:group:#x", shared: true });
		expect(run.stderr).toMatch(/^keryx: warning: KERYX_NONSENSE is ignored/);
	});

	test("the value of a secret never appears", async () => {
		const env = { KERYX_SECRETS: "TOKEN", TOKEN: "open sesame" };
		for (const args of [
			["explain", "-"],
			["explain", "-", "--json"],
			["explain", "-", "--prompt"],
		]) {
			const run = await inside(args, { stdin: JSON.stringify({ ...DM, user_name: "open sesame" }), env });
			expect(run.stdout).toContain(`\${secret:TOKEN}`);
			expect(run.stdout + run.stderr).not.toContain("sesame");
		}
	});

	interface KeyCase {
		readonly id: number;
		readonly source: object;
		readonly group_sessions_per_user?: boolean;
		readonly thread_sessions_per_user?: boolean;
		readonly profile: string | null;
		readonly aliases: readonly unknown[];
		readonly key?: string;
		readonly shared?: boolean;
		readonly description?: string;
	}

	test.each([
		[true, true],
		[true, false],
		[false, true],
		[false, false],
	])(
		"the vectors hold with group_sessions_per_user %s and thread_sessions_per_user %s",
		async (perUser, perUserInThread) => {
			const text = readFileSync(new URL("vectors/session-keys.json", import.meta.url), "utf8");
			const cases: KeyCase[] = JSON.parse(text).cases.filter(
				(one: KeyCase) =>
					one.group_sessions_per_user === perUser &&
					one.thread_sessions_per_user === perUserInThread &&
					one.profile === null &&
					one.aliases.length === 0,
			);
			expect(cases.length).toBeGreaterThan(20);
			const env = {
				KERYX_ROUTING_GROUP_SESSIONS_PER_USER: String(perUser),
				KERYX_ROUTING_THREAD_SESSIONS_PER_USER: String(perUserInThread),
			};
			const run = await inside(["explain", "-", "--json"], {
				stdin: JSON.stringify(cases.map(({ source }) => source)),
				env,
			});
			const answers = asJson(run).map(({ key, shared, description }: KeyCase) => ({
				key,
				shared,
				description,
			}));
			expect(answers).toEqual(cases.map(({ key, shared, description }) => ({ key, shared, description })));
		},
	);
});

describe.concurrent("keryx config", () => {
	test("check lists every problem with file, line and column, and exits with 2", async () => {
		const path = file("session_reset:\n  at_hour: 24\n  mdoe: idle\n");
		const run = await inside(["config", "check", path]);
		expect(run).toMatchObject({ code: 2, stderr: "" });
		expect(run.stdout.split("\n")).toEqual([
			`${path}:2:12: session_reset.at_hour must be a whole number from 0 to 23; it is 24`,
			`${path}:3:3: unknown key "mdoe" in session_reset; did you mean mode?`,
			"2 problems",
			"",
		]);
	});

	test("check --json has the problems as data", async () => {
		const path = file("session_reset:\n  mdoe: idle\n");
		const run = await inside(["config", "check", path, "--json"], {
			env: { KERYX_NONSENSE: "1", KERYX_SESSION_RESET_AT_HOUR: "x" },
		});
		expect(run.code).toBe(2);
		expect(asJson(run)).toEqual({
			ok: false,
			file: path,
			problems: [
				{
					code: "config.invalid",
					message: 'unknown key "mdoe" in session_reset; did you mean mode?',
					key: "session_reset.mdoe",
					suggestion: "mode",
					file: path,
					line: 2,
					column: 3,
				},
				expect.objectContaining({ code: "config.invalid", variable: "KERYX_SESSION_RESET_AT_HOUR" }),
			],
			warnings: [expect.stringContaining("KERYX_NONSENSE")],
		});
	});

	test("check of a right configuration, or of none, exits with 0", async () => {
		const none = await inside(["config", "check"]);
		expect(none).toMatchObject({ code: 0, stdout: expect.stringContaining("no problems") });
		const right = await inside(["config", "check", "--json"], { env: { KERYX_HOME: home("secrets: []\n") } });
		expect(right.code).toBe(0);
		expect(asJson(right)).toMatchObject({ ok: true, problems: [], warnings: [] });
	});

	test("check of a file that is not there exits with 2", async () => {
		const run = await inside(["config", "check", join(root, "none.yaml"), "--json"]);
		expect(run.code).toBe(2);
		expect(asJson(run).problems).toEqual([expect.objectContaining({ code: "config.unreadable" })]);
	});

	test("show prints each value and where it came from, with tabs when piped", async () => {
		const env = {
			KERYX_HOME: home("session_reset:\n  idle_minutes: 60\n"),
			KERYX_SESSION_RESET_AT_HOUR: "5",
		};
		const run = await inside(["config", "show"], { env });
		expect(run).toMatchObject({ code: 0, stderr: "" });
		expect(run.stdout.split("\n")).toEqual(
			expect.arrayContaining([
				"session_reset.mode\tboth\tdefault",
				`session_reset.idle_minutes\t60\t${env.KERYX_HOME}/config.yaml:2`,
				"session_reset.at_hour\t5\tKERYX_SESSION_RESET_AT_HOUR",
				'session_reset.notify_exclude_platforms\t["api_server","webhook"]\tdefault',
			]),
		);
	});

	test("show masks what looks like a secret and takes out what is known to be one", async () => {
		const yaml =
			"secrets: [TOKEN, ghp_16C7e42F292c6912E7710c838347Ae178B4a]\nsession_reset:\n  by_platform:\n    opensesame: {}\n    hunter_x: {mode: idle}\n";
		const env = { KERYX_HOME: home(yaml), TOKEN: "hunter_x" };
		for (const args of [
			["config", "show"],
			["config", "show", "--json"],
		]) {
			const run = await inside(args, { env });
			expect(run.code).toBe(0);
			expect(run.stdout).toContain("[masked GitHub token]");
			expect(run.stdout).toContain(`\${secret:TOKEN}`);
			expect(run.stdout).not.toMatch(/16C7e42F|hunter_x/);
		}
	});

	test("show of a wrong configuration is an error with every problem", async () => {
		const run = await inside(["config", "show", file("a: 1\nb: 2\n")]);
		expect(run).toMatchObject({ code: 2, stdout: "" });
		expect(run.stderr).toMatch(
			/^keryx: 2 problems in the configuration:\n {2}.*:1:1: .*\n {2}.*:2:1: .*\nwhat to do: /,
		);
	});

	test("a host without a known time zone gets UTC and a warning", async () => {
		const run = await keryx(["config", "show", "--json"], { env: { TZ: "Mars/Phobos" } });
		expect(asJson(run)).toContainEqual({ key: "session_reset.timezone", value: "UTC", origin: "default" });
		expect(run.stderr).toMatch(/^keryx: warning: the host's time zone \(TZ\) is unknown/);
	});
});
