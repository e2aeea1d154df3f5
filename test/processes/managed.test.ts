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

const NOBODY = { bootId: "", pid: 2 ** 30, startTime: "" };
let folder: string;

beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "keryx-managed-"));
});

afterEach(() => rmSync(folder, { recursive: true }));

/** A program in the test's hands. */
function hold(recorded: Promise<void> = Promise.resolve()) {
	const output = new PassThrough();
	const exit = Promise.withResolvers<Exit>();
	const told = Promise.withResolvers<ProcessInfo>();
	let take: TakeOutput = () => true;
	let isTold = false;
	let isBusy = false;
	output.resume = () => {
		isBusy = false;
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
		log: new LogWriter(folder, 10_000),
		recorded,
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
		/** Answers how many bytes were taken: none while the host is still busy with the last ones. */
		print: (text: string) => {
			if (isBusy) return 0;
			isBusy = !take(Buffer.from(text));
			return text.length;
		},
		close: () => output.destroy(),
	};
}

const isEndWritten = () => existsSync(join(folder, "end.json"));

/** Until its end is told, but no longer than a program's last words may take. */
async function pause(program: { isTold(): boolean }): Promise<void> {
	for (const until = performance.now() + 60; !program.isTold() && performance.now() < until; )
		await new Promise((resolve) => setImmediate(resolve));
}

test("output that comes after the exit is in the log before the end is told", async () => {
	const program = hold();
	program.exit.resolve({ code: 0, signal: null });
	let printed = 0;
	let longestSilence = 0;
	let last = performance.now();
	for (const until = last + 300; !program.isTold() && performance.now() < until; ) {
		printed += program.print("x");
		longestSilence = Math.max(longestSilence, performance.now() - last);
		last = performance.now();
		await new Promise((resolve) => setImmediate(resolve));
	}
	// On a machine that stood still meanwhile the program was silent, and its end may be told.
	if (longestSilence < 50) {
		expect(program.isTold()).toBe(false);
		expect(isEndWritten()).toBe(false);
	}
	program.close();
	expect(await program.told).toMatchObject({ status: "exited", logSize: printed });
	expect(isEndWritten()).toBe(true);
});

test("where the output stays open and silent, the end is told all the same", async () => {
	const program = hold();
	program.print("said");
	program.exit.resolve({ code: 3, signal: null });
	expect(await program.told).toMatchObject({ end: { code: 3 }, logSize: 4 });
	program.close();
});

test("an end is not told before the beginning is recorded", async () => {
	const recorded = Promise.withResolvers<void>();
	const program = hold(recorded.promise);
	program.exit.resolve({ code: null, signal: "SIGHUP" });
	program.close();
	await pause(program);
	expect(isEndWritten()).toBe(false);
	recorded.resolve();
	expect((await program.told).end).toMatchObject({ cause: "signal", signal: "SIGHUP" });
});
