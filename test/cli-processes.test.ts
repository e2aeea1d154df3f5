// `keryx ps`, `logs`, `attach` and `kill` with a real host: beside a store whose owner is busy elsewhere, and after things have died.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { ConversationId } from "../src/domain/index.ts";
import { encodeFrame, FrameReader } from "../src/processes/frames.ts";
import { connectHost, type HostClient, type ProcessInfo } from "../src/processes/index.ts";
import { NO_SECRETS, openStore, type Store } from "../src/store/index.ts";
import { ADA, GROUP, Scene } from "../src/testing/conformance/store/scene.ts";
import { countedIds, createWallClock } from "./support/clock.ts";
import { asJson, call, commandIn, MAIN, NODE_OPTIONS, type Run } from "./support/keryx.ts";
import { eventually } from "./support/soon.ts";
import { openTerminal, type RealTerminal } from "./support/terminal.ts";

const root = mkdtempSync(join(tmpdir(), "keryx-cli-processes-"));
const { start } = commandIn(root);
const PATH = process.env.PATH ?? "";
const IDLE_MS = 300;
const ADAS = "agent:main:telegram:dm:100";

interface Place {
	readonly home: string;
	readonly store: Store;
	readonly host: HostClient;
	readonly ada: ConversationId;
	readonly group: ConversationId;
}

const places: Place[] = [];
const hosts: number[] = [];
let drawn = 0;

/** A home with two conversations, a store that somebody owns, and a host. */
async function place(): Promise<Place> {
	const home = join(root, `home-${places.length}`);
	mkdirSync(home, { mode: 0o700 });
	const clock = createWallClock(Date.now());
	const store = await openStore({
		url: `sqlite:${join(home, "keryx.db")}`,
		clock,
		ids: countedIds(),
		secrets: NO_SECRETS,
	});
	const scene = new Scene({ store, clock, close: () => store.close() });
	const ada = (await scene.say("hello", ADA)).conversation;
	const group = (await scene.say("hello", GROUP)).conversation;
	const host = await connectHost({ home, start: true, idleMs: IDLE_MS });
	hosts.push(host.hostPid);
	const made = { home, store, host, ada, group };
	places.push(made);
	return made;
}

interface BeginOptions {
	readonly pty?: ProcessInfo["pty"];
	/** Null: the store does not know it. */
	readonly conversation?: ConversationId | null;
	readonly id?: string;
	readonly maxLogBytes?: number;
}

async function begin(
	{ home, store, host, ada }: Place,
	argv: readonly string[],
	{ pty = null, conversation = ada, id = nextId(), maxLogBytes = 1 << 20 }: BeginOptions = {},
): Promise<string> {
	if (conversation !== null) await record(store, id, conversation, argv.join(" "), pty !== null);
	const env = { PATH, TERM: "xterm-256color", LANG: "C.UTF-8", STARTED_IN: root };
	const { identity } = await host.spawn({ id, argv, cwd: home, env, pty, maxLogBytes });
	if (conversation !== null && identity) await store.processStarted({ id, identity });
	return id;
}

async function record(
	store: Store,
	id: string,
	conversation: ConversationId,
	command: string,
	pty = false,
): Promise<void> {
	await store.beginProcess({
		id,
		conversation,
		principal: null,
		turn: null,
		role: null,
		backend: "local",
		command,
		cwd: root,
		background: true,
		pty,
		notify: "none",
		destination: { platform: "telegram", account: "", chatId: "100", threadId: "5" },
		limits: { inAll: 100, perConversation: 100 },
	});
}

/** No two begin alike. */
function nextId(): string {
	return `proc_${(++drawn).toString(16).padStart(4, "0")}${"0".repeat(8)}`;
}

async function until(
	{ host }: Place,
	id: string,
	holds: (info: ProcessInfo) => boolean,
): Promise<ProcessInfo> {
	await expect.poll(async () => holds(await host.get(id))).toBe(true);
	return host.get(id);
}

const hasEnded = ({ end }: ProcessInfo) => end !== null;
const hasPrinted = ({ logSize }: ProcessInfo) => logSize > 0;

const at = (home: string, columns?: number) => ({
	env: { KERYX_HOME: home, NO_COLOR: "1" },
	...(columns !== undefined && { columns }),
});

/** What lives and was started here, whoever its parent is now. */
function ours(): string[] {
	return readdirSync("/proc").filter((pid) => {
		try {
			return readFileSync(`/proc/${pid}/environ`, "latin1").includes(`STARTED_IN=${root}`);
		} catch {
			return false;
		}
	});
}

/** One that is dead and whose parent has not looked yet is gone, too. */
function isGone(pid: number): boolean {
	try {
		return / Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
	} catch {
		return true;
	}
}

afterAll(async () => {
	await Promise.all(
		places.map(async ({ store, host, home }) => {
			const left = (await listed(home)).map(({ id }) => id);
			if (left.length > 0) await call(["kill", "--signal", "KILL", ...left], at(home));
			await host.close();
			await store.close().catch(() => {});
		}),
	);
	await eventually(() => expect(hosts.every(isGone)).toBe(true));
	expect(ours()).toEqual([]);
	rmSync(root, { recursive: true, force: true });
});

interface Listed {
	readonly id: string;
	readonly state: string;
	readonly remarks: readonly string[];
	readonly [field: string]: unknown;
}

async function listed(home: string, ...args: readonly string[]): Promise<Listed[]> {
	const run = await call(["ps", "--json", ...args], at(home));
	expect(run.code).toBe(0);
	return asJson(run).processes;
}

/** What `keryx doctor` says of processes. */
async function lookedAt(home: string): Promise<unknown> {
	const { checks } = asJson(await call(["doctor", "--quick", "--json"], at(home)));
	return checks.find(({ check }: { check: string }) => check === "processes");
}

describe("keryx ps", () => {
	test("shows what runs, and with --all what has ended, on a terminal and as JSON", async () => {
		const here = await place();
		const { home, group } = here;
		const sleeper = await begin(here, ["sleep", "301"]);
		const other = await begin(here, ["sh", "-c", "exit 3"], { conversation: group });
		const hostile = await begin(here, ["sh", "-c", "# \u001b[2J\n\u202ex\nexec sleep 302"]);
		const { end } = await until(here, other, hasEnded);
		await here.store.endProcess({
			id: other,
			end: { status: "exited", exitCode: 3, signal: null, cause: "exited by itself" },
			at: end?.endedAt ?? 0,
			logBytes: 0,
			logLost: 0,
			note: "it has ended",
		});
		const [running, all, groups, table, piped, nobody] = await Promise.all([
			listed(home),
			listed(home, "--all"),
			listed(home, "--all", "--conversation", group),
			call(["ps", "--all"], at(home, 200)),
			call(["ps"], at(home)),
			call(["ps", "--conversation", "agent:main:nowhere"], at(home)),
		]);
		expect(running.map(({ id }) => id)).toEqual([sleeper, hostile]);
		expect(running[0]).toMatchObject({
			state: "running",
			command: "sleep 301",
			conversation: here.ada,
			conversation_key: ADAS,
			pid: expect.any(Number),
			exit_code: null,
			survivors: [],
			known_to: ["store", "host"],
			remarks: [],
		});
		expect(all.map(({ id }) => id)).toEqual([sleeper, other, hostile]);
		expect(groups).toMatchObject([
			{ id: other, state: "exited", exit_code: 3, ended_at: expect.any(String) },
		]);
		expect(table.stdout).toMatch(/^id +state +pid +since +conversation +command\n/);
		expect(table.stdout).toMatch(new RegExp(`\n${other} +exited 3 +\\d+ +ended \\d+ s ago +`));
		// biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
		expect(table.stdout + piped.stdout).not.toMatch(/[\u001b\u202e]\[2J|\u202e/);
		expect(piped.stdout.trimEnd().split("\n")).toHaveLength(2);
		expect(piped.stdout.split("\t").slice(0, 2)).toEqual([sleeper, "running"]);
		expect(nobody).toMatchObject({ code: 1, stderr: expect.stringContaining("no conversation") });
		expect(await lookedAt(home)).toMatchObject({
			state: "fine",
			found: expect.stringMatching(/^2 processes are running, 1 host, .* of logs$/),
		});
	});

	test("a home without a store or a host has nothing, and is not made", async () => {
		const home = join(root, "nothing");
		expect(await call(["ps"], at(home))).toEqual({
			code: 0,
			stdout: "",
			stderr: expect.stringContaining("Nothing is running"),
		});
		expect(readdirSync(root)).not.toContain("nothing");
	});

	test("accounts for what was left behind, for what only one side knows, and for what nobody recorded", async () => {
		const here = await place();
		const left = await begin(here, ["sh", "-c", "mkfifo never; (read line <never) >/dev/null 2>&1 & exit 0"]);
		const alone = await begin(here, ["sleep", "304"], { conversation: null });
		const unrecorded = await begin(here, ["sh", "-c", "exit 4"]);
		const missing = nextId();
		await record(here.store, missing, here.ada, "gone");
		await here.store.processStarted({
			id: missing,
			identity: { bootId: "another", pid: 1, startTime: "1" },
		});
		const { survivors } = await until(here, left, hasEnded);
		await until(here, unrecorded, hasEnded);
		const found = new Map((await listed(here.home)).map((one) => [one.id, one]));
		expect([...found.keys()].toSorted()).toEqual([left, alone, unrecorded, missing].toSorted());
		expect(found.get(left)).toMatchObject({ state: "exited", exit_code: 0, survivors });
		expect(found.get(left)?.remarks[0]).toBe(`still running: pid ${survivors.join(", ")}`);
		expect(found.get(alone)).toMatchObject({
			state: "running",
			known_to: ["host"],
			remarks: ["not in the store"],
		});
		expect(found.get(unrecorded)).toMatchObject({ state: "exited", exit_code: 4 });
		expect(found.get(unrecorded)?.remarks[0]).toContain("not recorded yet");
		expect(found.get(missing)).toMatchObject({ state: "missing", known_to: ["store"] });

		const shown = (await call(["ps"], at(here.home, 60))).stdout;
		expect(shown).toContain(`\n${left}: still running: pid ${survivors.join(", ")}; not recorded yet`);
		const killed = await call(["kill", left, alone], at(here.home));
		expect(killed).toMatchObject({
			code: 0,
			stdout: `${left} had already ended.\n${alone} was killed, with everything it started.\n`,
		});
		const not = await call(["kill", missing], at(here.home));
		expect(not).toMatchObject({ code: 1, stdout: expect.stringContaining("nothing on this machine knows") });
	});

	test("says when the host of a process does not answer", async () => {
		const here = await place();
		const id = await begin(here, ["sh", "-c", "echo before; read x"]);
		await until(here, id, hasPrinted);
		expect(await listed(here.home)).toMatchObject([{ id, unreachable: false, remarks: [] }]);
		process.kill(here.host.hostPid, "SIGSTOP");
		try {
			expect(await listed(here.home)).toMatchObject([
				{
					id,
					state: "running",
					unreachable: true,
					remarks: ["its host does not answer, so this may be out of date"],
				},
			]);
		} finally {
			process.kill(here.host.hostPid, "SIGCONT");
		}
	});

	test("after the host was killed its processes are lost, alive or not, can be killed, and their logs are there", async () => {
		const here = await place();
		const alive = await begin(here, ["sh", "-c", "echo before; exec sleep 305"]);
		const dead = await begin(here, ["sh", "-c", "echo last words; sleep 306"]);
		await until(here, alive, hasPrinted);
		const { identity } = await until(here, dead, hasPrinted);
		const following = call(["logs", alive, "-f"], at(here.home));
		process.kill(here.host.hostPid, "SIGKILL");
		process.kill(-(identity?.pid ?? expect.fail("it has no pid")), "SIGKILL");
		expect(await following).toMatchObject({
			code: 1,
			stdout: "before\n",
			stderr: expect.stringContaining("was lost"),
		});
		await expect
			.poll(async () => (await listed(here.home)).map(({ remarks }) => remarks[0]))
			.toEqual([
				expect.stringMatching(/^its host died; still running: pid \d+$/),
				"its host died; nothing of it is running",
			]);
		expect(await lookedAt(here.home)).toMatchObject({
			state: "remark",
			found: expect.stringMatching(/^none is running, /),
		});
		expect(await call(["logs", dead], at(here.home))).toMatchObject({ code: 0, stdout: "last words\n" });
		expect((await call(["kill", alive], at(here.home))).stdout).toBe(
			`${alive} was killed, with everything it started.\n`,
		);
		expect((await listed(here.home)).map(({ survivors }) => survivors)).toEqual([[], []]);
	});
});

test("a process is named by four characters or more of its id, and what fits none or several is told", async () => {
	const here = await place();
	const first = await begin(here, ["echo", "one"], { id: "proc_abcd00000000" });
	await begin(here, ["echo", "two"], { id: "proc_abce00000000", conversation: null });
	await until(here, first, hasEnded);
	const logs = (id: string) => call(["logs", id], at(here.home));
	for (const id of [first, "proc_abcd", "abcd", "abcd0000"])
		expect(await logs(id)).toMatchObject({ code: 0, stdout: "one\n" });
	expect(await logs("abc")).toMatchObject({ code: 2, stderr: expect.stringContaining("too short") });
	expect(await logs("proc_abc")).toMatchObject({ code: 2, stderr: expect.stringContaining("too short") });
	expect(await logs("ffff")).toMatchObject({ code: 1, stderr: expect.stringContaining("keryx ps --all") });
	const twin = await begin(here, ["true"], { id: "proc_abcdf0000000", conversation: null });
	expect(await logs("abcd")).toMatchObject({ code: 2, stderr: expect.stringContaining(`or ${twin}`) });
	expect(await call(["kill", "abce", "ffff"], at(here.home))).toMatchObject({ code: 1, stdout: "" });
});

describe("keryx logs", () => {
	test("prints the last lines: exact when piped, safe on a terminal, as it was with --raw", async () => {
		const here = await place();
		const id = await begin(here, [
			"sh",
			"-c",
			"seq 1 300; printf '\\033[31mred\\033[0m\\007 50%%\\r60%%\\n\\377 end'",
		]);
		await until(here, id, hasEnded);
		const [piped, two, none, all, shown, raw, json] = await Promise.all([
			call(["logs", id], at(here.home)),
			call(["logs", id, "-n", "2"], at(here.home)),
			call(["logs", id, "-n", "0"], at(here.home)),
			call(["logs", id, "-n", "all"], at(here.home)),
			call(["logs", id, "-n", "2"], at(here.home, 80)),
			call(["logs", id, "-n", "2", "--raw"], at(here.home, 80)),
			call(["logs", id, "-n", "3", "--json"], at(here.home)),
		]);
		expect(piped.stdout.split("\n")).toHaveLength(200);
		expect(piped.stdout).toMatch(/^103\n/);
		expect(two.stdout).toBe("\u001b[31mred\u001b[0m\u0007 50%\r60%\n\ufffd end");
		expect(none.stdout).toBe("");
		expect(all.stdout).toMatch(/^1\n2\n/);
		expect(shown.stdout).toBe("60% 50%\n\ufffd end\n");
		expect(raw.stdout).toBe(two.stdout);
		expect(asJson(json)).toMatchObject({ id, lost: 0, output: expect.stringMatching(/^300\n/) });
		const { stdout } = await promisify(execFile)(process.execPath, [MAIN, "logs", id, "-n", "1"], {
			env: { PATH, KERYX_HOME: here.home },
			encoding: "buffer",
		});
		expect(stdout).toEqual(Buffer.from("\xff end", "latin1"));
		expect(await call(["logs", id, "-n", "some"], at(here.home))).toMatchObject({ code: 2 });
	});

	test("a line says how many bytes were cut out, wherever one begins to read", async () => {
		const here = await place();
		const id = await begin(here, ["seq", "1", "20000"], { maxLogBytes: 8192 });
		const { logSize } = await until(here, id, hasEnded);
		const [all, few] = await Promise.all([
			call(["logs", id, "-n", "all"], at(here.home)),
			call(["logs", id, "-n", "3"], at(here.home)),
		]);
		const mark = /\n\[([\d,]+) bytes were removed here\]\n/.exec(all.stdout);
		const lost = Number(mark?.[1]?.replaceAll(",", ""));
		const kept = all.stdout.replace(/\n?\[[^\n]+\]\n/, "");
		expect(lost + kept.length).toBeGreaterThanOrEqual(logSize - 1);
		expect(lost).toBeGreaterThan(logSize - 8192 - 1);
		expect(all.stdout).toMatch(/^1\n2\n/);
		expect(few.stdout).toBe("19998\n19999\n20000\n");
	});

	test("-f goes on until the process ends, whatever becomes of the gateway, and says how it ended", async () => {
		const here = await place();
		const { home } = here;
		const id = await begin(here, ["sh", "-c", "echo one; while read line; do echo $line; done; exit 5"]);
		await until(here, id, hasPrinted);
		await here.store.close();
		const gateway = await start(home);
		const following = call(["logs", id, "-f"], at(home));
		const asJsonLines = call(["logs", id, "-f", "--json"], at(home));
		await here.host.write(id, Buffer.from("two\n"));
		await until(here, id, ({ logSize }) => logSize === 8);
		await gateway.stop("SIGKILL");
		const again = await start(home);
		await here.host.write(id, Buffer.from("three"));
		await here.host.endInput(id);
		expect(await following).toEqual({
			code: 0,
			stdout: "one\ntwo\n",
			stderr: `${id} exited with code 5.\n`,
		});
		const lines = (await asJsonLines).stdout
			.trimEnd()
			.split("\n")
			.map((line) => JSON.parse(line));
		expect(lines.at(-1)).toEqual({ id, state: "exited", exit_code: 5, signal: null });
		expect(
			lines
				.slice(0, -1)
				.map(({ output }) => output)
				.join(""),
		).toBe("one\ntwo\n");
		await again.stop();
	});
});

describe("keryx kill", () => {
	test("is verified against a process that ignores SIGTERM, and sends another signal first where told to", async () => {
		const here = await place();
		const deaf = await begin(here, ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done"]);
		const polite = await begin(here, [
			"sh",
			"-c",
			"trap 'echo asked; exit 0' INT; echo ready; while :; do sleep 0.05; done",
		]);
		await until(here, deaf, hasPrinted);
		await until(here, polite, hasPrinted);
		const [hard, soft] = await Promise.all([
			call(["kill", deaf, "--json"], at(here.home)),
			call(["kill", polite, "--signal", "int"], at(here.home)),
		]);
		expect(hard.code).toBe(0);
		expect(asJson(hard).processes).toEqual([{ id: deaf, result: "killed", survivors: [], problem: null }]);
		expect(await until(here, deaf, hasEnded)).toMatchObject({ status: "killed", end: { signal: "SIGKILL" } });
		expect(soft).toMatchObject({ code: 0, stdout: expect.stringContaining("was killed") });
		expect((await call(["logs", polite], at(here.home))).stdout).toBe("ready\nasked\n");
	});

	test("ends every process of a conversation, and no other", async () => {
		const here = await place();
		const mine = [await begin(here, ["sleep", "307"]), await begin(here, ["sleep", "308"])];
		const theirs = await begin(here, ["sleep", "309"], { conversation: here.group });
		const run = await call(["kill", "--conversation", ADAS, "--all"], at(here.home));
		expect(run.stdout).toBe(mine.map((id) => `${id} was killed, with everything it started.\n`).join(""));
		expect(await until(here, theirs, () => true)).toMatchObject({ status: "running" });
		await call(["kill", theirs], at(here.home));
		const wrong = [
			["kill"],
			["kill", "--all"],
			["kill", theirs, "--all"],
			["kill", theirs, "--signal", "SO"],
		];
		for (const args of wrong) expect(await call(args, at(here.home))).toMatchObject({ code: 2, stdout: "" });
	});

	test("what survives is named, and the exit code is 1", async () => {
		const here = await place();
		const id = await begin(here, ["sleep", "310"], { conversation: null });
		const home = join(root, "stubborn");
		const folder = join(home, "processes", id);
		mkdirSync(folder, { recursive: true, mode: 0o700 });
		const meta = readFileSync(join(here.home, "processes", id, "meta.json"));
		writeFileSync(join(folder, "meta.json"), meta);
		const { close } = await stubbornHost(home);
		try {
			const run = await call(["kill", id], at(home));
			expect(run).toMatchObject({ code: 1, stdout: `${id} is not gone: pid 4711, 4712 still running.\n` });
		} finally {
			await close();
		}
		await call(["kill", id], at(here.home));
	});
});

/** A host whose every kill leaves somebody. */
async function stubbornHost(home: string): Promise<{ close(): Promise<void> }> {
	const at = (ending: string) => join(home, "processes", `host-1.${ending}`);
	writeFileSync(at("token"), "token");
	const sockets = new Set<Socket>();
	const server = createServer((socket) => {
		sockets.add(socket);
		const reader = new FrameReader();
		socket.on("data", (chunk: Buffer) => {
			for (const { header } of reader.read(chunk)) {
				const answer =
					"hello" in header
						? { hello: 1, pid: process.pid }
						: { seq: header.seq, value: { result: "survived", survivors: [4711, 4712] } };
				for (const part of encodeFrame(answer)) socket.write(part);
			}
		});
	});
	await new Promise<void>((resolve) => server.listen(at("sock"), resolve));
	return {
		close: () => {
			for (const socket of sockets) socket.destroy();
			return new Promise((resolve) => server.close(() => resolve()));
		},
	};
}

describe("keryx attach", () => {
	const terminals: RealTerminal[] = [];
	afterEach(() => {
		for (const terminal of terminals.splice(0)) terminal.close();
	});
	let here: Place;
	beforeAll(async () => {
		here = await place();
	});

	/** In a shell that tells afterwards how it ended, and what it left of the terminal. */
	function attach(args: readonly string[], size: { columns?: number; rows?: number } = {}): RealTerminal {
		const command = [process.execPath, ...NODE_OPTIONS, MAIN, "attach", ...args];
		const script = `"$@"; echo "code $?, $(stty -a | grep -o -E -e '-?(icanon|echo)\\b' | tr '\\n' ' ')"; exec cat`;
		const terminal = openTerminal(["sh", "-c", script, "sh", ...command], {
			...size,
			env: {
				PATH,
				TERM: "xterm-256color",
				LANG: "C.UTF-8",
				KERYX_HOME: here.home,
				NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? "",
			},
		});
		terminals.push(terminal);
		return terminal;
	}

	/** Draws the whole screen whenever its size changes and at each key; asks the terminal things; q ends it. */
	const FULL_SCREEN = `
		const { stdin, stdout } = process;
		let keys = "";
		const draw = () => stdout.write("\\x1b[2J\\x1b[H" + "size " + stdout.columns + "x" + stdout.rows + "\\r\\n\\x1b[1mkeys\\x1b[0m " + JSON.stringify(keys)
			+ "\\x1b[" + stdout.rows + ";1Hlast row");
		stdin.setRawMode(true);
		stdin.on("data", (data) => {
			if (String(data) === "q") { stdout.write("\\x1b[?1049l"); process.exit(7); }
			keys += data;
			draw();
		});
		stdout.on("resize", draw);
		stdout.write("\\x1b[?1049h\\x1b[?2004h\\x1b[?1000h\\x1b[6n");
		draw();
	`;

	test("is a real terminal: screen, keys, resize, detach, and the exit code at the end", async () => {
		const pty = { rows: 24, cols: 80 };
		const id = await begin(here, [process.execPath, "-e", FULL_SCREEN], { pty });
		await until(here, id, hasPrinted);
		const terminal = attach([id]);
		await terminal.shows('size 80x24\nkeys ""');
		// Nobody had answered its question, and the replay must not have it answered.
		terminal.type("a\u001b[A");
		await terminal.shows('keys "a\\u001b[A"');
		expect(terminal.rows()).toHaveLength(24);
		expect(terminal.rows().at(-1)).toBe("last row");
		terminal.resize(60, 10);
		await terminal.shows("size 60x10");
		expect(terminal.rows()).toEqual(["size 60x10", 'keys "a\\u001b[A"', ...Array(7).fill(""), "last row"]);
		expect(terminal.modes()).toEqual({ screen: "alternate", pastes: true, mouse: "vt200" });

		terminal.type("\u001d");
		await terminal.shows("code 0, icanon echo");
		expect(terminal.modes()).toEqual({ screen: "normal", pastes: false, mouse: "none" });
		expect(terminal.rows().join("\n")).toContain("Ctrl-] leaves it running.");
		expect(terminal.rows().join("\n")).toContain(`Left ${id}, which keeps running.`);
		expect(await until(here, id, ({ pty: size }) => size?.rows === 24)).toMatchObject({
			status: "running",
			pty,
		});

		const second = attach([id], { columns: 80, rows: 24 });
		await second.shows('size 80x24\nkeys "a\\u001b[A"');
		second.type("q");
		await second.shows("code 7, icanon echo");
		expect(second.modes()).toEqual({ screen: "normal", pastes: false, mouse: "none" });
		expect(second.rows().join("\n")).toContain(`${id} exited with code 7.`);
	});

	test("the terminal is restored when the command is told to end, and another key can leave", async () => {
		// Nothing of its screen is in what is replayed.
		const noise = `stdout.write("\\x1b[0m".repeat(50_000));`;
		const argv = [process.execPath, "-e", FULL_SCREEN + noise];
		const id = await begin(here, argv, { pty: { rows: 24, cols: 80 } });
		await until(here, id, ({ logSize }) => logSize > 200_000);
		const terminal = attach([id, "--detach-key", "ctrl-a"]);
		await terminal.shows("size 80x24");
		expect(terminal.modes()).toEqual({ screen: "alternate", pastes: true, mouse: "vt200" });
		const [command = ""] = readFileSync(`/proc/${terminal.pid}/task/${terminal.pid}/children`, "utf8").split(
			" ",
		);
		process.kill(Number(command), "SIGTERM");
		await terminal.shows("code 143, icanon echo");
		expect(terminal.modes()).toEqual({ screen: "normal", pastes: false, mouse: "none" });
		const second = attach([id, "--detach-key", "^a"]);
		await second.shows("size 80x24");
		second.type("x\u001d\u0001");
		await second.shows("code 0, icanon echo");
		const third = attach([id]);
		await third.shows('keys "x\\u001d"');
		await call(["kill", id], at(here.home));
		await third.shows(/was killed \(SIG\w+\)\.\ncode 1(43|37|29), icanon echo/);
	});

	test("a process on pipes gets lines, its prompt stands before them, and Ctrl-D ends its input", async () => {
		const id = await begin(here, [
			"sh",
			"-c",
			"echo hello; printf 'name? '; read name; printf '\\033[2Jyou are %s\\n' \"$name\"; cat; echo bye; exit 2",
		]);
		await until(here, id, ({ logSize }) => logSize === 12);
		const terminal = attach([id]);
		await terminal.shows("hello\nname?");
		terminal.type("Adx\u007fa");
		await terminal.shows("name? Ada");
		terminal.type("\r");
		await terminal.shows("name? Ada\nyou are Ada");
		terminal.type("more\r");
		await terminal.shows("more\nmore");
		terminal.type("\u0004");
		await terminal.shows(`bye\n${id} exited with code 2.\ncode 2, icanon echo`);
	});

	test("the host's death ends it, with the terminal restored", async () => {
		const before = here;
		here = await place();
		const id = await begin(here, [process.execPath, "-e", FULL_SCREEN], { pty: { rows: 24, cols: 80 } });
		const terminal = attach([id]);
		await terminal.shows("size 80x24");
		process.kill(here.host.hostPid, "SIGKILL");
		await terminal.shows(/died\. `keryx ps` shows what is still running\.\s+code 1, icanon echo/);
		await call(["kill", id], at(here.home));
		here = before;
	});

	test("is refused without a terminal, for what has ended, and for a key that cannot be", async () => {
		const id = await begin(here, ["true"]);
		await until(here, id, hasEnded);
		const piped = await call(["attach", id], at(here.home));
		expect(piped).toMatchObject({ code: 2, stderr: expect.stringContaining(`keryx logs -f ${id}`) });
		const ended: Run = await call(["attach", id], at(here.home, 80));
		expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining(`${id} exited with code 0`) });
		for (const key of ["x", "ctrl-m", "ctrl-[", "ctrl-"])
			expect(await call(["attach", id, "--detach-key", key], at(here.home, 80))).toMatchObject({ code: 2 });
	});
});
