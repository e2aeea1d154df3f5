// The reader threads of a store: started on demand, ended when they have nothing to do.
import { KeryxError } from "../../errors.ts";
import type { Divided, Divisible, Found } from "../operations/search/newest.ts";
import type { Thread } from "./thread.ts";

/** How many reads run at once; others wait. */
const READERS = 2;

/** A thread without work ends after this: it holds 14 MiB, under load 30 to 40, and a new one starts in about 50 ms. */
const IDLE_MS = 10_000;

/** A thread without an answer for this long is in a long read: others should not wait for it. Starting another takes half as long. */
const LONG_MS = 100;

/** A thread with so many unanswered reads does not keep up. */
const MANY = 64;

/** With fewer rows in the index, a search is not shared: one reader takes some 85 ns a row. */
const SHARED_FROM = 500_000;

type Reader = Pick<Thread, "ask" | "close" | "onGone">;

interface Slot {
	readonly thread: Promise<Reader>;
	/** Unanswered reads of this thread. */
	waiting: number;
	/** When it got to work, or last answered. */
	movedAt: number;
	isStarting: boolean;
	/** Runs while it has no work, or only such in passing. */
	idle: NodeJS.Timeout | undefined;
}

/** Reader threads, the second only for a long read of the first. One that failed to start or died is restarted; an idle one ends. */
export class Readers {
	readonly #start: () => Promise<Reader>;
	readonly #idleMs: number;
	readonly #now: () => number;
	#slots: Slot[] = [];
	readonly #ending = new Set<Promise<void>>();
	readonly #searches = new Set<Promise<unknown>>();
	#closed = false;

	constructor(start: () => Promise<Reader>, idleMs = IDLE_MS, now = () => performance.now()) {
		this.#start = start;
		this.#idleMs = idleMs;
		this.#now = now;
	}

	get isRunning(): boolean {
		return this.#slots.length > 0;
	}

	/** Starts one now, to find out whether the store can be read. */
	async start(): Promise<void> {
		await this.#add().thread;
	}

	/** One in passing keeps no thread that would end otherwise. */
	async ask(request: Parameters<Reader["ask"]>[0], how: "due" | "in passing" = "due"): Promise<unknown> {
		if (this.#closed) throw new KeryxError("store.closed", "the store is closed");
		return this.#askOf(this.#pick(), request, how);
	}

	/** Two readers look for the hits of a phrase that has few, if both run and are idle. So the first such search is not shared. */
	search(args: unknown, divideFrom = SHARED_FROM): Promise<unknown> {
		const search = this.#search(args, divideFrom);
		this.#searches.add(search);
		return search.finally(() => this.#searches.delete(search));
	}

	async #search(args: unknown, divideFrom: number): Promise<unknown> {
		for (let known: number | Found = divideFrom; ; ) {
			const answer = (await this.ask({ id: 0, kind: "search", args, known })) as Divided<unknown>;
			if (answer.kind === "result") return answer.result;
			known = await this.#read(answer.read);
		}
	}

	async #read(read: Divisible): Promise<number | Found> {
		const [one, other] = this.#slots.filter(({ waiting, isStarting }) => waiting === 0 && !isStarting);
		if (one && other) {
			const older = this.#askOf(one, { id: 0, kind: "half", read, half: "older" });
			const newer = this.#askOf(other, { id: 0, kind: "half", read, half: "newer" });
			const hits = (await Promise.all([older, newer])) as { id: number }[][];
			return { read, hits: hits.flat() };
		}
		// For the next one.
		if (this.#slots.length < READERS) this.#endLater(this.#add());
		return Number.POSITIVE_INFINITY;
	}

	async #askOf(slot: Slot, request: Parameters<Reader["ask"]>[0], how = "due"): Promise<unknown> {
		if (slot.waiting === 0) slot.movedAt = this.#now();
		slot.waiting++;
		if (how === "due") stay(slot);
		try {
			return await (await slot.thread).ask(request);
		} finally {
			slot.waiting--;
			slot.movedAt = this.#now();
			if (slot.waiting === 0 && !slot.idle) this.#endLater(slot);
		}
	}

	async close(): Promise<void> {
		// They have more to ask.
		await Promise.allSettled(this.#searches);
		this.#closed = true;
		for (const slot of this.#slots) this.#end(slot);
		await Promise.all(this.#ending);
	}

	#endLater(slot: Slot): void {
		slot.idle = setTimeout(() => this.#end(slot), this.#idleMs).unref();
	}

	/** It gets no more reads; those it has are answered first. */
	#end(slot: Slot): void {
		if (!this.#slots.includes(slot)) return;
		clearTimeout(slot.idle);
		this.#slots = this.#slots.filter((other) => other !== slot);
		// A thread that never started, or died while ending, is gone anyway.
		const ending = slot.thread.then((thread) => thread.close()).catch(() => {});
		this.#ending.add(ending);
		void ending.then(() => this.#ending.delete(ending));
	}

	#pick(): Slot {
		const moving = this.#slots.filter((slot) => !this.#isInLongRead(slot));
		const all = moving.length > 0 || this.#slots.length < READERS ? moving : this.#slots;
		// The first, if it keeps up: the second has nothing to do then, and ends.
		const [first] = all;
		if (first && first.waiting < MANY) return first;
		let least: Slot | undefined;
		for (const slot of all) if (!least || slot.waiting < least.waiting) least = slot;
		return least ?? this.#add();
	}

	/** While one is starting, a second would not be ready sooner. */
	#isInLongRead({ waiting, isStarting, movedAt }: Slot): boolean {
		return waiting > 0 && !isStarting && this.#now() - movedAt >= LONG_MS;
	}

	#add(): Slot {
		const slot: Slot = {
			thread: this.#start(),
			waiting: 0,
			movedAt: 0,
			isStarting: true,
			idle: undefined,
		};
		const drop = (): void => {
			this.#slots = this.#slots.filter((other) => other !== slot);
		};
		this.#slots.push(slot);
		slot.thread.then((thread) => {
			slot.isStarting = false;
			slot.movedAt = this.#now();
			thread.onGone(drop);
		}, drop);
		return slot;
	}
}

function stay(slot: Slot): void {
	clearTimeout(slot.idle);
	slot.idle = undefined;
}
