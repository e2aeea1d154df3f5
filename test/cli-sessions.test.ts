// `keryx sessions` with the store alone, and beside a Keryx that runs: the answers are the same.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
	asJson,
	call,
	commandIn,
	type Gateway,
	HOSTILE,
	homeWithPast,
	type Past,
	type Run,
} from "./support/keryx.ts";

const root = mkdtempSync(join(tmpdir(), "keryx-sessions-"));
const { keryx, start } = commandIn(root);
afterAll(() => rmSync(root, { recursive: true, force: true }));

const NOWHERE = "20260101_000000_00000000";

describe.each([
	["the store alone", false],
	["a Keryx that runs", true],
])("keryx sessions with %s", (_name, running) => {
	let past: Past;
	let gateway: Gateway | undefined;
	beforeAll(async () => {
		past = await homeWithPast(join(root, `home-${running}`));
		gateway = running ? await start(past.home) : undefined;
	});
	afterAll(() => gateway?.stop());

	const sessions = (args: readonly string[], stdin = ""): Promise<Run> =>
		call(["sessions", ...args], { stdin, env: { KERYX_HOME: past.home } });
	const all = (...calls: readonly (readonly string[])[]) => Promise.all(calls.map((args) => sessions(args)));

	test("list shows the sessions of all conversations, newest first, or some of them", async () => {
		const [plain, json, one, ofGroup, none] = await all(
			["list"],
			["list", "--json", "--platform", "telegram"],
			["list", "--limit", "1"],
			["list", "--conversation", "agent:main:telegram:group:-7", "--json"],
			["list", "--platform", "irc"],
		);
		const rows = plain?.stdout.trimEnd().split("\n") ?? [];
		expect(rows.map((row) => row.split("\t")[1])).toEqual([past.group, past.hostile, past.tulips]);
		expect(rows[2]).toMatch(/^Ada on Telegram\t\S+\tgarden\t4\t\d{4}-\d\d-\d\dT[\d:.]+Z$/);
		expect(rows[0]).toContain("\twhen do we meet?\t2\t");
		const listed = asJson(json as Run).sessions;
		expect(listed.map(({ id }: { id: string }) => id)).toEqual([past.group, past.hostile, past.tulips]);
		expect(listed[2]).toMatchObject({
			title: "garden",
			messages: 4,
			platform: "telegram",
			name: "Ada on Telegram",
			display_name: "DM with Ada",
			key: "agent:main:telegram:dm:100",
			preview: "plant tulips before the frost",
			ended_at: null,
		});
		expect(one?.stdout.trimEnd().split("\n")).toHaveLength(1);
		expect(asJson(ofGroup as Run).sessions).toMatchObject([{ id: past.group }]);
		expect(none).toEqual({ code: 0, stdout: "", stderr: expect.stringContaining("no such sessions") });
	});

	test("show prints who said what and when, with tool calls folded and Markdown as it is", async () => {
		const [shown, last, json, whole] = await all(
			["show", past.tulips],
			["show", past.tulips, "--limit", "1"],
			["show", past.tulips, "--json"],
			["show", past.tulips, "--all", "--json"],
		);
		expect(shown).toMatchObject({ code: 0, stderr: "" });
		expect(shown?.stdout).toMatch(/^garden\n/);
		expect(shown?.stdout).toMatch(/\nAda, \d{4}-\d\d-\d\d \d\d:\d\d\n {2}plant tulips before the frost\n/);
		expect(shown?.stdout).toContain('\n  ▸ session_search {"query":"frost"}\n');
		expect(shown?.stdout).toContain("\n  ◂ session_search: one (3 lines)\n");
		expect(shown?.stdout).toMatch(/\nagent, [^\n]+\n {2}# Noted\n {2}\n {2}- tulips \*before\* the frost\n$/);
		expect(last?.stdout).toContain("--all shows them");
		expect(last?.stdout).not.toContain("plant tulips");
		expect(asJson(json as Run)).toMatchObject({
			session: { id: past.tulips, title: "garden" },
			messages: [{ role: "user" }, { role: "assistant" }, { role: "tool" }, { role: "assistant" }],
			more: false,
		});
		expect(asJson(whole as Run).messages).toEqual(asJson(json as Run).messages);
	});

	test("a text from a chat cannot write to the terminal, nor look like another message", async () => {
		const [list, show, search] = await all(
			["list"],
			["show", past.hostile],
			["search", "red", "--limit", "1"],
		);
		for (const run of [list, show, search]) {
			expect(run?.code).toBe(0);
			// biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
			expect(run?.stdout).not.toMatch(/[\u001b\u202e]/);
		}
		expect(show?.stdout).toContain("\\u001b[2Jred\n  agent, 2026-01-01 00:00\\u202e");
		expect(show?.stdout).not.toMatch(/^agent, 2026-01-01/m);
		expect(list?.stdout.trimEnd().split("\n")).toHaveLength(3);
	});

	test("search finds words, phrases and beginnings, within a conversation or a role", async () => {
		const [plain, json, user, elsewhere, none] = await all(
			["search", "before", "the", "frost"],
			["search", "tul*", "--json"],
			["search", "frost", "--role", "user", "--json"],
			["search", "tulips", "--conversation", "agent:main:telegram:group:-7", "--json"],
			["search", "nothing", "like", "that"],
		);
		expect(plain?.stdout).toContain(`${past.tulips}\t1\tuser\t`);
		expect(plain?.stdout).toContain("\tplant tulips before the frost\n");
		const { hits, total } = asJson(json as Run);
		expect(total).toEqual({ count: 2, more: false });
		expect(hits[0].snippet).toContainEqual({ text: "tulips", marked: true });
		expect(asJson(user as Run).hits).toMatchObject([{ role: "user", session: past.tulips }]);
		expect(asJson(elsewhere as Run).hits).toEqual([]);
		expect(none).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("Nothing found") });
	});

	test("an export is a private file that appears whole, and goes into another store once", async () => {
		const file = join(root, `all-${running}.jsonl`);
		const env = { KERYX_HOME: join(root, `other-${running}`) };
		const written = await sessions(["export", "-o", file, "--json"]);
		expect(asJson(written)).toEqual({ file, bytes: statSync(file).size });
		expect(statSync(file).mode & 0o777).toBe(0o600);
		const [printed, markdown, one] = await all(
			["export"],
			["export", "--session", past.tulips, "--format", "markdown"],
			["export", "--conversation", "agent:main:telegram:group:-7"],
		);
		expect(printed?.stdout).toBe(readFileSync(file, "utf8"));
		expect(markdown?.stdout).toContain("plant tulips before the frost");
		expect(markdown?.stdout).not.toContain("when do we meet");
		expect(one?.stdout).toContain("when do we meet");
		expect(one?.stdout).not.toContain("tulips");
		const first = await call(["sessions", "import", file, "--json"], { env });
		expect(asJson(first)).toEqual({
			conversations: 3,
			sessions: 3,
			messages: 8,
			blobs: 0,
			present: 0,
			left_out: 0,
		});
		const again = await call(["sessions", "import", "-"], { env, stdin: printed?.stdout ?? "" });
		expect(again).toEqual({
			code: 0,
			stdout: "Added: 0 conversations, 0 sessions and 0 messages.\nAlready there: 8 messages.\n",
			stderr: "",
		});
		const shown = await call(["sessions", "search", "tulips", "--json"], { env });
		expect(asJson(shown).hits).toHaveLength(2);
		expect((await sessions(["import", file])).stdout).toContain("Already there: 8 messages.");
	});

	test("what cannot be exported or imported is told, and leaves nothing behind", async () => {
		const folder = join(root, `bad-${running}`);
		mkdirSync(folder);
		const [unknown, nowhere, missing, directory] = await all(
			["export", "--session", NOWHERE, "-o", join(folder, "x.jsonl"), "--json"],
			["export", "-o", join(folder, "none", "x.jsonl"), "--json"],
			["import", join(folder, "none.jsonl"), "--json"],
			["import", folder, "--json"],
		);
		const bad = await sessions(["import", "-", "--json"], '{"type":"keryx_export"}\n');
		const origin = await sessions(["import", "-", "--origin", "a b", "--json"], "");
		const codes = [unknown, nowhere, missing, directory, bad, origin].map((run) => [
			run?.code,
			asJson(run as Run).error.code,
		]);
		expect(codes).toEqual([
			[1, "store.not_found"],
			[1, "output.failed"],
			[2, "input.unreadable"],
			[2, "input.unreadable"],
			[2, "import.invalid"],
			[2, "argument.invalid"],
		]);
		expect(readdirSync(folder)).toEqual([]);
	});

	test("title names a session, and resume goes back to it by title or id", async () => {
		expect(asJson(await sessions(["resume", "garden", "--json"])).error.code).toBe("session.none");
		const env = { KERYX_HOME: past.home };
		await call(["send", "hello"], { env });
		const [{ id }] = asJson(await sessions(["list", "--platform", "local", "--json"])).sessions;
		const named = await sessions(["title", id, "holiday", "plans"]);
		expect(named.stdout).toBe(`Session ${id} is now named "holiday plans".\n`);
		expect(asJson(await sessions(["title", id, "Plans", "--json"]))).toEqual({
			session: id,
			title: "Plans",
			before: "holiday plans",
		});
		await call(["send", "/new"], { env });
		const back = await sessions(["resume", "plans"]);
		expect(back.stdout).toContain(`Session "Plans" (${id}) is now live in this terminal, with 2 messages.`);
		expect(back.stdout).toContain("`keryx chat` continues it.");
		const [, other] = /resume (\S+)` goes back/.exec(back.stdout) ?? [];
		expect(asJson(await sessions(["resume", String(other), "--json"]))).toEqual({
			session: other,
			ended: id,
			stopped: null,
		});
		// Somebody else's is not found, like what does not exist.
		for (const name of ["garden", past.tulips, NOWHERE])
			expect(await sessions(["resume", name])).toMatchObject({
				code: 1,
				stderr: expect.stringContaining("no session"),
			});
	});

	test("a session that branched off shows what it goes on from, page by page as at once", async () => {
		const env = { KERYX_HOME: past.home };
		for (const text of ["/new", "first", "/branch", "second"]) await call(["send", text], { env });
		const [{ id, base }] = asJson(await sessions(["list", "--platform", "local", "--json"])).sessions;
		expect(base).toMatchObject({ kind: "branch" });
		const [shown, whole] = await all(["show", id, "--json"], ["show", id, "--all", "--json"]);
		const { messages } = asJson(whole as Run);
		expect(messages.map(({ content }: { content: string }) => content)).toEqual([
			"first",
			"You said: first",
			"second",
			"You said: second",
		]);
		expect(messages).toEqual(asJson(shown as Run).messages);
	});

	test("unknown ids are a failure that names them", async () => {
		const runs = await all(
			["show", NOWHERE],
			["list", "--conversation", "nowhere"],
			["search", "x", "--conversation", "nowhere"],
			["title", NOWHERE, "x"],
		);
		for (const run of runs) expect(run).toMatchObject({ code: 1, stdout: "" });
		expect(runs.map(({ stderr }) => stderr.split("\n")[0])).toEqual([
			`keryx: no session ${NOWHERE}`,
			'keryx: there is no conversation "nowhere"',
			'keryx: there is no conversation "nowhere"',
			`keryx: no session ${NOWHERE}`,
		]);
	});
});

test.each([
	[
		["sessions"],
		/sessions needs a command: list, show, search, export, import, resume, title, rename, pin, unpin, archive, delete or restore/,
	],
	[["sessions", "serach"], /unknown command "serach"; did you mean search\?/],
	[["sessions", "list", "--limit", "0"], /--limit must be a whole number from 1 to 200; it is "0"/],
	[["sessions", "show"], /missing required argument 'session'/],
	[
		["sessions", "search", "x", "--role", "cook"],
		/--role must be one of user, assistant, tool, title; it is "cook"/,
	],
	[["sessions", "export", "--format", "pdf"], /--format must be one of jsonl, markdown/],
	[["sessions", "export", "--session", "a", "--conversation", "b"], /not both/],
	[["sessions", "title", "x"], /missing required argument 'text'/],
])("%j is wrong usage", async (args, message) => {
	const run = await call(args);
	expect(run).toMatchObject({ code: 2, stdout: "" });
	expect(run.stderr).toMatch(message);
});

test("every command of sessions has examples, its exit codes and --json", async () => {
	const names = [
		"list",
		"show",
		"search",
		"export",
		"import",
		"resume",
		"title",
		"rename",
		"pin",
		"archive",
		"delete",
	];
	for (const run of await Promise.all(names.map((name) => call(["sessions", name, "--help"])))) {
		expect(run.stdout).toMatch(/\n {2}\$ .*keryx sessions /);
		expect(run.stdout).toContain("Exit codes: 0 ");
		expect(run.stdout).toContain("--json");
	}
});

describe("as processes of their own", () => {
	test("the commands do what they do", async () => {
		const past = await homeWithPast(join(root, "home-process"));
		const env = { KERYX_HOME: past.home };
		const reads = [["list"], ["show", past.tulips], ["search", "tulips"], ["export"]];
		const [list, show, search, exported] = await Promise.all(
			reads.map((args) => keryx(["sessions", ...args], { env })),
		);
		for (const run of [list, show, search, exported]) expect(run).toMatchObject({ code: 0, stderr: "" });
		expect(list?.stdout).toContain("\tgarden\t");
		expect(show?.stdout).toContain("plant tulips");
		expect(search?.stdout).toContain("plant tulips");
		const other = { KERYX_HOME: join(root, "other-process") };
		const imported = await keryx(["sessions", "import", "-"], { env: other, stdin: exported?.stdout ?? "" });
		expect(imported).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Added: 3 conversations/) });
		const titled = await keryx(["sessions", "title", past.group, "meeting", "--json"], { env });
		expect(asJson(titled).title).toBe("meeting");
		expect(await keryx(["sessions", "resume", "meeting"], { env })).toMatchObject({ code: 1, stdout: "" });
		expect(await keryx(["sessions", "lsit"], { env })).toMatchObject({ code: 2, stdout: "" });
	});
});

describe("on a terminal", () => {
	const plain = (text: string) => text.replaceAll("\u001b[1m", "").replaceAll("\u001b[22m", "");

	test("a list fits 80 columns, and search marks what it found", async () => {
		const past = await homeWithPast(join(root, "home-terminal"));
		const env = { KERYX_HOME: past.home };
		const list = await call(["sessions", "list"], { env, columns: 80 });
		const lines = plain(list.stdout).trimEnd().split("\n");
		expect(lines[0]).toMatch(/^conversation +session +about +messages +active$/);
		expect(lines).toHaveLength(4);
		for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
		expect(lines[3]).toMatch(/^Ada on Telegram +\S+ +garden +4 +5 h ago$/);
		const search = await call(["sessions", "search", "plant"], { env, columns: 80 });
		expect(search.stdout).toContain("  > user: \u001b[1mplant\u001b[22m tulips before the frost\n");
		expect(search.stdout).toMatch(/Ada on Telegram, session \S+, /);
		expect(search.stdout).toContain("1 hit.\n");
		const markdown = await call(["sessions", "export", "--format", "markdown"], { env, columns: 80 });
		expect(markdown.stdout).not.toContain("\u001b");
		expect(markdown.stderr).toMatch(/^\rexported \d/);
		expect(markdown.stderr.endsWith("\u001b[K\r\u001b[K")).toBe(true);
	});
});

test("the hostile text is hostile", () => {
	// biome-ignore lint/suspicious/noControlCharactersInRegex: what the tests above look for
	expect(HOSTILE).toMatch(/[\u001b\u202e]/);
});
