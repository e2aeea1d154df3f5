// One operation at a time per workspace: a queue in this process, and a file that names the holder against other processes. A dead
// holder's file is taken over; waiting is limited.
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { threadId } from "node:worker_threads";
import { KeryxError } from "../errors.ts";
import { isAlive } from "../store/index.ts";

const LOOK_AGAIN_MS = 25;
let drafts = 0;

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
	const mine = `${JSON.stringify({ host: hostname(), pid: process.pid, began: await beginningOf(process.pid) })}\n`;
	for (;;) {
		if (await created(file, mine)) return () => rm(file, { force: true });
		const theirs = await textOf(file);
		if (theirs === null) continue;
		if (await isDead(theirs)) await takeOver(file, theirs);
		else if (performance.now() >= until) throw busy(file, theirs.trim());
		else await pause(LOOK_AGAIN_MS);
	}
}

/** Written to a temporary file and linked: readers see all of it. */
async function created(file: string, text: string): Promise<boolean> {
	const draft = `${file}.${process.pid}.${threadId}.${++drafts}.draft`;
	try {
		await writeFile(draft, text, { mode: 0o600 });
		await link(draft, file);
		return true;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
		throw new KeryxError("checkpoint.failed", `${file} cannot be written: ${(error as Error).message}`, {
			cause: error,
		});
	} finally {
		await rm(draft, { force: true });
	}
}

async function textOf(file: string): Promise<string | null> {
	try {
		return await readFile(file, "utf8");
	} catch {
		return null;
	}
}

/** A holder on another host never counts as dead. An invalid file belongs to nobody. */
async function isDead(text: string): Promise<boolean> {
	const [, host, pid, began] = /"host":"([^"]*)","pid":(\d+),"began":"([^"]*)"/.exec(text) ?? [];
	if (pid === undefined) return true;
	if (host !== hostname()) return false;
	if (!isAlive(Number(pid))) return true;
	return began !== "" && (await beginningOf(Number(pid))) !== began;
}

/** What is moved aside must be what was looked at. */
async function takeOver(file: string, theirs: string): Promise<void> {
	const aside = `${file}.${process.pid}`;
	try {
		if ((await textOf(file)) !== theirs) return;
		await rename(file, aside);
		await rm(aside, { force: true });
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
	}
}

/** When a process began, as Linux counts it: a number that is given again is another process. Empty where that cannot be known. */
async function beginningOf(pid: number): Promise<string> {
	const stat = await textOf(`/proc/${pid}/stat`);
	return stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}

function busy(file: string, who: string): KeryxError {
	return new KeryxError(
		"checkpoint.busy",
		`the snapshots of this workspace are in use: ${file} is held by ${who}`,
	);
}
