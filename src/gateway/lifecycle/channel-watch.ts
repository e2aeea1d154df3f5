// Monitors channels. Every change of state is an event. The home channels are notified once when one is down or back, even across restarts:
// the store remembers what was reported.
import type { Destination, Store } from "../../store/index.ts";
import { type Clock, Rounds, WallHistory } from "../../time/index.ts";
import type { Channel, ChannelHealth, ChannelSettings } from "../channel.ts";
import type { Outlet } from "../outbox/outlet.ts";
import { toDeliveries } from "../outbox/reply.ts";
import { channelBackSentence, channelDownSentence } from "../sentences.ts";
import { judgeHealth } from "./channel-health.ts";

const LOOK_EVERY_MS = 5000;

const ELSEWHERE = "another gateway is connected to it";

export interface ChannelWatchOptions {
	readonly store: Store;
	readonly clock: Clock;
	/** Read per call: channels come and go. */
	readonly channels: () => Iterable<Channel>;
	readonly settingsOf: (name: string) => ChannelSettings;
	/** Those of them that another gateway is connected to. */
	readonly elsewhere: () => Iterable<Channel>;
	/** Where the operator is notified. */
	readonly homes: () => readonly Destination[];
	readonly outlet: Outlet;
	readonly log: (message: string, error: unknown) => void;
}

export type NamedHealth = ChannelHealth &
	Pick<Channel, "name" | "platform" | "account"> & {
		/** Another gateway has the connection; this one waits. */
		readonly isElsewhere: boolean;
	};

export class ChannelWatch {
	readonly #options: ChannelWatchOptions;
	readonly #wall: WallHistory;
	readonly #rounds: Rounds;
	/** When each was first seen, by the monotonic clock: without a sign of life yet, silence starts there. */
	readonly #since = new WeakMap<Channel, number>();
	/** The last recorded state. */
	readonly #written = new Map<Channel, ChannelHealth["state"]>();

	constructor(options: ChannelWatchOptions) {
		this.#options = options;
		this.#wall = new WallHistory(options.clock);
		this.#rounds = new Rounds({
			clock: options.clock,
			round: () => this.#look(),
			failed: (error) => options.log("a channel's state could not be recorded", error),
		});
	}

	/** Call it when the channels are up. */
	start(): void {
		this.#rounds.start();
	}

	/** A channel was added: there may have been none to monitor. */
	look(): void {
		this.#rounds.look();
	}

	async stop(): Promise<void> {
		await this.#rounds.stop();
	}

	health(): readonly NamedHealth[] {
		return [...this.#options.channels()].map((channel) => this.#judged(channel));
	}

	#judged(channel: Channel): NamedHealth {
		const { clock, settingsOf, elsewhere } = this.#options;
		const { name, platform, account } = channel;
		if ([...elsewhere()].includes(channel))
			return {
				name,
				platform,
				account,
				state: "stopped",
				aliveAt: null,
				detail: ELSEWHERE,
				isElsewhere: true,
			};
		const since = this.#since.get(channel) ?? clock.monotonic();
		this.#since.set(channel, since);
		const said = channel.health();
		const silentMs = said.aliveAt === null ? clock.monotonic() - since : this.#wall.ageOf(said.aliveAt);
		const { aliveSeconds } = settingsOf(name);
		const judged = judgeHealth(said, { silentMs, aliveSeconds });
		return { name, platform, account, ...judged, isElsewhere: false };
	}

	/** Our own channels report nothing and are always there. Null: nothing to monitor. */
	async #look(): Promise<number | null> {
		const { clock, channels } = this.#options;
		const watched = [...channels()].filter(({ traits }) => traits !== undefined);
		for (const channel of this.#written.keys()) if (!watched.includes(channel)) this.#written.delete(channel);
		for (const channel of watched) await this.#note(channel);
		return watched.length === 0 ? null : clock.now() + LOOK_EVERY_MS;
	}

	async #note(channel: Channel): Promise<void> {
		const health = this.#judged(channel);
		const { name, platform, account, state } = health;
		// Starting or stopping: the outcome is reported later.
		if (state === "starting" || state === "stopped" || this.#written.get(channel) === state) return;
		const { store } = this.#options;
		await store.noteChannel({
			name,
			platform,
			account,
			state,
			...(health.provenBy !== undefined && { provenBy: health.provenBy }),
			ifDown: this.#noticesOf(health, channelDownSentence(health)),
			ifBack: this.#noticesOf(health, channelBackSentence(health)),
		});
		this.#written.set(channel, state);
	}

	/** Not through the channel it is about if that is down: it would arrive when it is no longer true. */
	#noticesOf(health: NamedHealth, text: string) {
		const { clock, homes, outlet } = this.#options;
		const { name, state } = health;
		const reached = homes().filter(
			(home) => state === "connected" || home.platform !== health.platform || home.account !== health.account,
		);
		return reached.flatMap((destination, n) => {
			const id = `channel:${name}:${state}:${clock.now()}:${n}`;
			return toDeliveries(text, { id, kind: "notice", class: "warning", destination }, outlet);
		});
	}
}
