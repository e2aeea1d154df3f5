// `keryx send` and `keryx outbox` with the store alone, and beside a Keryx that runs.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asJson, call, commandIn, type Gateway, homeWithPast, type Past, type Run } from "./support/keryx.ts";

const root = mkdtempSync(join(tmpdir(), "keryx-send-"));
const { keryx, start } = commandIn(root);
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe.each([
	["the store alone", false],
	["a Keryx that runs", true],
])("with %s", (_name, running) => {
	let past: Past;
	let gateway: Gateway | undefined;
	beforeAll(async () => {
		past = await homeWithPast(join(root, `home-${running}`));
		gateway = running ? await start(past.home) : undefined;
	});
	afterAll(() => gateway?.stop());

	const run = (args: readonly string[], stdin = ""): Promise<Run> =>
		call(args, { stdin, env: { KERYX_HOME: past.home } });

	test("send prints the answer, and the same id again prints what became of the first", async () => {
		const answer = { code: 0, stdout: "You said: hello there\n", stderr: "" };
		expect(await run(["send", "--id", "one", "hello", "there"])).toEqual(answer);
		expect(await run(["send", "--id", "one", "something else"])).toEqual(answer);
		const json = asJson(await run(["send", "--id", "one", "x", "--json"]));
		expect(json).toMatchObject({
			inbound: { client_message_id: "one", disposition: { kind: "answered" } },
			deliveries: [{ kind: "reply", text: "You said: hello there" }],
		});
		const [{ messages }] = asJson(await run(["sessions", "list", "--platform", "local", "--json"])).sessions;
		expect(messages).toBe(2);
	});

	test("send reads stdin, takes commands, and goes to another conversation", async () => {
		expect(await run(["send", "-"], "one\n\ttwo")).toMatchObject({ stdout: "You said: one\n\ttwo\n" });
		expect((await run(["send", "/status"])).stdout).toMatch(/^Conversation agent:main:local:dm:cli\n/);
		const key = "agent:main:telegram:dm:100";
		expect((await run(["send", "--conversation", key, "hello"])).stdout).toBe("You said: hello\n");
		expect((await run(["sessions", "show", past.tulips])).stdout).toContain("You said: hello");
	});

	test("send without waiting says how to follow the message", async () => {
		const sent = await run(["send", "--no-wait", "hello"]);
		const [, id] =
			/^Message (\d+) was accepted\. `keryx why \1` shows what happens to it\.\n$/.exec(sent.stdout) ?? [];
		expect(id).toBeDefined();
		expect(asJson(await run(["send", "--no-wait", "hello", "--json"])).inbound.id).toBeGreaterThan(
			Number(id),
		);
	});

	test("send --to local saves a file that Keryx names", async () => {
		const saved = await run(["send", "--to", "local", "--id", "report", "# Report"]);
		const [, file] =
			/^Saved as output\/(\d{8}-\d{6}-[0-9a-f]{12}\.md) in Keryx's home\.\n$/.exec(saved.stdout) ?? [];
		expect(file).toBeDefined();
		expect(readFileSync(join(past.home, "output", file as string), "utf8")).toBe("# Report\n");
		expect(await run(["send", "--to", "local", "--id", "report", "# Report"])).toEqual(saved);
	});

	test("send --to a conversation has a receipt; a target that cannot be used is refused with the reason", async () => {
		if (!running) {
			const refused = await run(["send", "--to", "telegram", "hello"]);
			expect(refused).toMatchObject({ code: 1, stdout: "" });
			expect(refused.stderr).toContain("Keryx is not running");
			return;
		}
		await run(["send", "hello"]);
		const [{ conversation }] = asJson(
			await run(["sessions", "list", "--platform", "local", "--json"]),
		).sessions;
		const target = `conversation:${conversation}`;
		const sent = { code: 0, stdout: "Sent to Terminal.\n", stderr: "" };
		expect(await run(["send", "--to", target, "--id", "once", "The backup is done"])).toEqual(sent);
		expect(await run(["send", "--to", target, "--id", "once", "The backup is done"])).toEqual(sent);
		const other = await run(["send", "--to", target, "--id", "once", "Another text"]);
		expect(other).toMatchObject({
			code: 1,
			stdout: "",
			stderr: expect.stringContaining("used for another text"),
		});
		const json = asJson(await run(["send", "--to", target, "--id", "once", "The backup is done", "--json"]));
		expect(json.send).toMatchObject({
			conversation,
			deliveries: [{ state: "sent", text: "The backup is done" }],
		});
		for (const [target, why] of [
			["telegram", "telegram is not connected"],
			["conversation:nobody", "There is no such conversation"],
			["Nowhere!", "The target must be origin, local"],
			["origin", "There is no conversation here"],
		] as const) {
			const refused = await run(["send", "--to", target, "hello"]);
			expect(refused).toMatchObject({ code: 1, stdout: "" });
			expect(refused.stderr).toContain(why);
		}
	});

	test("what is not answered is a failure with the reason", async () => {
		const failed = await run(["send", "--id", "bad", "fail"]);
		expect(failed).toMatchObject({ code: 1, stdout: "" });
		expect(failed.stderr).toMatch(
			/^keryx: message \d+ has no answer: it could not be answered: provider_down: the cable is cut\nwhat to do: `keryx why \d+`/,
		);
		const again = await run(["send", "--id", "bad", "fail", "--json"]);
		expect([again.code, asJson(again).error.code]).toEqual([1, "message.unanswered"]);
		const nowhere = await run(["send", "--conversation", "nowhere", "x", "--json"]);
		expect([nowhere.code, asJson(nowhere).error.code]).toEqual([1, "store.not_found"]);
		const empty = await run(["send", "-", "--json"], " \n");
		expect([empty.code, asJson(empty).error.field]).toEqual([2, "text"]);
	});

	/** It is tried now and then, and may be just now. */
	const WAITS = expect.stringMatching(/^(pending|sending)$/);

	test("outbox lists what waits, is unknown or dead, with why; a person decides", async () => {
		const [plain, list] = await Promise.all([run(["outbox"]), run(["outbox", "list", "--all", "--json"])]);
		const rows = plain.stdout
			.trimEnd()
			.split("\n")
			.map((line) => line.split("\t"));
		expect(rows.map(([id, state, to]) => [id, state, to])).toEqual([
			[past.unknown, "unknown", "telegram 100"],
			[past.dead, "dead", "telegram 100"],
			[past.waiting, WAITS, "telegram 100"],
		]);
		expect(rows[0]?.slice(4)).toEqual(["1", "Keryx died while sending", "Noted"]);
		expect(plain.stderr).toContain("`keryx outbox retry <id>` sends one again");
		expect(asJson(list).deliveries).toMatchObject([
			{ id: past.unknown, state: "unknown", reason: "Keryx died while sending" },
			{ id: past.dead, state: "dead", reason: "chat not found" },
			{ id: past.waiting, state: WAITS },
		]);
		expect((await run(["outbox", "sent", past.unknown])).stdout).toBe(
			`${past.unknown} is marked as arrived.\n`,
		);
		const retried = asJson(await run(["outbox", "retry", past.dead, "--json"]));
		expect(retried).toMatchObject({ id: past.dead, settled_at: null });
		expect(retried.state).toEqual(WAITS);
		const left = asJson(await run(["outbox", "--json"])).deliveries;
		expect(left.map(({ id }: { id: string }) => id)).toEqual([past.dead, past.waiting]);
		const [gone, settled] = [
			await run(["outbox", "retry", "nowhere", "--json"]),
			await run(["outbox", "sent", past.unknown, "--json"]),
		];
		expect([gone.code, asJson(gone).error.code]).toEqual([1, "store.not_found"]);
		expect([settled.code, asJson(settled).error.code]).toEqual([1, "delivery.stale"]);
	});
});

test("a Keryx that dies while a message waits for its answer is told, and the message is kept", async () => {
	const { home } = await homeWithPast(join(root, "home-killed"));
	const env = { KERYX_HOME: home };
	const gateway = await start(home);
	const local = ["sessions", "list", "--platform", "local", "--json"];
	try {
		const waiting = call(["send", "--id", "kept", "hang"], { env });
		while (asJson(await call(local, { env })).sessions.length === 0);
		await gateway.stop("SIGKILL");
		const { code, stdout, stderr } = await waiting;
		expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
		const [, id] = /^keryx: Keryx stopped before message (\d+) was answered\n/.exec(stderr) ?? [];
		// It may die before its word that the message was taken has arrived: then one sends it again under the same id.
		if (id === undefined) expect(stderr).toMatch(/whether it accepted the message[\s\S]*--id kept/);
		else expect((await call(["why", id], { env })).stdout).toContain("Keryx is working on it.");
	} finally {
		await gateway.stop("SIGKILL");
	}
});

test("as processes of their own", async () => {
	const past = await homeWithPast(join(root, "home-process"));
	const env = { KERYX_HOME: past.home };
	expect(await keryx(["send", "-"], { env, stdin: "hello\n" })).toEqual({
		code: 0,
		stdout: "You said: hello\n",
		stderr: "",
	});
	expect(await keryx(["send", "fail"], { env })).toMatchObject({ code: 1, stdout: "" });
	expect((await keryx(["outbox"], { env })).stdout).toContain("\tchat not found\t");
	expect((await keryx(["outbox", "retry", past.dead], { env })).stdout).toBe(
		`${past.dead} is sent again when Keryx runs again.\n`,
	);
});

test("on a terminal the outbox says in words what it knows", async () => {
	const past = await homeWithPast(join(root, "home-terminal"));
	const env = { KERYX_HOME: past.home, NO_COLOR: "1" };
	const { stdout } = await call(["outbox"], { env, columns: 80 });
	expect(stdout).toContain(
		`${past.unknown}  unknown\n  to telegram 100, 5 h ago, tried once: Keryx died while sending\n  "Noted"\n`,
	);
	expect(stdout).toContain(`${past.waiting}  pending\n  to telegram 100, 4 h ago, not tried yet\n`);
	expect(stdout).not.toContain("\u001b");
});

test("a store that no gateway uses has no nodes", async () => {
	const env = { KERYX_HOME: join(root, "nodes") };
	const gateway = await start(env.KERYX_HOME);
	expect(asJson(await keryx(["nodes", "--json"], { env })).nodes).toHaveLength(1);
	await gateway.stop();
	expect(await call(["nodes"], { env })).toMatchObject({ code: 0, stdout: "" });
});

test("an empty outbox says so", async () => {
	const env = { KERYX_HOME: join(root, "new") };
	expect(await call(["outbox"], { env })).toEqual({
		code: 0,
		stdout: "",
		stderr: "Nothing is waiting, unknown or given up.\n",
	});
	expect(asJson(await call(["outbox", "--json"], { env }))).toEqual({ deliveries: [] });
});

test.each([
	[["send"], /missing required argument 'text'/],
	[["outbox", "rety"], /unknown command "rety"; did you mean retry\?/],
	[["outbox", "retry"], /missing required argument 'id'/],
	[["outbox", "sent", "a", "b"], /too many arguments/],
	[["outobx"], /unknown command "outobx"; did you mean outbox\?/],
])("%j is wrong usage", async (args, message) => {
	const run = await call(args);
	expect(run).toMatchObject({ code: 2, stdout: "" });
	expect(run.stderr).toMatch(message);
});

test.each([[["send"]], [["outbox"]], [["outbox", "list"]], [["outbox", "retry"]], [["outbox", "sent"]]])(
	"%j has examples, exit codes and --json",
	async (args) => {
		const { stdout } = await call([...args, "--help"]);
		expect(stdout).toContain(`$ keryx ${args[0]}`);
		expect(stdout).toContain("Exit codes: 0 ");
		expect(stdout).toContain("--json");
	},
);
