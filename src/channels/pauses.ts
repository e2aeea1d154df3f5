// The pauses of a line between its attempts: longer after each failure, with chance in them, so that many channels do not come back at once.
import type { Clock } from "../time/index.ts";

export interface PausesOptions {
	readonly clock: Clock;
	readonly random: () => number;
	/** After the first failure; it doubles up to `longestPauseMs`. */
	readonly firstPauseMs: number;
	readonly longestPauseMs: number;
}

export class Pauses {
	readonly #options: PausesOptions;
	readonly #sleepers = new Set<() => void>();

	constructor(options: PausesOptions) {
		this.#options = options;
	}

	/** After so many failures; at least as long as the platform asks. */
	afterFailures(failures: number, askedMs = 0): Promise<void> {
		const { random, firstPauseMs, longestPauseMs } = this.#options;
		const most = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failures, 20));
		return this.sleep(Math.max(askedMs, most * (0.5 + random() / 2)));
	}

	/** Ends early when somebody wakes it. */
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

	/** Ends every pause: the line stops, or has to look at once. */
	wake(): void {
		for (const wake of [...this.#sleepers]) wake();
	}
}
