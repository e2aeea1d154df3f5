// The channels of `channels.<name>`: made when Keryx starts, and kept as the configuration says while it runs. Only a channel whose
// entry changed connects again. A platform's library is loaded when its first channel is made.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import type { CHANNEL_PLATFORMS, ChannelSettings, Config } from "../config/index.ts";
import { createPlatforms } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import type { Channel, Clock, ChannelSettings as GatewaySettings } from "../gateway/index.ts";
import {
	isPostedTo,
	readAppToken,
	readSigningSecret,
	readToken,
	type TokenContext,
} from "./setup/channel-token.ts";
import { emailConnection } from "./setup/email.ts";
import { ircConnection, ircSecrets } from "./setup/irc.ts";
import { matrixConnection } from "./setup/matrix.ts";
import { xmppConnection, xmppSecrets } from "./setup/xmpp.ts";

/** What a channel is made with. A `module` exports `createChannel`, which takes these. */
export interface ChannelOptions {
	/** Of its entry in the configuration. */
	readonly name: string;
	readonly account: string;
	readonly settings: ChannelSettings;
	/** Read at every connect: it may have changed. */
	readonly token: () => Promise<string>;
	readonly clock: Clock;
	readonly log: (message: string, error: unknown) => void;
}

export interface ChannelContext extends TokenContext {
	readonly clock: Clock;
	readonly log: (message: string, error: unknown) => void;
}

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
	return CHANNELS[settings.platform as ChannelPlatform](options, context);
}

type ChannelPlatform = (typeof CHANNEL_PLATFORMS)[number];

/** The channels that come with Keryx. */
const CHANNELS: Readonly<
	Record<ChannelPlatform, (options: ChannelOptions, context: ChannelContext) => Promise<Channel>>
> = {
	telegram: async (options) => {
		const { createTelegramChannel } = await import("../channels/telegram/index.ts");
		const { webhook_url: webhookUrl } = options.settings;
		return createTelegramChannel({
			...options,
			...apiRootOf(options),
			...(webhookUrl !== undefined && { webhookUrl }),
		});
	},
	discord: async (options) => {
		const { createDiscordChannel } = await import("../channels/discord/index.ts");
		const { thread_replies: threadReplies, free_chats: freeChats, alive_seconds: seconds } = options.settings;
		return createDiscordChannel({
			...options,
			...apiRootOf(options),
			threadReplies,
			freeChats,
			aliveMs: seconds * 1000,
		});
	},
	slack: async (options, context) => {
		const { createSlackChannel } = await import("../channels/slack/index.ts");
		const { name, settings } = options;
		return createSlackChannel({
			...options,
			...apiRootOf(options),
			events: isPostedTo(settings)
				? { signingSecret: () => readSigningSecret(name, settings, context) }
				: { appToken: () => readAppToken(name, settings, context) },
			aliveMs: settings.alive_seconds * 1000,
		});
	},
	irc: async (options, context) => {
		const { createIrcChannel } = await import("../channels/irc/index.ts");
		const { name, settings } = options;
		return createIrcChannel({
			...options,
			...ircConnection(settings, context.home),
			secrets: () => ircSecrets(name, settings, context),
			decides: settings.decides,
			aliveMs: settings.alive_seconds * 1000,
		});
	},
	email: async (options, context) => {
		const { createEmailChannel } = await import("../channels/email/index.ts");
		const { settings, token } = options;
		return createEmailChannel({
			...options,
			...emailConnection(settings, context.home),
			password: token,
			aliveMs: settings.alive_seconds * 1000,
		});
	},
	xmpp: async (options, context) => {
		const { createXmppChannel } = await import("../channels/xmpp/index.ts");
		const { name, settings } = options;
		return createXmppChannel({
			...options,
			...xmppConnection(settings, context.home),
			secrets: () => xmppSecrets(name, settings, context),
			decides: settings.decides,
			aliveMs: settings.alive_seconds * 1000,
		});
	},
	matrix: async (options, context) => {
		const { createMatrixChannel } = await import("../channels/matrix/index.ts");
		const { name, settings } = options;
		return createMatrixChannel({
			...options,
			...matrixConnection(name, settings, context.home),
			aliveMs: settings.alive_seconds * 1000,
		});
	},
};

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

function apiRootOf({ settings }: ChannelOptions): { readonly apiRoot?: string } {
	return settings.api_root === undefined ? {} : { apiRoot: settings.api_root };
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
