// Waits for a store in trouble: changes of a process are recorded once the store can be written again; callers get their answer then, or
// an error.
import { isPassing } from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";

const PAUSE_MS = 1000;
/** Without a signal, and for callers that cannot wait longer. */
const SOON_TRIES = 10;

export interface PatienceOptions {
	readonly clock: Clock;
	log(message: string, error: unknown): void;
}

export class StorePatience {
	readonly #options: PatienceOptions;
	/** Ends of the pauses that are being made. */
	readonly #pauses = new Set<() => void>();
	#isClosed = false;

	constructor(options: PatienceOptions) {
		this.#options = options;
	}

	/** Waiting callers are told about the trouble at once. */
	close(): void {
		this.#isClosed = true;
		for (const end of this.#pauses) end();
	}

	/** For waiting callers: until the signal aborts; without one, for ten seconds. */
	soon<Value>(work: () => Promise<Value>, signal?: AbortSignal): Promise<Value> {
		return this.untilWritten(work, (tried) => tried < SOON_TRIES || signal?.aborted === false);
	}

	/** Retries while the store is in trouble, with pauses, until closed. */
	async untilWritten<Value>(
		work: () => Promise<Value>,
		isTriedAgain: (tried: number) => boolean = () => true,
	): Promise<Value> {
		for (let tried = 1; ; tried++) {
			try {
				return await work();
			} catch (error) {
				if (!isPassing(error) || this.#isClosed || !isTriedAgain(tried)) throw error;
				this.#options.log("processes are waiting for the store", error);
			}
			await this.#pause();
		}
	}

	#pause(): Promise<void> {
		return new Promise((resolve) => {
			const end = () => {
				this.#pauses.delete(end);
				cancel();
				resolve();
			};
			this.#pauses.add(end);
			const cancel = this.#options.clock.after(PAUSE_MS, end);
		});
	}
}
