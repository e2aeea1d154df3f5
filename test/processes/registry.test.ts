// Processes on the store, with a real host and real programs: begun, followed, ended once, whatever dies in between.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ConversationId } from "../../src/domain/index.ts";
import { KeryxError } from "../../src/errors.ts";
import {
	createProcesses,
	localMachine,
	type Processes,
	type ProcessesOptions,
	type ProcessMachine,
	type ProcessSettings,
	type StartRequest,
} from "../../src/processes/index.ts";
import {
	createSecrets,
	type Ids,
	openStore,
	type Process,
	type Store,
	type Woken,
} from "../../src/store/index.ts";
import { beginArgs } from "../../src/testing/conformance/store/processes.ts";
import { createVirtualClock, type VirtualClock } from "../../src/testing/index.ts";
import { countedIds, HOUR, MINUTE } from "../support/clock.ts";
import { isRunning, ProcessHome } from "../support/process-home.ts";
import { eventually } from "../support/soon.ts";

const OPERATOR = { kind: "operator" } as const;
const DESTINATION = { platform: "telegram", account: "", chatId: "1" };
const SECRET = "correct horse battery staple";
const LONG = 20_000;

let home: ProcessHome;
let store: Store;
let clock: VirtualClock;
let processes: Processes;
let woken: Woken[];
let log: string[];
let conversation: ConversationId;
let settings: ProcessSettings;
let ids: Ids;

beforeEach(async () => {
	home = new ProcessHome();
	// The host has a clock of its own.
	clock = createVirtualClock(Date.now());
	log = [];
	settings = {
		maxRunning: 20,
		maxPerConversation: 10,
		maxLogBytes: 1024 * 1024,
		keepDays: 7,
		onShutdown: "keep",
	};
	ids = countedIds();
	store = await openStore({
		url: "sqlite::memory:",
		clock,
		ids,
		secrets: createSecrets(new Map([["TEST", SECRET]])),
	});
	conversation = await talk("1");
	await openProcesses();
});

afterEach(async () => {
	await processes.close();
	await store.close();
	await home.end();
});

async function openProcesses(more: Partial<ProcessesOptions> = {}): Promise<void> {
	woken = [];
	processes = createProcesses({
		store,
		machine: home.place,
		clock,
		ids,
		settings: () => settings,
		render: (text, { id, destination }) => [{ id, kind: "notice", destination, body: { text, plain: text } }],
		log: (message, error) => log.push(`${message}: ${String(error)}`),
		...more,
	});
	processes.onWoken((one) => woken.push(one));
	await processes.open();
}

async function restart(more?: Partial<ProcessesOptions>): Promise<void> {
	await processes.close();
	await openProcesses(more);
}

async function talk(chat: string): Promise<ConversationId> {
	const accepted = await store.accept({
		kind: "person",
		source: { platform: "telegram", chat_id: chat, chat_type: "dm", user_id: chat },
		platformMessage: "1",
		content: "hello",
		routing: { groupSessionsPerUser: true, threadSessionsPerUser: false, profile: null },
		as: { kind: "accept" },
	});
	return accepted.conversation as ConversationId;
}

function start(command: string, more: Partial<StartRequest> = {}, owner = conversation) {
	return processes.start(
		{
			command,
			argv: ["/bin/sh", "-c", command],
			cwd: home.path,
			env: { PATH: process.env.PATH ?? "" },
			background: true,
			pty: null,
			notify: "result",
			...more,
		},
		{ conversation: owner, principal: null, turn: null, role: null, destination: DESTINATION },
	);
}

/** As a Keryx leaves it that dies before it has asked for a start. */
async function beginOnly(id: string): Promise<void> {
	const begun = await store.beginProcess(beginArgs(conversation, id, { destination: DESTINATION }));
	expect(begun.kind).toBe("begun");
}

const ended = (id: string) => processes.wait(OPERATOR, id, { ms: LONG });
const output = async (id: string) => (await processes.tail(OPERATOR, id, 100_000)).text;
const notes = async () =>
	(await store.waitingItems({ scope: OPERATOR, after: 0, limit: 100 }))
		.filter(({ kind }) => kind === "process")
		.map(({ content }) => String(content));

describe("a process", () => {
	test("runs, prints, ends and is told of once, with all it printed", async () => {
		const begun = await start("seq 1 1000; exit 3");
		expect(begun).toMatchObject({ status: "running", identity: { pid: expect.any(Number) } });
		expect(await ended(begun.id)).toMatchObject({ status: "exited", exitCode: 3 });
		expect(woken).toMatchObject([{ conversation }]);
		const all = Array.from({ length: 1000 }, (_, n) => `${n + 1}\n`).join("");
		expect(await output(begun.id)).toBe(all);
		expect(await notes()).toEqual([
			expect.stringContaining(`${begun.id} (\`seq 1 1000; exit 3\`) exited with code 3`),
		]);
		expect((await notes())[0]).toContain(all);
		await restart();
		expect(woken).toEqual([]);
		expect(await notes()).toHaveLength(1);
	});

	test("that prints more than a note takes is told of with its end, and where the rest is", async () => {
		const { id } = await start("seq 1 20000");
		await ended(id);
		const [note = ""] = await notes();
		expect(note).toContain(`process log ${id} shows all of it`);
		expect(note).toContain("\n20000\n");
		expect(note.length).toBeLessThan(9000);
	});

	test("that cannot be started says why, and has an end", async () => {
		const begun = await start("true", { cwd: join(home.path, "nowhere") });
		expect(begun).toMatchObject({ status: "failed_start", cause: expect.stringContaining("nowhere") });
		const missing = await start("x", { argv: ["/no/such/shell", "-c", "true"] });
		expect(missing).toMatchObject({
			status: "failed_start",
			cause: expect.stringContaining("/no/such/shell"),
		});
		expect(await notes()).toHaveLength(2);
	});

	test("beyond the limits is not started", async () => {
		settings = { ...settings, maxPerConversation: 1, maxRunning: 2 };
		const { id } = await start("sleep 100");
		await expect(start("true")).rejects.toMatchObject({ code: "process.limit" });
		const other = await talk("2");
		await start("sleep 100", {}, other);
		await expect(start("true", {}, await talk("3"))).rejects.toMatchObject({ code: "process.limit" });
		await processes.kill(OPERATOR, id);
		await start("true");
	});

	test("of another conversation is not there", async () => {
		const { id } = await start("sleep 100");
		const scope = { kind: "conversation", conversation: await talk("2"), standing: "owner" } as const;
		const attempts = [
			processes.find(scope, id),
			processes.poll(scope, id, 100),
			processes.tail(scope, id, 100),
			processes.log(scope, id, { limit: 1 }),
			processes.wait(scope, id, { ms: 1 }),
			processes.kill(scope, id),
			processes.write(scope, id, Buffer.from("x")),
			processes.endInput(scope, id),
			processes.resize(scope, id, { rows: 1, cols: 1 }),
		];
		for (const attempt of attempts) await expect(attempt).rejects.toMatchObject({ code: "store.not_found" });
		expect(await processes.list(scope, 10)).toEqual([]);
		expect((await processes.find(OPERATOR, id)).status).toBe("running");
	});

	test("takes input until it is closed, then says so", async () => {
		const { id } = await start("cat; echo over");
		await processes.write(OPERATOR, id, Buffer.from("typed\n"));
		await eventually(async () => expect(await output(id)).toBe("typed\n"));
		await processes.endInput(OPERATOR, id);
		await ended(id);
		expect(await output(id)).toBe("typed\nover\n");
		await expect(processes.write(OPERATOR, id, Buffer.from("x"))).rejects.toMatchObject({
			code: "process.ended",
		});
	});

	test("on a terminal has the size it was given, and another after a resize", async () => {
		const { id } = await start("stty size; read x; stty size", { pty: { rows: 30, cols: 120 } });
		await eventually(async () => expect(await output(id)).toContain("30 120"));
		await processes.resize(OPERATOR, id, { rows: 10, cols: 40 });
		await processes.write(OPERATOR, id, Buffer.from("\r"));
		await ended(id);
		expect(await output(id)).toContain("10 40");
	});
});

describe("reading", () => {
	test("a poll answers what is new, each byte once, and never half a character", async () => {
		const { id } = await start("cat");
		const poll = async () => (await processes.poll(OPERATOR, id, 1000)).output.text;
		const print = async (bytes: readonly number[], size: number) => {
			await processes.write(OPERATOR, id, Buffer.from(bytes));
			await eventually(async () =>
				expect((await home.place.read(id, { from: 0, limit: 0 })).size).toBe(size),
			);
		};
		await print([0x61, 0xc3], 2);
		expect(await poll()).toBe("a");
		expect(await poll()).toBe("");
		await print([0xbc, 0x1b, 0x5b], 5);
		expect(await poll()).toBe("ü");
		await print([0x33, 0x31, 0x6d, 0x62], 9);
		expect(await poll()).toBe("b");
		await print([0xff, 0xfe], 11);
		expect(await poll()).toBe("��");
		await print([0xc3], 12);
		expect(await poll()).toBe("");
		await processes.endInput(OPERATOR, id);
		await ended(id);
		expect(await poll()).toBe("�");
	});

	test("a poll of much shows its end, says that it is cut, and goes on behind it", async () => {
		const { id } = await start("seq 1 5000");
		await ended(id);
		const { output: first } = await processes.poll(OPERATOR, id, 100);
		expect(first).toMatchObject({ cut: true });
		expect(first.text).toHaveLength(100);
		expect(first.text.endsWith("\n5000\n")).toBe(true);
		expect((await processes.poll(OPERATOR, id, 100)).output.text).toBe("");
	});

	test("lines are the last ones, or those asked for, over the whole log", async () => {
		const { id } = await start("seq 1 1000; printf 'no end'");
		await ended(id);
		expect(await processes.log(OPERATOR, id, { limit: 2 })).toEqual({
			lines: ["1000", "no end"],
			total: 1001,
			lost: 0,
			first: 999,
		});
		expect(await processes.log(OPERATOR, id, { offset: 10, limit: 2 })).toEqual({
			lines: ["11", "12"],
			total: 1001,
			lost: 0,
			first: 10,
		});
		expect(await processes.log(OPERATOR, id, { offset: 5000, limit: 2 })).toMatchObject({ lines: [] });
	});

	test("what is no text reads as something, progress bars as their end, secrets not at all", async () => {
		const { id } = await start(
			`printf '\\377\\000\\001x\\n'; printf '10%%\\r100%%\\n'; printf '\\033[31mred\\033[0m\\n'; echo correct "horse battery staple"`,
		);
		await ended(id);
		const { lines } = await processes.log(OPERATOR, id, { limit: 10 });
		expect(lines).toEqual(["�x", "100%", "red", "\u0024{secret:TEST}"]);
		expect(await output(id)).not.toContain(SECRET);
		expect((await notes()).join()).not.toContain(SECRET);
		expect((await processes.output(OPERATOR, id, { most: 1000, mark: () => "" })).text).not.toContain(SECRET);
	});

	test("a secret where a long line is cut leaves no part of itself", async () => {
		const { id } = await start(
			`head -c 19990 /dev/zero | tr '\\0' a; printf 'correct %s' "horse battery staple"; head -c 100 /dev/zero | tr '\\0' b`,
		);
		await ended(id);
		const { lines } = await processes.log(OPERATOR, id, { limit: 1 });
		expect(lines.join()).toMatch(/^a{19990}…$/);
	});

	test("where output is cut, no part of a secret's name remains", async () => {
		const { id } = await start(`echo begin; echo correct "horse battery staple"; echo end`);
		await ended(id);
		for (let most = 1; most < 25; most++) {
			const { text } = await processes.output(OPERATOR, id, { most, mark: () => "..." });
			const tail = await processes.tail(OPERATOR, id, most);
			expect(text.replace("\u0024{secret:TEST}", ""), `${most}`).not.toMatch(/[$ET}]/);
			expect(tail.text.replace("\u0024{secret:TEST}", ""), `${most}`).not.toMatch(/[$ET}]/);
		}
	});

	test("output beyond what is kept has both its ends, and a line for what was cut out", async () => {
		const { id } = await start("seq 1 2000000");
		await ended(id);
		const { lines } = await processes.log(OPERATOR, id, { offset: 0, limit: 2_000_000 });
		expect(lines[0]).toBe("1");
		expect(lines.at(-1)).toBe("2000000");
		expect(lines.filter((line) => /^\[\d+ bytes were removed here\]$/.test(line))).toHaveLength(1);
		const whole = Array.from({ length: 2_000_000 }, (_, n) => `${n + 1}\n`.length).reduce((a, b) => a + b, 0);
		const kept = readdirSync(join(home.path, "processes", id))
			.filter((name) => name.startsWith("log."))
			.reduce((sum, name) => sum + statSync(join(home.path, "processes", id, name)).size, 0);
		expect(await processes.find(OPERATOR, id)).toMatchObject({ logBytes: whole, logLost: whole - kept });
		// The mark is no line of the program, and is counted as none.
		expect(await processes.log(OPERATOR, id, { limit: 1 })).toMatchObject({
			lost: whole - kept,
			total: lines.length - 1,
			first: lines.length - 2,
		});
		const both = await processes.output(OPERATOR, id, { most: 1000, mark: (left) => `<${left}>` });
		expect(both.truncated).toBe(true);
		expect(both.text.startsWith("1\n2\n")).toBe(true);
		expect(both.text.endsWith("\n2000000\n")).toBe(true);
		expect(both.text).toMatch(/<about \d+ bytes>/);
		expect(both.text.length).toBeLessThan(1100);
	});
});

describe("waiting", () => {
	test("answers at the end, after the time, or when it is called off", async () => {
		const { id } = await start("read x");
		expect(await processes.wait(OPERATOR, id, { ms: 0, signal: AbortSignal.abort() })).toMatchObject({
			status: "running",
		});
		const timed = processes.wait(OPERATOR, id, { ms: 1000 });
		await processes.find(OPERATOR, id);
		clock.pass(1000);
		expect(await timed).toMatchObject({ status: "running" });
		const controller = new AbortController();
		const called = processes.wait(OPERATOR, id, { ms: LONG, signal: controller.signal });
		controller.abort();
		expect(await called).toMatchObject({ status: "running" });
		const waited = ended(id);
		await processes.endInput(OPERATOR, id);
		expect(await waited).toMatchObject({ status: "exited" });
		expect(await ended(id)).toMatchObject({ status: "exited" });
	});
});

test("whatever else is kept is not looked at: neither by a start, an end, a list nor a restart", async () => {
	const kept = join(home.path, "processes", "proc_000000000000");
	mkdirSync(kept, { recursive: true });
	// Whoever reads it fails.
	writeFileSync(join(kept, "meta.json"), "{");
	const { id } = await start("echo x");
	await ended(id);
	expect(await processes.leftBehind(id)).toEqual([]);
	expect(await processes.list(OPERATOR, 10)).toMatchObject([{ id, status: "exited" }]);
	const running = await start("read x; exit 4");
	await restart();
	await processes.endInput(OPERATOR, running.id);
	expect(await ended(running.id)).toMatchObject({ status: "exited" });
	await processes.close();
	await home.killHost();
	await openProcesses();
	// A host that answers late on a busy machine is spoken of, too.
	expect(log.filter((line) => line.includes("SyntaxError"))).toEqual([]);
	rmSync(kept, { recursive: true });
});

describe("killing", () => {
	test("ends it and everything it started, and is not told to the conversation that did it", async () => {
		const { id, identity } = await start("sleep 1000 & sleep 1000");
		const killed = await processes.kill({ kind: "conversation", conversation, standing: "owner" }, id);
		expect(killed).toMatchObject({ result: "killed", survivors: [], process: { status: "killed" } });
		expect(isRunning(identity?.pid as number)).toBe(false);
		expect(await processes.kill(OPERATOR, id)).toMatchObject({ result: "already_exited" });
		expect(await notes()).toEqual([]);
	});

	test("finds what has left its group, its parents and its environment, by the streams it was given", async () => {
		const { id } = await start("env -i setsid -f sleep 918273; sleep 1000");
		const escaped = await eventually(() => {
			const found = readdirSync("/proc").filter(
				(pid) => /^\d+$/.test(pid) && cmdlineOf(pid) === "sleep\x00918273\0" && environOf(pid) === "",
			);
			expect(found).toHaveLength(1);
			return Number(found[0]);
		});
		expect(await processes.kill(OPERATOR, id)).toMatchObject({ result: "killed" });
		expect(isRunning(escaped)).toBe(false);
	});

	test("by the operator is told", async () => {
		const { id } = await start("sleep 1000");
		await processes.kill(OPERATOR, id);
		expect(await notes()).toEqual([expect.stringContaining("was killed (SIGTERM)")]);
	});

	test("of all of one conversation leaves the others", async () => {
		const other = await start("sleep 1000", {}, await talk("2"));
		await Promise.all([start("sleep 1000"), start("trap '' TERM; sleep 0.2"), start("sleep 1000")]);
		const killed = await processes.killAll(OPERATOR, conversation);
		expect(killed.map(({ result }) => result)).toEqual(["killed", "killed", "killed"]);
		expect((await processes.find(OPERATOR, other.id)).status).toBe("running");
	});

	test("what an ended one left behind is listed, and can be killed", async () => {
		const { id } = await start("sleep 1000 >/dev/null 2>&1 & echo $!");
		await ended(id);
		const pid = Number(await output(id));
		expect((await notes())[0]).toContain(`still running: pid ${pid}.`);
		expect(await processes.list(OPERATOR, 10)).toMatchObject([{ id, survivors: [pid] }]);
		expect(await processes.kill(OPERATOR, id)).toMatchObject({ result: "killed", survivors: [] });
		expect(isRunning(pid)).toBe(false);
		expect(await processes.kill(OPERATOR, id)).toMatchObject({ result: "already_exited" });
	});
});

describe("after a restart", () => {
	test("what ended meanwhile has its end, its output and its one note; what goes on is followed", async () => {
		const short = await start("read x; echo done; exit 4");
		const long = await start("cat");
		await processes.close();
		const backend = await home.place.find();
		await backend?.endInput(short.id);
		await eventually(async () => expect((await backend?.get(short.id))?.status).toBe("exited"));
		await backend?.close();
		await openProcesses();
		expect(woken).toHaveLength(1);
		expect(await processes.find(OPERATOR, short.id)).toMatchObject({ status: "exited", exitCode: 4 });
		expect(await notes()).toEqual([expect.stringContaining("done")]);
		await processes.write(OPERATOR, long.id, Buffer.from("still here\n"));
		await processes.endInput(OPERATOR, long.id);
		expect(await ended(long.id)).toMatchObject({ status: "exited", exitCode: 0 });
		expect(woken).toHaveLength(2);
	});

	test("one that was begun and never started has failed", async () => {
		await beginOnly("proc_00000000abcd");
		await restart();
		expect(await processes.find(OPERATOR, "proc_00000000abcd")).toMatchObject({ status: "failed_start" });
		expect(await notes()).toEqual([expect.stringContaining("could not be started")]);
		expect(existsSync(join(home.path, "processes"))).toBe(false);
	});

	test("one that a call waited for goes on in the background, and its end is told", async () => {
		const { id } = await start("read x; echo done", { background: false });
		await restart();
		expect(await processes.find(OPERATOR, id)).toMatchObject({ background: true, status: "running" });
		await processes.endInput(OPERATOR, id);
		await ended(id);
		expect(await notes()).toEqual([expect.stringContaining("done")]);
	});

	test("without its host it is lost, with what it printed and who lives on; that can be killed", async () => {
		const { id, identity } = await start("echo before; exec sleep 1000");
		await eventually(async () => expect(await output(id)).toBe("before\n"));
		await processes.close();
		await home.killHost();
		await openProcesses();
		expect(await processes.find(OPERATOR, id)).toMatchObject({ status: "lost", exitCode: null });
		const [note = ""] = await notes();
		expect(note).toContain("was lost");
		expect(note).toContain("before");
		if (!isRunning(identity?.pid as number)) return;
		expect(note).toContain(`At that time pid ${identity?.pid} was still running.`);
		// It may be gone when that is read.
		expect((await processes.find(OPERATOR, id)).cause).not.toContain("alive");
		expect(await processes.list(OPERATOR, 10)).toMatchObject([{ id, survivors: [identity?.pid] }]);
		expect(await processes.kill(OPERATOR, id)).toMatchObject({ result: "killed" });
		expect(isRunning(identity?.pid as number)).toBe(false);
	});

	test("does not start a host for nothing", async () => {
		await restart();
		expect(await home.place.find()).toBeNull();
	});
});

test("pipes that a host left when it died go with its lost process", async () => {
	const { id } = await start("exec sleep 1000");
	await processes.close();
	await home.killHost();
	const folder = join(home.path, "processes", id);
	execFileSync("/bin/sh", ["-c", 'mkfifo "$0/stdin" "$0/stdout"', folder]);
	await openProcesses();
	await processes.kill(OPERATOR, id);
	expect(readdirSync(folder).filter((name) => name.startsWith("std"))).toEqual([]);
});

describe("when the host dies", () => {
	test("its processes are lost at once, and the next one gets another host", async () => {
		const { id } = await start("exec sleep 1000");
		await home.killHost();
		await eventually(async () => {
			// A host that is still dying is looked at again.
			clock.pass(1000);
			expect(await processes.find(OPERATOR, id)).toMatchObject({ status: "lost" });
		});
		expect(woken).toHaveLength(1);
		const next = await start("echo again");
		await ended(next.id);
		expect(await output(next.id)).toBe("again\n");
	});
});

describe("while the host does not answer", () => {
	const stopped = async (work: () => Promise<void>) => {
		const host = (await home.hostPid()) as number;
		process.kill(host, "SIGSTOP");
		try {
			await work();
		} finally {
			process.kill(host, "SIGCONT");
		}
	};

	test("Keryx starts, says what is out of reach, and takes it up when the host answers again", async () => {
		const { id } = await start("read x; echo done");
		await processes.close();
		await stopped(async () => {
			await openProcesses();
			expect(log).toEqual([expect.stringContaining(`does not answer; out of reach: ${id}`)]);
			expect(await processes.list(OPERATOR, 10)).toMatchObject([
				{ id, status: "running", isUnreachable: true },
			]);
		});
		await eventually(async () => {
			clock.pass(1000);
			expect(await processes.list(OPERATOR, 10)).toMatchObject([{ id, isUnreachable: false }]);
		});
		await processes.endInput(OPERATOR, id);
		expect(await ended(id)).toMatchObject({ status: "exited", exitCode: 0 });
		expect(await notes()).toEqual([expect.stringContaining("done")]);
		expect(log).toHaveLength(1);
	});

	test("what it holds is said to be out of reach, also by a Keryx that was connected before, until it answers again", async () => {
		const { id } = await start("read x");
		await restart({ machine: localMachine(home.path, { answerMs: 1000 }) });
		const isUnreachable = async () => [
			(await processes.list(OPERATOR, 10)).map((one) => one.isUnreachable),
			await processes.isUnreachable(await processes.find(OPERATOR, id)),
		];
		await stopped(async () => expect(await isUnreachable()).toEqual([[true], true]));
		await eventually(async () => {
			clock.pass(1000);
			expect(await isUnreachable()).toEqual([[false], false]);
		});
	});

	test("a command that is given up is never started, however late the host reads of it", async () => {
		let wasSent = false;
		const giveUp: ProcessMachine["giveUp"] = (...asked) => {
			wasSent = true;
			return home.place.giveUp(...asked);
		};
		await restart({ machine: { ...home.place, giveUp } });
		await start("sleep 1000");
		const giving = new AbortController();
		const mark = join(home.path, "ran");
		let given: Promise<Process> | undefined;
		await stopped(async () => {
			given = start(`touch ${mark}`, { signal: giving.signal });
			await eventually(async () => expect(await processes.list(OPERATOR, 10)).toHaveLength(2));
			giving.abort();
			expect(await given).toMatchObject({
				status: "failed_start",
				cause: expect.stringContaining("cancelled before the process host started it"),
			});
		});
		// What is asked for later is read later.
		const later = await start("true");
		await ended(later.id);
		expect(existsSync(mark)).toBe(false);
		expect(await processes.find(OPERATOR, (await given)?.id ?? "")).toMatchObject({ status: "failed_start" });
		// Its folder is what keeps it from being started.
		processes.discard((await given)?.id ?? "");
		await restart();
		expect(existsSync(join(home.path, "processes", (await given)?.id ?? ""))).toBe(wasSent);
	});

	test.each([
		["that the host has begun with", () => Promise.resolve(false)],
		["whose giving up cannot be written down", () => Promise.reject(new Error("ENOSPC"))],
	])("one %s is not given up", async (_, giveUp) => {
		await restart({ machine: { ...home.place, giveUp } });
		await start("sleep 1000");
		const giving = new AbortController();
		let given: Promise<Process> | undefined;
		await stopped(async () => {
			given = start("echo ran", { signal: giving.signal });
			await eventually(async () => expect(await processes.list(OPERATOR, 10)).toHaveLength(2));
			giving.abort();
		});
		const { id } = (await given) as Process;
		expect(await ended(id)).toMatchObject({ status: "exited", exitCode: 0 });
		expect(await output(id)).toBe("ran\n");
	});
});

describe("without anybody", () => {
	test("progress is told to where a process came from: only what is new, readable, at its interval", async () => {
		const { id } = await start("cat", { checkMs: 30_000 });
		const told = async () => {
			const { deliveries } = await store.claimDeliveries({ limit: 10, timeoutMs: 60_000 });
			for (const { id: delivery, claim } of deliveries)
				await store.settleDelivery({ id: delivery, claim, settlement: { kind: "sent", receipt: "r" } });
			return deliveries.map(({ body, destination }) => ({ text: body.text, destination }));
		};
		const print = async (text: string) => {
			const { size } = await home.place.read(id, { from: 0, limit: 0 });
			await processes.write(OPERATOR, id, Buffer.from(text));
			await eventually(async () =>
				expect((await home.place.read(id, { from: 0, limit: 0 })).size).toBe(size + Buffer.byteLength(text)),
			);
		};
		const check = async () => {
			const { nextCheckAt } = await processes.find(OPERATOR, id);
			clock.pass(30_000);
			await eventually(async () =>
				expect((await processes.find(OPERATOR, id)).nextCheckAt).not.toBe(nextCheckAt),
			);
		};
		await print(`\u001b[32m10%\r20%\u001b[0m ${SECRET}\n`);
		await check();
		expect(await told()).toEqual([
			{
				text: expect.stringMatching(/running for 30 s[\s\S]*\n20% \$\{secret:\w+\}\n/),
				destination: DESTINATION,
			},
		]);
		await check();
		expect(await told()).toEqual([]);
		await print("x".repeat(5000));
		await check();
		const [notice] = await told();
		expect(notice?.text.match(/x+/)?.[0]).toHaveLength(1000);
		await restart();
		await print("after");
		await check();
		expect(await told()).toMatchObject([{ text: expect.stringContaining("after") }]);
	});

	test("an ended one is removed with its log after so many days", async () => {
		const { id } = await start("echo x");
		await ended(id);
		expect(existsSync(join(home.path, "processes", id))).toBe(true);
		clock.pass(6 * 24 * HOUR);
		await restart();
		await processes.find(OPERATOR, id);
		clock.pass(2 * 24 * HOUR);
		await eventually(async () => expect(await store.processes({ scope: OPERATOR, limit: 10 })).toEqual([]));
		expect(existsSync(join(home.path, "processes", id))).toBe(false);
	});

	test("with nothing to do the host is let go", async () => {
		const { id } = await start("true");
		await ended(id);
		const host = (await home.hostPid()) as number;
		clock.pass(MINUTE);
		await eventually(() => expect(isRunning(host)).toBe(false));
		const next = await start("echo x");
		await ended(next.id);
		expect(await output(next.id)).toBe("x\n");
	});
});

describe("while the store is in trouble", () => {
	/** A store whose disk is full. Answers when it has been asked once more. */
	async function openFull() {
		let asked = 0;
		const trouble = { isFull: true };
		const full = new Proxy(store, {
			get: (target, name) => {
				const own: unknown = Reflect.get(target, name);
				if (name !== "beginProcess" && name !== "process") return own;
				return async (args: never) => {
					asked++;
					if (trouble.isFull) throw new KeryxError("store.full", "the disk is full");
					return (own as (args: never) => unknown).call(target, args);
				};
			},
		});
		await restart({ store: full });
		const oneMore = async () => {
			const before = asked;
			await eventually(() => {
				clock.pass(1000);
				expect(asked).toBeGreaterThan(before);
			});
		};
		return { trouble, oneMore };
	}

	test("a command waits for as long as somebody waits for it, and runs once", async () => {
		const { trouble, oneMore } = await openFull();
		const { signal } = new AbortController();
		const starting = start("echo ran >> ran; echo done", { signal });
		for (let n = 0; n < 40; n++) await oneMore();
		trouble.isFull = false;
		clock.pass(1000);
		const { id } = await starting;
		expect(await processes.wait(OPERATOR, id, { ms: LONG, signal })).toMatchObject({ exitCode: 0 });
		trouble.isFull = true;
		const read = processes.output(OPERATOR, id, { most: 100, mark: String, signal });
		for (let n = 0; n < 40; n++) await oneMore();
		trouble.isFull = false;
		clock.pass(1000);
		expect(await read).toMatchObject({ text: "done\n" });
		expect(readFileSync(join(home.path, "ran"), "utf8")).toBe("ran\n");
	});

	test("it is not started any more once nobody waits for it", async () => {
		const { oneMore } = await openFull();
		const waiting = new AbortController();
		const starting = start("echo ran >> ran", { signal: waiting.signal });
		const refused = expect(starting).rejects.toMatchObject({ code: "store.full" });
		for (let n = 0; n < 20; n++) await oneMore();
		waiting.abort();
		await oneMore();
		await refused;
		expect(existsSync(join(home.path, "ran"))).toBe(false);
	});
});

test("Keryx that is told to ends its processes with itself", async () => {
	settings = { ...settings, onShutdown: "kill" };
	const { id, identity } = await start("sleep 1000");
	await processes.close();
	expect(isRunning(identity?.pid as number)).toBe(false);
	expect(await store.process({ scope: OPERATOR, id })).toMatchObject({ status: "killed" });
});

test("what the last owner asked its host for may still be on its way: it is given a moment", async () => {
	const { id: other } = await start("sleep 1000");
	await beginOnly("proc_00000000abce");
	await restart();
	expect(await processes.find(OPERATOR, "proc_00000000abce")).toMatchObject({ status: "starting" });
	await eventually(async () => {
		clock.pass(1000);
		expect(await processes.find(OPERATOR, "proc_00000000abce")).toMatchObject({ status: "failed_start" });
	});
	expect(await processes.find(OPERATOR, other)).toMatchObject({ status: "running" });
});

test.each([
	["its host died before it had written down what it starts", "proc_00000000abcf.meta.json", "meta.json.new"],
	["a gateway gave it up and died before it could say so", "proc_00000000abcf", "given-up"],
])("%s: it has failed, though a host runs", async (_, folder, file) => {
	await start("sleep 1000");
	await beginOnly("proc_00000000abcf");
	mkdirSync(join(home.path, "processes", folder));
	writeFileSync(join(home.path, "processes", folder, file), '{"host":null}');
	await restart();
	await eventually(async () => {
		clock.pass(1000);
		expect(await processes.find(OPERATOR, "proc_00000000abcf")).toMatchObject({ status: "failed_start" });
	});
	await home.killHost();
	await restart();
	processes.discard("proc_00000000abcf");
	await processes.close();
	expect(readdirSync(join(home.path, "processes")).join()).not.toContain("abcf");
});

function environOf(pid: string): string | null {
	return readOf(`/proc/${pid}/environ`);
}

function cmdlineOf(pid: string): string | null {
	return readOf(`/proc/${pid}/cmdline`);
}

function readOf(file: string): string | null {
	try {
		return readFileSync(file, "latin1");
	} catch {
		return null;
	}
}
