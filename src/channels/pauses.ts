// Pauses between a line's attempts: longer after each failure, with jitter, so that many channels do not come back at once.
import type { Clock } from "../time/index.ts";

export interface PausesOptions {
	readonly clock: Clock;
	readonly random: () => number;
	/** After the first failure; doubles up to `longestPauseMs`. */
	readonly firstPauseMs: number;
	readonly longestPauseMs: number;
}

export class Pauses {
	readonly #options: PausesOptions;
	readonly #sleepers = new Set<() => void>();

	constructor(options: PausesOptions) {
		this.#options = options;
	}

	/** After this many failures; at least as long as the platform asks. */
	afterFailures(failures: number, askedMs = 0): Promise<void> {
		const { random, firstPauseMs, longestPauseMs } = this.#options;
		const most = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failures, 20));
		return this.sleep(Math.max(askedMs, most * (0.5 + random() / 2)));
	}

	/** Ends early when woken. */
	sleep(ms: number): Promise<void> {
		return new Promise((resolve) => {
			const wake = () => {
				cancel();
				this.#sleepers.delete(wake);
				resolve();
			};
			const cancel = this.#options.clock.after(ms, wake);
			this.#sleepers.add(wake);
		});
	}

	/** Ends every pause: the line stops, or must check at once. */
	wake(): void {
		for (const wake of [...this.#sleepers]) wake();
	}
}

/** False if it takes longer; failures are always thrown. */
export async function settlesWithin(
	ms: number,
	settled: Promise<void>,
	clock: Pick<Clock, "after">,
): Promise<boolean> {
	let cancel = () => {};
	const late = new Promise<boolean>((resolve) => {
		cancel = clock.after(ms, () => resolve(false));
	});
	try {
		return await Promise.race([settled.then(() => true), late]);
	} finally {
		cancel();
	}
}
