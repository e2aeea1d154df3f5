// Divides a large restore's writes among threads. Most of the time is spent in system calls that wait for the disk's journal, and several
// threads wait in parallel. All have ended when this returns: nothing writes after the lock is released.
import { availableParallelism } from "node:os";
import { parentOf } from "../names.ts";
import type { Unflushed } from "./flush.ts";
import { type Write, type WriteAnswer, type WriteRequest, writeShare } from "./writes.ts";

/** With fewer files, writing is faster than starting a thread. */
const FEWEST = 2000;
const MOST_SHARES = 4;

export interface AllWritten extends Omit<WriteAnswer, "left"> {
	readonly left: readonly Unflushed[];
}

/** A thread that can write a share. */
export interface Helper {
	ask(what: "write", share: WriteRequest): Promise<WriteAnswer>;
	close(): Promise<void>;
}

type Common = Pick<WriteRequest, "root" | "repository" | "id" | "steps">;

export async function writeAll(
	common: Common,
	writes: readonly Write[],
	startHelper: () => Helper,
): Promise<AllWritten> {
	const starts = startsOf(writes);
	const shares = starts.map((from, share): WriteRequest => {
		const own = writes.slice(from, starts[share + 1]);
		const numbers = own.map((_, n) => from + n);
		return { ...common, share, shares: starts.length, writes: own, numbers };
	});
	const answers = await together(shares, startHelper);
	return {
		outcomes: new Map(answers.flatMap(({ outcomes }) => [...outcomes])),
		written: new Map(answers.flatMap(({ written }) => [...written])),
		left: answers.map(({ left }) => left),
	};
}

/** The first share is written by this thread. */
async function together(
	[own, ...others]: readonly WriteRequest[],
	startHelper: () => Helper,
): Promise<readonly WriteAnswer[]> {
	const helpers = others.map(startHelper);
	try {
		const answers = await Promise.allSettled([
			...others.map((share, n) => (helpers[n] as Helper).ask("write", share)),
			...(own ? [writeShare(own)] : []),
		]);
		return answers.map((answer) => {
			if (answer.status === "rejected") throw answer.reason;
			return answer.value;
		});
	} finally {
		await Promise.all(helpers.map((helper) => helper.close()));
	}
}

/** Where each share starts: never within a folder. */
function startsOf(writes: readonly Write[]): readonly number[] {
	const many = Math.min(MOST_SHARES, availableParallelism(), Math.floor(writes.length / FEWEST) + 1);
	const starts = [0];
	let before = "";
	for (const [n, { path }] of writes.entries()) {
		const folder = parentOf(path);
		if (folder !== before && n >= (starts.length * writes.length) / many) starts.push(n);
		before = folder;
	}
	return starts;
}
