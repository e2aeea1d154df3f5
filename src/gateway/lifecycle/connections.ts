// The channels of a gateway, one per account of a platform: adding, starting and removing them. Messages go to the channel's host;
// nothing here reads a message or decides about it.
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
	/** The home channels set in chats. */
	readonly setHomes: () => readonly HomeChannel[];
	readonly audiences: Audiences;
	readonly hostOf: (channel: Channel) => ChannelHost;
	readonly log: (message: string, error: unknown) => void;
}

function keyOf({ platform, account }: Pick<Channel, "platform" | "account">): string {
	return `${platform} ${account}`;
}

/** One connection per account, across all gateways. */
function dutyOf({ platform, account }: Pick<Channel, "platform" | "account">): string {
	return `channel ${platform} ${account}`;
}

export class Connections {
	readonly #options: ConnectionsOptions;
	readonly #channels = new Map<string, Removable>();
	/** Another gateway has their account: they are opened here when it is gone. */
	readonly #waiting = new Set<Removable>();
	/** Ends when every channel that was let go is disconnected. */
	#lettingGo: Promise<void> = Promise.resolve();

	constructor(options: ConnectionsOptions) {
		this.#options = options;
	}

	/** Throws argument.invalid if the account already has a channel: the two would take each other's messages. */
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
		const added = removable(
			audiences.on(channel, store.secrets.forOthers),
			clock,
			() => store.cluster?.holdsLease ?? true,
		);
		this.#channels.set(key, added);
		return added;
	}

	/** A channel that cannot start does not block others. If another gateway has its account, it waits. */
	async open(channel: Channel): Promise<void> {
		const { hostOf, log, store } = this.#options;
		const known = this.#channels.get(keyOf(channel));
		if (known && store.cluster && !channel.everywhere) {
			const { holds } = await store.takeDuty({ name: dutyOf(channel) });
			// Without a lease another gateway may take it at any moment.
			if (!holds || !store.cluster.holdsLease) {
				this.#waiting.add(known);
				return;
			}
			this.#waiting.delete(known);
		}
		await channel
			.start(hostOf(channel))
			.catch((error: unknown) => log(`the channel ${channel.name} could not be started`, error));
	}

	async openAll(): Promise<void> {
		for (const channel of this.#channels.values()) await this.open(channel);
	}

	/** Channels whose account may be free now. */
	async openWaiting(): Promise<void> {
		await this.#lettingGo;
		for (const channel of [...this.#waiting]) await this.open(channel);
	}

	/** Another gateway may connect to these accounts now; a platform would serve neither of the two. */
	letGo(): void {
		const { log } = this.#options;
		const held = [...this.#channels.values()].filter(
			(channel) => !channel.everywhere && !this.#waiting.has(channel),
		);
		for (const channel of held) this.#waiting.add(channel);
		const stopped = held.map((channel) =>
			channel
				.stop()
				.catch((error: unknown) => log(`the channel ${channel.name} could not be disconnected`, error)),
		);
		this.#lettingGo = Promise.all([this.#lettingGo, ...stopped]).then(() => {});
	}

	async remove(name: string): Promise<void> {
		for (const [key, channel] of this.#channels) {
			if (channel.name !== name) continue;
			this.#channels.delete(key);
			if (!this.#waiting.delete(channel)) await channel.leave();
			if (this.#options.store.cluster) await this.#options.store.leaveDuty({ name: dutyOf(channel) });
		}
	}

	async stopAll(): Promise<void> {
		const open = [...this.#channels.values()].filter((channel) => !this.#waiting.has(channel));
		await Promise.all([this.#lettingGo, ...open.map((channel) => channel.stop())]);
	}

	get(platform: string, account: string): Channel | undefined {
		const channel = this.#channels.get(`${platform} ${account}`);
		return channel && !this.#waiting.has(channel) ? channel : undefined;
	}

	/** Deliveries that another gateway sends. */
	get elsewhere(): Iterable<Channel> {
		return this.#waiting;
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

	/** The reachable home channels. One set by the owner in a chat overrides the configuration. */
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
