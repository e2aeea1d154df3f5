// Follows how channels are. A change of state is an event; that one is down, or back, is told to the operator's home channels, once each
// and also across restarts: the store remembers what was told.
import type { Destination, Store } from "../../store/index.ts";
import { type Clock, Rounds, WallHistory } from "../../time/index.ts";
import type { Channel, ChannelHealth, ChannelSettings } from "../channel.ts";
import type { Outlet } from "../outbox/outlet.ts";
import { toDeliveries } from "../outbox/reply.ts";
import { channelBackSentence, channelDownSentence } from "../sentences.ts";
import { judgeHealth } from "./channel-health.ts";

const LOOK_EVERY_MS = 5000;

export interface ChannelWatchOptions {
	readonly store: Store;
	readonly clock: Clock;
	/** Asked each time: channels come and go. */
	readonly channels: () => Iterable<Channel>;
	readonly settingsOf: (name: string) => ChannelSettings;
	/** Where whoever runs Keryx is told of it. */
	readonly homes: () => readonly Destination[];
	readonly outlet: Outlet;
	readonly log: (message: string, error: unknown) => void;
}

export type NamedHealth = ChannelHealth & Pick<Channel, "name" | "platform" | "account">;

export class ChannelWatch {
	readonly #options: ChannelWatchOptions;
	readonly #wall: WallHistory;
	readonly #rounds: Rounds;
	/** When each was first seen, by the monotonic clock: silence begins there where there was no sign of life yet. */
	readonly #since = new WeakMap<Channel, number>();
	/** As it was written down last. */
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

	/** For when the channels are up. */
	start(): void {
		this.#rounds.start();
	}

	/** A channel was added: there may have been none to look after. */
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
		const { clock, settingsOf } = this.#options;
		const { name, platform, account } = channel;
		const since = this.#since.get(channel) ?? clock.monotonic();
		this.#since.set(channel, since);
		const said = channel.health();
		const silentMs = said.aliveAt === null ? clock.monotonic() - since : this.#wall.ageOf(said.aliveAt);
		const { aliveSeconds } = settingsOf(name);
		return { name, platform, account, ...judgeHealth(said, { silentMs, aliveSeconds }) };
	}

	/** Our own ways in say nothing of themselves, and are always there. Null: there is nobody to look after. */
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
		// On its way up, or out: what comes of it is told.
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

	/** Not by way of the channel that it is about, where that is down: it would be told when it is no longer true. */
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
