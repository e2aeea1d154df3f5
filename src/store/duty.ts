// Work that one gateway does for all that share a store: running hooks, ending sessions. A single gateway always has it.
import type { Clock } from "../time/index.ts";
import type { Store } from "./store.ts";

/** How often a duty of another gateway is requested again. */
export const ASK_EVERY_MS = 3000;

export class Duty {
	readonly #store: Pick<Store, "cluster" | "takeDuty">;
	readonly #clock: Pick<Clock, "monotonic">;
	readonly #name: string;
	/** Once acquired, it stays: nobody takes it from a living gateway. */
	#isMine = false;
	#askedAt = Number.NEGATIVE_INFINITY;

	constructor(
		store: Pick<Store, "cluster" | "takeDuty">,
		clock: Pick<Clock, "monotonic">,
		name: "hooks" | "retention" | "sessions" | "webhooks",
	) {
		this.#store = store;
		this.#clock = clock;
		this.#name = name;
	}

	async isMine(): Promise<boolean> {
		if (!this.#store.cluster || this.#isMine) return true;
		const now = this.#clock.monotonic();
		if (now - this.#askedAt < ASK_EVERY_MS) return false;
		this.#askedAt = now;
		this.#isMine = (await this.#store.takeDuty({ name: this.#name })).holds;
		return this.#isMine;
	}
}
