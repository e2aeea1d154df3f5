// The running programs: at most one per conversation and role, used by one turn at a time, and limited in total. An unused one is stopped
// after a while, or at once when another conversation needs its place.
import type { Clock } from "../../time/index.ts";
import type { Program } from "./program.ts";

export interface PoolOptions {
	readonly clock: Clock;
	readonly idleMs: number;
	readonly maxPrograms: number;
}

interface Entry {
	readonly program: Program;
	busy: boolean;
	/** Grows with each use: larger means used later. */
	used: number;
	stopIdling: () => void;
}

export class Pool {
	readonly #options: PoolOptions;
	readonly #entries = new Map<string, Entry>();
	/** By conversation and role: ends when the last turn that asked for its program has left. */
	readonly #lanes = new Map<string, Promise<void>>();
	/** Starting: they count, but have no entry yet. */
	readonly #starting = new Set<Promise<unknown>>();
	#uses = 0;
	#freed = Promise.withResolvers<void>();
	#closed = false;

	constructor(options: PoolOptions) {
		this.#options = options;
	}

	/** Waits until the program is free; returns the release function. */
	async enter(key: string): Promise<() => void> {
		const before = this.#lanes.get(key);
		const { promise, resolve } = Promise.withResolvers<void>();
		this.#lanes.set(key, promise);
		await before;
		return () => {
			if (this.#lanes.get(key) === promise) this.#lanes.delete(key);
			this.#rest(key);
			resolve();
		};
	}

	/** The caller must have entered: its program, or a new one as soon as there is room. Null when aborted or closed. */
	async take(
		key: string,
		signal: AbortSignal,
		start: () => Promise<Program>,
	): Promise<{ program: Program; isNew: boolean } | null> {
		for (;;) {
			if (signal.aborted || this.#closed) return null;
			const entry = this.#entries.get(key);
			if (entry && !entry.program.leaving) {
				entry.stopIdling();
				entry.busy = true;
				return { program: entry.program, isNew: false };
			}
			if (!entry && this.#entries.size + this.#starting.size < this.#options.maxPrograms) break;
			const freed = this.#freed.promise;
			if (!entry) void this.#longestIdle()?.program.stop();
			await Promise.race([freed, aborted(signal)]);
		}
		const program = await this.#started(start());
		if (signal.aborted || this.#closed) {
			program.kill();
			await program.over;
			return null;
		}
		const entry = { program, busy: true, used: ++this.#uses, stopIdling: () => {} };
		this.#entries.set(key, entry);
		void program.over.then(() => {
			entry.stopIdling();
			this.#entries.delete(key);
			this.#free();
		});
		return { program, isNew: true };
	}

	/** Stops them all; resolves when they are gone. */
	async close(): Promise<void> {
		this.#closed = true;
		this.#free();
		await Promise.allSettled(this.#starting);
		await Promise.all([...this.#entries.values()].map(({ program }) => program.stop()));
	}

	async #started(starting: Promise<Program>): Promise<Program> {
		this.#starting.add(starting);
		try {
			return await starting;
		} catch (error) {
			this.#free();
			throw error;
		} finally {
			this.#starting.delete(starting);
		}
	}

	#rest(key: string): void {
		const entry = this.#entries.get(key);
		if (entry) {
			entry.busy = false;
			entry.used = ++this.#uses;
			entry.stopIdling = this.#options.clock.after(this.#options.idleMs, () => void entry.program.stop());
		}
		this.#free();
	}

	#longestIdle(): Entry | undefined {
		return [...this.#entries.values()]
			.filter(({ busy, program }) => !busy && !program.leaving)
			.sort((a, b) => a.used - b.used)[0];
	}

	#free(): void {
		this.#freed.resolve();
		this.#freed = Promise.withResolvers<void>();
	}
}

function aborted(signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		if (signal.aborted) resolve();
		else signal.addEventListener("abort", () => resolve(), { once: true });
	});
}
