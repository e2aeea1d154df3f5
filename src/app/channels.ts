// The channels of `channels.<name>`: made when Keryx starts, and kept as the configuration says while it runs. Only a channel whose
// entry changed connects again. A platform's library is loaded when its first channel is made.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import type { ChannelSettings, Config } from "../config/index.ts";
import { createPlatforms } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import type { Channel, ChannelSettings as GatewaySettings } from "../gateway/index.ts";
import { type ChannelPlatform, PLATFORMS } from "./platforms/index.ts";
import type { ChannelContext, ChannelOptions } from "./platforms/types.ts";
import { readToken } from "./setup/channel-token.ts";

/** Throws channel.module where a module cannot be loaded. */
export async function makeChannel(
	name: string,
	settings: ChannelSettings,
	context: ChannelContext,
): Promise<Channel> {
	const options: ChannelOptions = {
		name,
		account: settings.account,
		settings,
		token: () => readToken(name, settings, context),
		clock: context.clock,
		log: context.log,
	};
	if (settings.bridge) return bridgeChannel(options);
	if (settings.module !== undefined) return fromModule(settings.module, options, context.home);
	return PLATFORMS[settings.platform as ChannelPlatform].make(options, context);
}

async function bridgeChannel({ name, settings, clock }: ChannelOptions): Promise<Channel> {
	const { createBridgeChannel } = await import("../channels/bridge/index.ts");
	const { platform, account, decides, message_limit: max, markup, shows } = settings;
	const can = new Set<string>(shows);
	return createBridgeChannel({
		name,
		platform,
		account,
		decides,
		clock,
		traits: {
			...createPlatforms().traits(platform),
			messageLimit: { max, unit: "utf16" },
			markup,
			shows: {
				attachments: can.has("attachments"),
				buttons: can.has("buttons"),
				edit: can.has("edit"),
				typing: can.has("typing"),
				threads: can.has("threads"),
				lookup: can.has("lookup"),
				idempotentSend: false,
				drafts: false,
			},
		},
	});
}

async function fromModule(module: string, options: ChannelOptions, home: string): Promise<Channel> {
	const problem = (reason: string, cause?: unknown) =>
		new KeryxError("channel.module", `channels.${options.name}.module ${module} ${reason}`, {
			...(cause !== undefined && { cause }),
		});
	let loaded: { readonly createChannel?: (options: ChannelOptions) => Channel | Promise<Channel> };
	try {
		// A package is looked for in Keryx's home, a relative file is one in it.
		const path = createRequire(join(home, "config.yaml")).resolve(module);
		loaded = await import(pathToFileURL(path).href);
	} catch (cause) {
		throw problem(`cannot be loaded: ${(cause as Error).message}`, cause);
	}
	if (typeof loaded.createChannel !== "function") throw problem("does not export createChannel");
	const channel = await loaded.createChannel(options);
	const { platform, account } = options.settings;
	if (channel.platform !== platform || channel.account !== account)
		throw problem(
			`made a channel for ${channel.platform} with the account ${JSON.stringify(channel.account)}, not for ${platform} with ${JSON.stringify(account)}`,
		);
	return channel;
}

/** The gateway's settings for an entry; undefined for a channel without one. */
export function settingsOf(
	{ channels }: Pick<Config, "channels">,
	name: string,
): GatewaySettings | undefined {
	const entry = Object.hasOwn(channels, name) ? channels[name] : undefined;
	if (!entry) return undefined;
	const { edits, notices, require_mention, free_chats, alive_seconds, confirm_by_reaction } = entry;
	return {
		edits,
		notices,
		requireMention: require_mention,
		freeChats: free_chats,
		aliveSeconds: alive_seconds,
		confirmByReaction: confirm_by_reaction,
	};
}

export interface ChannelFollowerOptions extends ChannelContext {
	/** Starts it, and sends through it from now on. */
	readonly connect: (channel: Channel) => Promise<void>;
	/** Stops it. Deliveries to it wait. */
	readonly disconnect: (name: string) => Promise<void>;
	/** A channel that could not be created: the others continue. */
	readonly failed: (name: string, error: unknown) => void;
}

/** Follows `channels` of the configuration; one change at a time. */
export class ChannelFollower {
	readonly #options: ChannelFollowerOptions;
	readonly #made = new Map<string, ChannelSettings>();
	#last: Promise<void> = Promise.resolve();

	constructor(options: ChannelFollowerOptions) {
		this.#options = options;
	}

	/** Resolves when every channel is as the configuration says, or has failed. */
	follow({ channels }: Pick<Config, "channels">): Promise<void> {
		this.#last = this.#last.then(() => this.#apply(channels));
		return this.#last;
	}

	async #apply(wanted: Config["channels"]): Promise<void> {
		const { connect, disconnect, failed } = this.#options;
		for (const [name, settings] of [...this.#made]) {
			if (isDeepStrictEqual(wanted[name], settings)) continue;
			this.#made.delete(name);
			// One that cannot be stopped properly must not block changes to the others.
			await disconnect(name).catch((error: unknown) => failed(name, error));
		}
		for (const [name, settings] of Object.entries(wanted)) {
			if (this.#made.has(name)) continue;
			try {
				await connect(await makeChannel(name, settings, this.#options));
				this.#made.set(name, settings);
			} catch (error) {
				failed(name, error);
			}
		}
	}
}
