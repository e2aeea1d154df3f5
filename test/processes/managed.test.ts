// A program whose exit is known before its last output has come, as the kernel may tell it.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LogWriter } from "../../src/processes/host/log-writer.ts";
import { ManagedProcess } from "../../src/processes/host/managed.ts";
import type { Exit, TakeOutput } from "../../src/processes/host/start.ts";
import type { ProcessInfo } from "../../src/processes/index.ts";
import { createVirtualClock, type VirtualClock } from "../../src/testing/virtual-clock.ts";

/** A program that is silent for so long after its exit has said everything. */
const SILENT_MS = 250;
const ALMOST_SILENT_MS = 50;
const NOBODY = { bootId: "", pid: 2 ** 30, startTime: "" };
let folder: string;
let clock: VirtualClock;

beforeEach(() => {
	clock = createVirtualClock(0);
	folder = mkdtempSync(join(tmpdir(), "keryx-managed-"));
});

afterEach(() => rmSync(folder, { recursive: true }));

/** A program in the test's hands. */
function hold(recorded: Promise<void> = Promise.resolve()) {
	const output = new PassThrough();
	const exit = Promise.withResolvers<Exit>();
	const told = Promise.withResolvers<ProcessInfo>();
	let take: TakeOutput = () => true;
	const allRead = Promise.withResolvers<void>();
	const log = new LogWriter(folder, 10_000);
	let isTold = false;
	let isEnding = false;
	let isAllRead = false;
	void allRead.promise.then(() => (isAllRead = true));
	log.settle = () => {
		isEnding = true;
		return LogWriter.prototype.settle.call(log);
	};
	let free = Promise.withResolvers<void>();
	free.resolve();
	output.resume = () => {
		free.resolve();
		return output;
	};
	new ManagedProcess({
		id: "proc_held",
		folder,
		meta: { argv: ["x"], cwd: "/", pty: null, startedAt: 1, host: NOBODY, identity: NOBODY },
		started: {
			pid: NOBODY.pid,
			open: (given) => {
				take = given;
				return {
					output: output as unknown as Socket,
					input: new PassThrough() as unknown as Socket,
					endInput: () => {},
				};
			},
			onExit: (listener) => void exit.promise.then(listener),
			resize: null,
		},
		log,
		get recorded() {
			allRead.resolve();
			return recorded;
		},
		clock,
		onEnd: ({ info }) => {
			isTold = true;
			told.resolve(info);
		},
		onDone: () => {},
	});
	return {
		exit,
		told: told.promise,
		isTold: () => isTold,
		/** Nothing more is waited for from the program itself. */
		allRead: allRead.promise,
		isAllRead: () => isAllRead,
		/** The log is closed for the end: from here on it is written and told. */
		isEnding: () => isEnding,
		/** Waits while the disk is busy with the last ones: meanwhile no time passes by the clock. */
		print: async (text: string) => {
			await free.promise;
			free = Promise.withResolvers<void>();
			if (take(Buffer.from(text))) free.resolve();
			return text.length;
		},
		close: () => output.destroy(),
	};
}

const isEndWritten = () => existsSync(join(folder, "end.json"));

test("output that comes after the exit is in the log before the end is told", async () => {
	const program = hold();
	program.exit.resolve({ code: 0, signal: null });
	let printed = 0;
	for (let n = 0; n < 30; n++) {
		printed += await program.print("x");
		await clock.advance(ALMOST_SILENT_MS);
		expect(program.isAllRead()).toBe(false);
	}
	program.close();
	expect(await program.told).toMatchObject({ status: "exited", logSize: printed });
	expect(isEndWritten()).toBe(true);
});

test("where the output stays open and silent, the end is told all the same", async () => {
	const program = hold();
	await program.print("said");
	program.exit.resolve({ code: 3, signal: null });
	// What was said is written by the disk's time: silence begins after it.
	while (!program.isTold()) await clock.advance(SILENT_MS);
	expect(await program.told).toMatchObject({ end: { code: 3 }, logSize: 4 });
	program.close();
});

test("an end is not told before the beginning is recorded", async () => {
	const recorded = Promise.withResolvers<void>();
	const program = hold(recorded.promise);
	program.exit.resolve({ code: null, signal: "SIGHUP" });
	program.close();
	await program.allRead;
	await clock.advance(SILENT_MS);
	expect(program.isEnding()).toBe(false);
	expect(isEndWritten()).toBe(false);
	recorded.resolve();
	expect((await program.told).end).toMatchObject({ cause: "signal", signal: "SIGHUP" });
});
