// Deliveries of unknown outcome, from this run or an earlier one, are looked up again and again if the platform allows it (I7). When they
// are too old, a person decides. The outbox makes the first lookup.
import type { Config } from "../../config/index.ts";
import { type Delivery, OPERATOR, type Store } from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";
import type { Channel } from "../channel.ts";
import { lookUp } from "./lookup.ts";

const LOOK_EVERY_MS = 30_000;

export interface UnknownDeliveriesOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly config: () => Config;
	readonly channelOf: (platform: string, account: string) => Channel | undefined;
	readonly log: (message: string, error: unknown) => void;
}

export class UnknownDeliveries {
	readonly #options: UnknownDeliveriesOptions;
	#stopped = false;
	#looking: Promise<void> = Promise.resolve();
	#cancel = () => {};

	constructor(options: UnknownDeliveriesOptions) {
		this.#options = options;
	}

	/** Call it when the channels are up. */
	start(): void {
		const { clock, log } = this.#options;
		this.#looking = this.#look()
			.catch((error: unknown) => log("unknown deliveries could not be looked up", error))
			.then(() => {
				if (!this.#stopped) this.#cancel = clock.after(LOOK_EVERY_MS, () => this.start());
			});
	}

	/** Resolves when no lookup is running. */
	async stop(): Promise<void> {
		this.#stopped = true;
		this.#cancel();
		await this.#looking;
	}

	async #look(): Promise<void> {
		const { store, clock, config } = this.#options;
		const since = clock.now() - config().outbox.max_age_minutes * 60_000;
		const unknown = await store.unknownDeliveries({ scope: OPERATOR, since });
		// Oldest first: those that did not arrive are sent in this order.
		for (const delivery of unknown.toReversed()) {
			if (this.#stopped) return;
			await this.#ask(delivery);
		}
	}

	async #ask(delivery: Delivery): Promise<void> {
		const { store, clock, channelOf } = this.#options;
		const { id, destination } = delivery;
		const found = await lookUp(channelOf(destination.platform, destination.account), delivery, clock);
		if (found.kind === "sent") await store.recordLookup({ id, found });
		if (found.kind === "absent") await store.recordLookup({ id, found: { kind: "absent" } });
	}
}
