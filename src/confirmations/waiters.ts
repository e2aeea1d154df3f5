// Callers that wait for an outcome. All are woken the same way: after a commit, the awaited confirmations are read again.
import type { Confirmation, Store } from "../store/index.ts";
import { type Clock, wakeAt } from "../time/index.ts";

interface Waiter {
	readonly id: string;
	look(confirmation: Confirmation): void;
}

/** Pause after a failed read. */
const RETRY_MS = 1000;

export interface WaitersOptions {
	readonly store: Pick<Store, "onCommit">;
	readonly clock: Clock;
	read(id: string): Promise<Confirmation>;
}

export class Waiters {
	readonly #options: WaitersOptions;
	readonly #waiting = new Set<Waiter>();
	readonly #unlisten: () => void;
	#looking = false;
	#again = false;
	#ends = new Set<() => void>();
	#cancel = () => {};

	constructor(options: WaitersOptions) {
		this.#options = options;
		this.#unlisten = options.store.onCommit(() => {
			if (this.#waiting.size > 0) void this.#look();
		});
	}

	/** Returns the confirmation once it is no longer pending, or when the signal or the time limit ends the wait. */
	async settled(confirmation: Confirmation, signal: AbortSignal, ms = Infinity): Promise<Confirmation> {
		const { clock, read } = this.#options;
		const { id, expiresAt } = confirmation;
		let last = confirmation;
		await new Promise<void>((resolve) => {
			const waiter: Waiter = {
				id,
				look: (now) => {
					last = now;
					if (now.status !== "pending") end();
				},
			};
			const cancelPatience = ms === Infinity ? () => {} : clock.after(ms, () => end());
			// The deadline ends a confirmation even if nothing is committed then.
			let cancelDeadline = () => {};
			const awaitDeadline = () => {
				cancelDeadline = wakeAt(clock, expiresAt, () => (clock.now() < expiresAt ? awaitDeadline() : end()));
			};
			const end = () => {
				cancelPatience();
				cancelDeadline();
				signal.removeEventListener("abort", end);
				this.#waiting.delete(waiter);
				this.#ends.delete(end);
				resolve();
			};
			awaitDeadline();
			signal.addEventListener("abort", end, { once: true });
			this.#ends.add(end);
			this.#waiting.add(waiter);
			if (signal.aborted) end();
			// It may have been decided since it was read.
			else void this.#look();
		});
		return last.status === "pending" ? read(id) : last;
	}

	/** Waiting callers get the last known state. */
	stop(): void {
		this.#unlisten();
		this.#cancel();
		for (const end of [...this.#ends]) end();
	}

	async #look(): Promise<void> {
		if (this.#looking) {
			this.#again = true;
			return;
		}
		this.#looking = true;
		try {
			do {
				this.#again = false;
				for (const id of new Set([...this.#waiting].map((waiter) => waiter.id))) {
					const now = await this.#options.read(id);
					for (const waiter of [...this.#waiting]) if (waiter.id === id) waiter.look(now);
				}
			} while (this.#again);
		} catch {
			// The store cannot be read now. The next commit triggers another read.
			this.#cancel();
			this.#cancel = this.#options.clock.after(RETRY_MS, () => void this.#look());
		} finally {
			this.#looking = false;
		}
	}
}
