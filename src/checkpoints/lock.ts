// One operation at a time per workspace: a queue in this process, and a lock file against other processes. The kernel releases a dead
// holder's lock at once; waiting is limited. The text file next to the lock names the holder for error messages.
import { readFile, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { KeryxError } from "../errors.ts";
import { tryLock } from "../store/index.ts";

const LOOK_AGAIN_MS = 25;

export class Locks {
	readonly #tails = new Map<string, Promise<unknown>>();
	readonly #waitMs: () => number;

	constructor(waitMs: () => number) {
		this.#waitMs = waitMs;
	}

	/** Throws checkpoint.busy if it is not free in time; then `work` has not started, and never will. */
	async hold<T>(file: string, work: () => Promise<T>): Promise<T> {
		const waitMs = this.#waitMs();
		const until = performance.now() + waitMs;
		const before = this.#tails.get(file) ?? Promise.resolve();
		let given = false;
		const turn = before.then(async () => {
			if (given) return undefined;
			const release = await takeFile(file, until);
			try {
				return { value: await work() };
			} finally {
				await release();
			}
		});
		const tail = turn.catch(() => {});
		this.#tails.set(file, tail);
		void tail.then(() => {
			if (this.#tails.get(file) === tail) this.#tails.delete(file);
		});
		const free = before.then(() => "free" as const);
		if ((await inTime(free, waitMs)) !== "free") {
			given = true;
			throw busy(file, "this process");
		}
		return ((await turn) as { value: T }).value;
	}

	/** When nothing is held any more. */
	async idle(): Promise<void> {
		while (this.#tails.size > 0) await Promise.all(this.#tails.values());
	}
}

async function inTime(promise: Promise<"free">, ms: number): Promise<"free" | "late"> {
	const stop = new AbortController();
	const late = pause(ms, "late" as const, { signal: stop.signal }).catch(() => "late" as const);
	try {
		return await Promise.race([promise, late]);
	} finally {
		stop.abort();
	}
}

async function takeFile(file: string, until: number): Promise<() => Promise<void>> {
	for (;;) {
		const release = locked(file);
		if (release) {
			await nameHolder(file);
			return async () => {
				// While the lock is still held: afterwards the name may be the next holder's.
				await rm(nameFile(file), { force: true }).catch(() => {});
				release();
			};
		}
		if (performance.now() >= until) throw busy(file, await holderOf(file));
		await pause(LOOK_AGAIN_MS);
	}
}

function locked(file: string): (() => void) | null {
	try {
		return tryLock(file);
	} catch (error) {
		throw new KeryxError("checkpoint.failed", `${file} cannot be locked: ${(error as Error).message}`, {
			cause: error,
		});
	}
}

/** For the error of those who wait. Not essential: a full disk must not prevent a restore. */
async function nameHolder(file: string): Promise<void> {
	const name = JSON.stringify({ host: hostname(), pid: process.pid });
	await writeFile(nameFile(file), `${name}\n`, { mode: 0o600 }).catch(() => {});
}

async function holderOf(file: string): Promise<string> {
	const name = await readFile(nameFile(file), "utf8").catch(() => "");
	return name.trim() || "another process";
}

function nameFile(file: string): string {
	return `${file}.txt`;
}

function busy(file: string, who: string): KeryxError {
	return new KeryxError(
		"checkpoint.busy",
		`the snapshots of this workspace are in use: ${file} is held by ${who}`,
	);
}
