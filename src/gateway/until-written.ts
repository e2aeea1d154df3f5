// Asking the store again what must not be given up while it is in trouble: a full disk, a lock, a failing device. Never without a
// pause: a store that fails is not helped by being asked more often.
import { isPassing, type Store } from "../store/index.ts";
import type { Clock } from "../time/index.ts";

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;

export interface Patience {
	readonly clock: Clock;
	/** Ends the trying, and the pause before the next. */
	readonly signal: AbortSignal;
	readonly log: (error: unknown) => void;
}

/** Tries again, a little later each time, until it is done or the signal ends it. Other errors than passing ones are thrown at once. */
export async function untilWritten<Value>(work: () => Promise<Value>, patience: Patience): Promise<Value> {
	const pauses = new Pauses(patience);
	for (;;) {
		try {
			return await work();
		} catch (error) {
			if (!isPassing(error)) throw error;
			patience.log(error);
			await pauses.next();
			if (patience.signal.aborted) throw error;
		}
	}
}

/** What lies between two attempts: a little longer each time. */
export class Pauses {
	readonly #options: Pick<Patience, "clock" | "signal">;
	#ms = FIRST_PAUSE_MS;

	constructor(options: Pick<Patience, "clock" | "signal">) {
		this.#options = options;
	}

	/** Ends at once where the signal is aborted: whoever goes on then has to look at it first. */
	next(): Promise<void> {
		const { clock, signal } = this.#options;
		const ms = this.#ms;
		this.#ms = Math.min(LONGEST_PAUSE_MS, ms * 2);
		return new Promise((resolve) => {
			if (signal.aborted) return resolve();
			const end = () => {
				cancel();
				signal.removeEventListener("abort", end);
				resolve();
			};
			const cancel = clock.after(ms, end);
			signal.addEventListener("abort", end, { once: true });
		});
	}
}

/** The store, each operation of which is tried again until it is done or the signal ends it: for work that has nobody to ask again. */
export function patientStore(store: Store, patience: Patience): Store {
	return new Proxy(store, {
		get: (target, name) => {
			const operation = Reflect.get(target, name) as unknown;
			if (typeof operation !== "function" || DIRECT.has(String(name))) return operation;
			return (...args: unknown[]) =>
				untilWritten(() => Reflect.apply(operation, target, args) as Promise<unknown>, patience);
		},
	});
}

const DIRECT: ReadonlySet<string> = new Set<keyof Store>(["onCommit", "onFault", "close"]);
