// The channels of a gateway, one per account of a platform: adding, starting and removing them. What a channel brings goes to its host;
// nothing here reads a message or decides what becomes of it.
import type { Config } from "../../config/index.ts";
import { KeryxError } from "../../errors.ts";
import type { Destination, HomeChannel, Store } from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";
import type { Channel, ChannelHost } from "../channel.ts";
import type { Audiences } from "../outbox/audiences.ts";
import { type Removable, removable } from "../outbox/leaving.ts";
import { checkTraits } from "../outbox/outlet.ts";

export interface ConnectionsOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly config: () => Pick<Config, "home_channels">;
	/** The home channels as they were set in chats. */
	readonly setHomes: () => readonly HomeChannel[];
	readonly audiences: Audiences;
	readonly hostOf: (channel: Channel) => ChannelHost;
	readonly log: (message: string, error: unknown) => void;
}

export class Connections {
	readonly #options: ConnectionsOptions;
	readonly #channels = new Map<string, Removable>();

	constructor(options: ConnectionsOptions) {
		this.#options = options;
	}

	/** Throws argument.invalid where the account has a channel already: each would take what the other has taken. */
	add(channel: Channel): Channel {
		checkTraits(channel);
		const { store, clock, audiences } = this.#options;
		const key = `${channel.platform} ${channel.account}`;
		const other = this.#channels.get(key);
		if (other)
			throw new KeryxError(
				"argument.invalid",
				`the channels ${channel.name} and ${other.name} use the same ${channel.platform} account; two connections need two accounts`,
				{ field: "account" },
			);
		const added = removable(audiences.on(channel, store.secrets.forOthers), clock);
		this.#channels.set(key, added);
		return added;
	}

	/** A channel that cannot start keeps no other from starting. */
	async open(channel: Channel): Promise<void> {
		const { hostOf, log } = this.#options;
		await channel
			.start(hostOf(channel))
			.catch((error: unknown) => log(`the channel ${channel.name} could not be started`, error));
	}

	async openAll(): Promise<void> {
		for (const channel of this.#channels.values()) await this.open(channel);
	}

	async remove(name: string): Promise<void> {
		for (const [key, channel] of this.#channels) {
			if (channel.name !== name) continue;
			this.#channels.delete(key);
			await channel.leave();
		}
	}

	async stopAll(): Promise<void> {
		await Promise.all([...this.#channels.values()].map((channel) => channel.stop()));
	}

	get(platform: string, account: string): Channel | undefined {
		return this.#channels.get(`${platform} ${account}`);
	}

	named(name: string): Channel | undefined {
		for (const channel of this.#channels.values()) if (channel.name === name) return channel;
		return undefined;
	}

	values(): Iterable<Channel> {
		return this.#channels.values();
	}

	platforms(): readonly string[] {
		return [...new Set([...this.#channels.values()].map(({ platform }) => platform))];
	}

	/** The home channels that can be reached. One that its owner set in a chat wins over the configuration. */
	homes(): readonly Destination[] {
		const { setHomes, config } = this.#options;
		const set = setHomes();
		const configured = Object.entries(config().home_channels)
			.filter(([platform]) => !set.some((home) => home.platform === platform))
			.map(([platform, { chat_id: chatId, thread_id: threadId }]) => ({
				platform,
				account: "",
				chatId,
				threadId,
			}));
		return [...set, ...configured]
			.filter(({ platform, account }) => this.#channels.has(`${platform} ${account}`))
			.map(({ platform, account, chatId, threadId }) => ({
				platform,
				account,
				chatId,
				...(threadId !== undefined && { threadId }),
			}));
	}
}
