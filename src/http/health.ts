// Public health, uncounted so that monitors are never locked out. The cost is one store read per commit, or per second.
import type { Confirmations } from "../confirmations/index.ts";
import type { Store } from "../store/index.ts";

const FRESH_MS = 1000;

interface HealthSources {
	readonly confirmations: Pick<Confirmations, "pendingCount">;
	readonly store: Pick<Store, "onCommit">;
	readonly now: () => number;
	/** Why the store accepts nothing; null: it does. */
	readonly storeTrouble?: () => unknown;
}

export class StrangersHealth {
	readonly #host: HealthSources;
	#last: number | null = null;
	#pending: { readonly count: Promise<number>; readonly at: number } | null = null;

	constructor(host: HealthSources, closing: AbortSignal) {
		this.#host = host;
		const unlisten = host.store.onCommit(() => {
			this.#pending = null;
		});
		closing.addEventListener("abort", unlisten, { once: true });
	}

	async read() {
		const at = this.#host.now();
		return {
			status: this.#host.storeTrouble?.() ? ("failing" as const) : ("ok" as const),
			pending_count: await this.#countKnown(at),
			timestamp: at / 1000,
			timestamp_iso: new Date(at).toISOString(),
		};
	}

	/** While the store is away: the last known number. */
	async #countKnown(now: number): Promise<number> {
		try {
			this.#last = await this.#count(now);
		} catch (error) {
			if (this.#last === null || !this.#host.storeTrouble?.()) throw error;
		}
		return this.#last;
	}

	#count(now: number): Promise<number> {
		const known = this.#pending;
		if (known && now >= known.at && now - known.at < FRESH_MS) return known.count;
		const pending = { count: this.#host.confirmations.pendingCount(), at: now };
		this.#pending = pending;
		// A failed read is reported to its callers, and retried for the next.
		pending.count.catch(() => {
			if (this.#pending === pending) this.#pending = null;
		});
		return pending.count;
	}
}
