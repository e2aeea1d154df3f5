import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import {
	CONFIG_KEYS,
	checkConfig,
	describeOrigin,
	describeProblem,
	keryxHome,
	listKeys,
	loadConfig,
} from "../src/config/index.ts";
import { ERRORS, KeryxError } from "../src/errors.ts";
import { createSecrets } from "../src/secrets/index.ts";

const root = mkdtempSync(join(tmpdir(), "keryx-config-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let homes = 0;

/** A home of its own, with a config.yaml if its text is given. */
function makeHome(yaml?: string | Uint8Array): string {
	const home = join(root, String(homes++));
	mkdirSync(home);
	if (yaml !== undefined) writeFileSync(join(home, "config.yaml"), yaml);
	return home;
}

function load(yaml?: string, env: Record<string, string> = {}) {
	return loadConfig({ home: makeHome(yaml), env });
}

/** The problems as printed, with the home left out of the file's name. */
function problemsOf(yaml: string | Uint8Array, env: Record<string, string> = {}): string[] {
	const home = makeHome(yaml);
	return checkConfig({ home, env }).problems.map((problem) =>
		describeProblem(problem).replace(`${home}/`, ""),
	);
}

function originOf(config: ReturnType<typeof load>, key: string): string | undefined {
	const entry = config.entries.find((candidate) => candidate.key === key);
	return entry && describeOrigin(entry.origin).replace(/^.*\//, "");
}

describe("defaults, file and environment", () => {
	test("no file at all is a working configuration of defaults", () => {
		const config = load();
		expect(config.values).toMatchObject({
			session_reset: {
				mode: "both",
				at_hour: 4,
				idle_minutes: 1440,
				max_messages: 200,
				by_type: {},
				by_platform: {},
			},
			auto_continue_freshness: 3600,
			routing: { group_sessions_per_user: true, thread_sessions_per_user: false },
			privacy: { redact_pii: false },
			secrets: [],
		});
		expect(new Set(config.entries.map(({ origin }) => origin.kind))).toEqual(new Set(["default"]));
		expect(config.warnings).toEqual([]);
	});

	test("the time zone that nobody set is the host's", () => {
		expect(load().values.session_reset.timezone).toBe(Intl.DateTimeFormat().resolvedOptions().timeZone);
	});

	test("a value of the file says its line", () => {
		const config = load(
			"# mine\nsession_reset:\n  idle_minutes: 60\n  by_type:\n    dm:\n      mode: idle\n",
		);
		expect(config.values.session_reset.idle_minutes).toBe(60);
		expect(config.values.session_reset.by_type.dm).toEqual({ mode: "idle" });
		expect(originOf(config, "session_reset.idle_minutes")).toBe("config.yaml:3");
		expect(originOf(config, "session_reset.by_type.dm.mode")).toBe("config.yaml:6");
		expect(originOf(config, "session_reset.mode")).toBe("default");
	});

	test("the environment stands above the file, and says its variable", () => {
		const config = load("session_reset:\n  idle_minutes: 60\n  at_hour: 5\n", {
			KERYX_SESSION_RESET_IDLE_MINUTES: "90",
		});
		expect(config.values.session_reset).toMatchObject({ idle_minutes: 90, at_hour: 5 });
		expect(originOf(config, "session_reset.idle_minutes")).toBe("KERYX_SESSION_RESET_IDLE_MINUTES");
	});

	test.each([
		["KERYX_SESSION_RESET_BY_TYPE_DM_MODE", "none", { session_reset: { by_type: { dm: { mode: "none" } } } }],
		[
			"KERYX_SESSION_RESET_BY_PLATFORM_API_SERVER_IDLE_MINUTES",
			"7",
			{ session_reset: { by_platform: { api_server: { idle_minutes: 7 } } } },
		],
		[
			"KERYX_SESSION_RESET_NOTIFY_EXCLUDE_PLATFORMS",
			"irc, sms",
			{ session_reset: { notify_exclude_platforms: ["irc", "sms"] } },
		],
		["KERYX_SESSION_RESET_NOTIFY", "0", { session_reset: { notify: false } }],
		["KERYX_AUTO_CONTINUE_FRESHNESS", "-1.5", { auto_continue_freshness: -1.5 }],
		["KERYX_ROUTING_THREAD_SESSIONS_PER_USER", "TRUE", { routing: { thread_sessions_per_user: true } }],
		[
			"KERYX_AUTH_API_SERVER_ROLES_BIG_BOSS",
			"owner",
			{ auth: { api_server: { roles: { big_boss: "owner" } } } },
		],
		["KERYX_SECRETS", "ONE,TWO", { secrets: ["ONE", "TWO"] }],
	])("%s=%s is read by its key's type", (variable, text, expected) => {
		expect(load(undefined, { [variable]: text }).values).toMatchObject(expected);
	});

	test("every key that has no free name in it can be set by its variable", () => {
		const keys = listKeys(CONFIG_KEYS).filter((key) => !key.includes("<name>"));
		const env = Object.fromEntries(
			keys.map((key) => [`KERYX_${key.replaceAll(".", "_").toUpperCase()}`, "?"]),
		);
		expect(checkConfig({ home: makeHome(), env }).warnings).toEqual([]);
	});

	test("a variable set to nothing counts as not set", () => {
		expect(load(undefined, { KERYX_SESSION_RESET_IDLE_MINUTES: "" }).values.session_reset.idle_minutes).toBe(
			1440,
		);
	});

	test("an unknown KERYX_ variable is a warning with the nearest one, and reserved ones are none", () => {
		const env = { KERYX_SESION_RESET_MODE: "idle", KERYX_HOME: "/x", KERYX_DEBUG: "1", OTHER: "x" };
		expect(load(undefined, env).warnings).toEqual([
			expect.stringContaining("did you mean KERYX_SESSION_RESET_MODE?"),
		]);
	});

	test("a variable that is a secret is no unknown one", () => {
		const env = { KERYX_BOT_TOKEN: "abcdefgh", KERYX_SECRETS: "KERYX_BOT_TOKEN" };
		expect(load(undefined, env).warnings).toEqual([]);
	});

	test("null means default, for a key and for a section", () => {
		const config = load("session_reset:\n  mode: null\n  idle_minutes: ~\n  by_type:\n    dm:\nrouting:\n");
		expect(config.values.session_reset).toMatchObject({ mode: "both", idle_minutes: 1440, by_type: {} });
		expect(originOf(config, "session_reset.mode")).toBe("default");
		expect(config.values.routing.group_sessions_per_user).toBe(true);
	});

	test("the home is KERYX_HOME, or .keryx in the user's home", () => {
		expect(keryxHome({ KERYX_HOME: "/srv/keryx" })).toBe("/srv/keryx");
		expect(keryxHome({})).toMatch(/\.keryx$/);
		expect(keryxHome({ KERYX_HOME: "" })).toMatch(/\.keryx$/);
	});
});

describe("problems", () => {
	test("every problem is listed at once, in the order of the file, with line and column", () => {
		const yaml = [
			"session_reset:",
			"  mode: weekly",
			"  at_hour: 24",
			"  idle_minuts: 60",
			"  notify_exclude_platforms: [irc, 5]",
			"  by_type:",
			"    dn: {mode: idle}",
			"routing: 5",
			"secrets: [GOOD, not good]",
		].join("\n");
		expect(problemsOf(yaml, { KERYX_SESSION_RESET_MAX_MESSAGES: "many" })).toEqual([
			'config.yaml:2:9: session_reset.mode must be daily, idle, both or none; it is "weekly"',
			"config.yaml:3:12: session_reset.at_hour must be a whole number from 0 to 23; it is 24",
			'config.yaml:4:3: unknown key "idle_minuts" in session_reset; did you mean idle_minutes?',
			expect.stringMatching(
				/^config\.yaml:5:35: session_reset\.notify_exclude_platforms\.1 must be .*; it is 5$/,
			),
			'config.yaml:7:5: unknown key "dn" in session_reset.by_type; did you mean dm?',
			'config.yaml:8:10: routing must be a map of keys, such as "group_sessions_per_user: ..."',
			expect.stringMatching(/^config\.yaml:9:17: secrets\.1 must be the name of an environment variable/),
			expect.stringMatching(/^KERYX_SESSION_RESET_MAX_MESSAGES: .* must be a whole number .*; it is "many"$/),
		]);
	});

	test("loading throws one error that holds them all", () => {
		const home = makeHome("mode: idle\nsession_reset: {at_hour: 99}\n");
		const attempt = () => loadConfig({ home, env: {} });
		expect(attempt).toThrow(KeryxError);
		expect(attempt).toThrow(
			/2 problems[\s\S]*config\.yaml:1:1: unknown key "mode"[\s\S]*config\.yaml:2:26: session_reset\.at_hour/,
		);
		expect(attempt).toThrow(expect.objectContaining({ code: "config.invalid", field: "mode" }));
	});

	test("a key in the wrong section is told where it belongs", () => {
		expect(problemsOf("idle_minutes: 5\n")).toEqual([
			'config.yaml:1:1: unknown key "idle_minutes"; did you mean session_reset.idle_minutes?',
		]);
	});

	test("a key like no other gets the list of what there is", () => {
		expect(problemsOf("privacy: {zzzzzz: 1}\n")[0]).toContain("it can be redact_pii");
	});

	test("an unknown key is an error even when it is null", () => {
		expect(problemsOf("privacy:\n  redact_ppi:\n")).toEqual([
			'config.yaml:2:3: unknown key "redact_ppi" in privacy; did you mean redact_pii?',
		]);
	});

	test("a platform's name that cannot be one is refused with the rule", () => {
		expect(problemsOf("session_reset: {by_platform: {My-App: {mode: idle}}}")[0]).toMatch(
			/My-App.*must be a platform's name/,
		);
		expect(problemsOf("session_reset: {by_platform: {__proto__: {mode: idle}}}")).toHaveLength(1);
	});

	test("a mistake inside a list of maps, and a key that is missing, have their place too", () => {
		expect(problemsOf("hooks:\n  - {on: [turn.ended], command: [x]}\n  - {on: 5, comand: [x]}\n")).toEqual([
			"config.yaml:3:5: hooks.1.on must be a list; it is 5",
			"config.yaml:3:5: hooks.1.command must be a list; it is not set",
			"config.yaml:3:5: hooks.1 has no key comand; it is a map",
		]);
		expect(problemsOf("home_channels:\n  irc: {}\n  sms: {name: x}\n")).toEqual([
			"config.yaml:2:8: home_channels.irc.chat_id must be text; it is not set",
			"config.yaml:2:8: home_channels.irc.name must be text; it is not set",
			"config.yaml:3:15: home_channels.sms.chat_id must be text; it is not set",
		]);
	});

	test("a bad value of the file is told even where a variable stands above it", () => {
		expect(problemsOf("session_reset: {at_hour: 99}", { KERYX_SESSION_RESET_AT_HOUR: "5" })).toEqual([
			"config.yaml:1:26: session_reset.at_hour must be a whole number from 0 to 23; it is 99",
		]);
	});

	test("a file asked for by name must exist; a folder and bytes that are no text are told as such", () => {
		const env = {};
		const check = (file: string) => checkConfig({ home: root, env, file }).problems;
		expect(check(join(root, "none.yaml"))).toEqual([expect.objectContaining({ code: "config.unreadable" })]);
		expect(check(root)[0]?.message).toContain("folder");
		expect(problemsOf(new Uint8Array([0x61, 0x3a, 0x20, 0xff]))[0]).toContain("not UTF-8");
	});
});

describe("YAML of every kind", () => {
	test.each([
		["an empty file", ""],
		["comments only", "# nothing\n\n"],
		["a document marker only", "---\n"],
		["null", "null\n"],
		["a byte order mark", "\uFEFFrouting: {}\n"],
	])("%s is a configuration of defaults", (_name, yaml) => {
		expect(load(yaml).values).toEqual(load().values);
	});

	test.each([
		["a duplicate key", "secrets: []\nsecrets: []\n", "config.yaml:2:1: this key is already set above"],
		["a tab", "routing:\n\tgroup_sessions_per_user: true\n", "config.yaml:2:1: the indentation uses a tab"],
		["two documents", "secrets: []\n---\nsecrets: []\n", "config.yaml:2:1: a second document starts here"],
		["a list at the root", "- 1\n", "config.yaml:1:1: the file must be a map of keys"],
		["a word at the root", "hello\n", "config.yaml:1:1: the file must be a map of keys"],
		["an unclosed bracket", "secrets: [A\n", "config.yaml:2:1: Flow sequence"],
		["an unknown tag", "secrets: !mine [A]\n", "config.yaml:1:10: YAML reads a value that starts with !"],
		["an alias of nothing", "secrets: *a\n", "config.yaml:1:10: YAML reads a value that starts with *"],
		["an alias within itself", "secrets: &a [*a]\n", "config.yaml:1:14: this alias refers to itself"],
		["a merge key", "routing:\n  <<: {a: 1}\n", "config.yaml:2:3: merge keys"],
		["a list as a key", "? [a]\n: b\n", "config.yaml:1:3: a key must be a plain word"],
		["very deep nesting", `secrets: ${"[".repeat(50_000)}`, "nested too deeply"],
	])("%s is refused with its place", (_name, yaml, expected) => {
		const problems = problemsOf(yaml);
		expect(problems[0]).toContain(expected);
		expect(problems.length).toBeLessThan(5);
	});

	test("an alias stands for its anchor", () => {
		const { by_platform } = load(
			"session_reset:\n  by_platform:\n    irc: &quiet {notify: false}\n    sms: *quiet\n",
		).values.session_reset;
		expect(by_platform).toEqual({ irc: { notify: false }, sms: { notify: false } });
	});

	test("aliases of aliases cannot blow up", () => {
		const levels = "abcdefghij".split("");
		const yaml = levels.map((name, index) => {
			const below = index === 0 ? "x" : `*${levels[index - 1]}`;
			return `${name}: &${name} [${Array(10).fill(below).join(", ")}]`;
		});
		expect(problemsOf(yaml.join("\n")).join("\n")).toContain("counting repeated aliases");
	});

	test("a fault behind which the file can be read does not hide the other problems", () => {
		expect(problemsOf("secrets: []\nsecrets: []\nsession_reset: {at_hour: 99}\n")).toHaveLength(2);
	});

	test.each([
		["postgres://k:p%40ssword1@db/k", {}],
		["postgres://k:p@ssword1@db/k", {}],
		["postgres://k:p@ssword1@db:99999/k", {}],
		["postgres://k@db/k?password=p@ssword1", {}],
		["postgres://k@db/k", { PGPASSWORD: "p@ssword1" }],
	])("I12: the password of the store's server is hidden, wherever it is given: %s %o", (url, env) => {
		const { secrets } = checkConfig({ home: makeHome(`store: {url: "${url}"}`), env });
		expect(createSecrets(secrets).hide("it is p@ssword1.")).toMatch(/^it is \$\{secret:\w+\}\.$/);
	});

	test("yes and no are words", () => {
		expect(problemsOf("privacy: {redact_pii: yes}")[0]).toContain('must be true or false; it is "yes"');
	});

	test("no text makes the check throw, and every problem of the file has a line of it", () => {
		const word = fc.constantFrom(
			"session_reset",
			"routing",
			"mode",
			"by_type",
			"dm",
			":",
			": ",
			"\n",
			"\n  ",
			"- ",
			"[",
			"]",
			"{",
			"}",
			"&a ",
			"*a",
			"<<",
			"!",
			"null",
			"5",
			'"',
			"'",
			"#",
			"|",
			"\t",
			"? ",
			"__proto__",
		);
		const home = makeHome("");
		const text = fc.oneof(
			fc.string({ unit: "binary" }),
			fc.array(word, { maxLength: 40 }).map((words) => words.join("")),
		);
		fc.assert(
			fc.property(text, (yaml) => {
				writeFileSync(join(home, "config.yaml"), yaml);
				const { problems, config } = checkConfig({ home, env: {} });
				expect(problems.length === 0).toBe(config !== undefined);
				for (const { line, column } of problems) {
					expect(line).toBeGreaterThanOrEqual(1);
					expect(line).toBeLessThanOrEqual(yaml.split("\n").length);
					expect(column).toBeGreaterThanOrEqual(1);
				}
			}),
			{ numRuns: 300 },
		);
	});
});

describe("I12: secrets", () => {
	const SECRET = "correct horse battery";
	const env = { MY_KEY: SECRET };

	test("the value of a secret never appears in a problem", () => {
		const yaml = `secrets: [MY_KEY]\nsession_reset:\n  mode: ${SECRET}\n  ${SECRET}: 1\n`;
		const problems = problemsOf(yaml, { ...env, KERYX_AUTO_CONTINUE_FRESHNESS: SECRET });
		expect(problems).toHaveLength(3);
		expect(problems.join("\n")).not.toContain("horse");
		expect(problems.join("\n")).toContain(`\${secret:MY_KEY}`);
	});

	test("a key written where its variable's name belongs is not repeated", () => {
		expect(problemsOf("secrets: [sk-abcdef0123456789]").join()).not.toContain("abcdef");
	});

	test("a value that is no YAML is not repeated", () => {
		expect(problemsOf("a: !hunter2secret x\nb: *hunter2secret\nc: >hunter2secret\n").join()).not.toContain(
			"hunter2",
		);
	});

	test("a secret too short to be hidden is a warning that does not show it", () => {
		const { warnings } = load("secrets: [PIN]", { PIN: "4711" });
		expect(warnings).toEqual([expect.stringContaining("PIN is shorter than 6")]);
		expect(warnings.join()).not.toContain("4711");
	});
});

describe("the documents", () => {
	test("docs/reference/configuration.md lists every key of the schema and no other", () => {
		const text = readFileSync(new URL("../docs/reference/configuration.md", import.meta.url), "utf8");
		const [, tables = ""] = text.split("## When a session ends");
		const listed = [...tables.matchAll(/^\| `([^`]+)` \|/gm)].map(([, key]) => key);
		// A profile's agent and terminal have the keys of those sections, which are listed once.
		const keys = listKeys(CONFIG_KEYS).map((key) =>
			key.replace(/^(profiles\.<name>\.(?:agent|terminal))\..*$/, "$1"),
		);
		expect(new Set(listed)).toEqual(new Set(keys));
		expect(new Set(listed).size).toBe(listed.length);
	});

	test("the example of docs/reference/configuration.md is a right configuration", () => {
		const text = readFileSync(new URL("../docs/reference/configuration.md", import.meta.url), "utf8");
		const [, yaml = "nothing"] = /```yaml\n([\s\S]*?)```/.exec(text) ?? [];
		expect(problemsOf(yaml)).toEqual([]);
	});

	test("docs/errors.md lists exactly the codes of the catalogue", () => {
		const text = readFileSync(new URL("../docs/errors.md", import.meta.url), "utf8");
		const listed = [...text.matchAll(/^### `([^`]+)`$/gm)].map(([, code]) => code);
		expect(new Set(listed)).toEqual(new Set(Object.keys(ERRORS)));
		expect(new Set(listed).size).toBe(listed.length);
	});
});
