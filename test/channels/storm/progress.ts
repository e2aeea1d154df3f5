// Whether a storm still gets anywhere. One that is stuck fails soon, and says where it stands; the limit of a whole storm is hours.
import { systemClock } from "../../../src/time/index.ts";

const LOOK_MS = 10_000;
const STUCK_MS = 180_000;

export class Progress {
	readonly #stateOf: () => string;
	#state = "";
	#since = systemClock.monotonic();

	/** `stateOf` says how far the storm is; the same words mean that nothing has happened. */
	constructor(stateOf: () => string) {
		this.#stateOf = stateOf;
	}

	/** Calls `onStuck` once, with the reason, when nothing has happened for long, over however many lives. Answers how to end it. */
	watch(onStuck: (reason: string) => void): () => void {
		let cancel = () => {};
		const look = () => {
			const now = systemClock.monotonic();
			const state = this.#stateOf();
			if (state !== this.#state) {
				this.#state = state;
				this.#since = now;
			}
			if (now - this.#since < STUCK_MS) cancel = systemClock.after(LOOK_MS, look);
			else onStuck(`nothing has happened for ${STUCK_MS / 1000} s: ${state}`);
		};
		cancel = systemClock.after(LOOK_MS, look);
		return () => cancel();
	}
}
