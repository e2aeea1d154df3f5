// The reader threads of a store: started on demand, ended when they have nothing to do.
import { KeryxError } from "../../errors.ts";
import type { Thread } from "./thread.ts";

/** How many reads run at once; others wait. */
const READERS = 2;

/** A thread without work ends after this: it holds 14 MiB, and a new one starts in about 50 ms. */
const IDLE_MS = 10_000;

type Reader = Pick<Thread, "ask" | "close" | "onGone">;

interface Slot {
	readonly thread: Promise<Reader>;
	/** Unanswered reads of this thread. */
	waiting: number;
	isStarting: boolean;
	/** Runs while it has no work. */
	idle: NodeJS.Timeout | undefined;
}

/** Reader threads, the second only while the first is busy. One that failed to start or died is restarted; an idle one ends. */
export class Readers {
	readonly #start: () => Promise<Reader>;
	readonly #idleMs: number;
	#slots: Slot[] = [];
	readonly #ending = new Set<Promise<void>>();
	#closed = false;

	constructor(start: () => Promise<Reader>, idleMs = IDLE_MS) {
		this.#start = start;
		this.#idleMs = idleMs;
	}

	get isRunning(): boolean {
		return this.#slots.length > 0;
	}

	/** Starts one now, to find out whether the store can be read. */
	async start(): Promise<void> {
		await this.#add().thread;
	}

	async ask(request: Parameters<Reader["ask"]>[0]): Promise<unknown> {
		if (this.#closed) throw new KeryxError("store.closed", "the store is closed");
		const slot = this.#pick();
		slot.waiting++;
		clearTimeout(slot.idle);
		try {
			return await (await slot.thread).ask(request);
		} finally {
			slot.waiting--;
			if (slot.waiting === 0) this.#endLater(slot);
		}
	}

	async close(): Promise<void> {
		this.#closed = true;
		for (const slot of this.#slots) this.#end(slot);
		await Promise.all(this.#ending);
	}

	#endLater(slot: Slot): void {
		clearTimeout(slot.idle);
		slot.idle = setTimeout(() => this.#end(slot), this.#idleMs).unref();
	}

	/** It gets no more reads; those it has are answered first. */
	#end(slot: Slot): void {
		clearTimeout(slot.idle);
		this.#slots = this.#slots.filter((other) => other !== slot);
		// A thread that never started, or died while ending, is gone anyway.
		const ending = slot.thread.then((thread) => thread.close()).catch(() => {});
		this.#ending.add(ending);
		void ending.then(() => this.#ending.delete(ending));
	}

	#pick(): Slot {
		let least: Slot | undefined;
		for (const slot of this.#slots) if (!least || slot.waiting < least.waiting) least = slot;
		// While one is starting, a second would not be ready sooner.
		if (least && (least.waiting === 0 || least.isStarting || this.#slots.length === READERS)) return least;
		return this.#add();
	}

	#add(): Slot {
		const slot: Slot = { thread: this.#start(), waiting: 0, isStarting: true, idle: undefined };
		const drop = (): void => {
			this.#slots = this.#slots.filter((other) => other !== slot);
		};
		this.#slots.push(slot);
		slot.thread.then((thread) => {
			slot.isStarting = false;
			thread.onGone(drop);
		}, drop);
		return slot;
	}
}
