// `channels.<name>`: the connected chat platforms, one entry per connection. Changes take effect as soon as the file changes: only the
// changed channel reconnects.
import { z } from "zod";
import { isKnownByKeryx } from "../../domain/index.ts";
import { variableSchema } from "../models.ts";
import { isNetwork, NETWORK_PLATFORMS, NETWORK_PROBLEMS, NETWORKS, networkSections } from "./networks.ts";

/** Platforms with a built-in channel. Any other needs a `module`, or a bridge program. */
export const CHANNEL_PLATFORMS = ["telegram", "discord", "slack", ...NETWORK_PLATFORMS] as const;

/** These also need an app token. */
export const APP_TOKEN_PLATFORMS: ReadonlySet<string> = new Set(["slack"]);

export const NOTICE_CLASSES = ["answer", "question", "warning", "status"] as const;

const noticesSchema = z.array(z.enum(NOTICE_CLASSES));

/** What a bridge program may declare, beyond sending text. */
export const BRIDGE_ABILITIES = ["attachments", "buttons", "edit", "typing", "threads", "lookup"] as const;

export const channelSchema = z.strictObject({
	/** One of CHANNEL_PLATFORMS, or any name with a `module`. */
	platform: z
		.string()
		.regex(/^[a-z0-9][a-z0-9_]{0,63}$/, "must be 1 to 64 of a-z, 0-9 and _, starting with a letter or digit")
		.refine((name) => !isKnownByKeryx(name), "must be a chat platform: this one needs no channel"),
	/** Distinguishes several connections to one platform. */
	account: z
		.string()
		.regex(/^[A-Za-z0-9_.-]{0,64}$/, "must be at most 64 of letters, digits, _, . and -")
		.default(""),
	/** The token's variable; read at every connect. */
	token_env: variableSchema.optional(),
	/** Or the file, readable by its owner only. */
	token_file: z.string().min(1).optional(),
	/** The same for the app's token, if the platform also needs one. */
	app_token_env: variableSchema.optional(),
	app_token_file: z.string().min(1).optional(),
	/** Signing secret of Slack's events, which Slack posts to Keryx; replaces the app token. */
	signing_secret_env: variableSchema.optional(),
	signing_secret_file: z.string().min(1).optional(),
	/** IRC: the server's own password, in addition to an account's. */
	server_password_env: variableSchema.optional(),
	server_password_file: z.string().min(1).optional(),
	/** A section for each platform where you name the server. */
	...networkSections,
	/** Telegram posts its updates to this address, which leads to `/channels/<name>/events`. Default: Keryx polls. */
	webhook_url: z
		.url({ protocol: /^https?$/ })
		.max(1000)
		.refine(
			(url) => !URL.canParse(url) || (new URL(url).username === "" && new URL(url).hash === ""),
			"must have no password and no #",
		)
		.optional(),
	/** A package or file that exports `createChannel`. */
	module: z.string().min(1).optional(),
	/** An outside program connects the platform, over the API with a token of role channel. */
	bridge: z.boolean().default(false),
	/** For bridges, and networks that do not vouch for everyone: whether people nobody vouches for may answer confirmations. */
	decides: z.boolean().default(false),
	/** Of a bridge: the longest message, in UTF-16 units. */
	message_limit: z.number().int().min(32).max(1_000_000).default(4000),
	/** Of a bridge: how answers are written. */
	markup: z.enum(["plain", "markdown"]).default("plain"),
	/** Of a bridge: what its program can do on the platform. */
	shows: z.array(z.enum(BRIDGE_ABILITIES)).default([]),
	/** Passed to the module unchanged. */
	options: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
	/** Another server that speaks the platform's protocol. */
	api_root: z.url({ protocol: /^https?$/ }).optional(),
	/** The profile that answers here, if no rule of profile_rules matches. */
	profile: z.string().optional(),
	/** In a group, only messages that mention the bot or reply to it are for the agent. */
	require_mention: z.boolean().default(true),
	/** Groups, by chat id, where everything is for the agent. */
	free_chats: z.array(z.string()).default([]),
	/** In a Discord server, each question outside a thread is answered in a new thread. */
	thread_replies: z.boolean().default(false),
	/** What happens when a message is edited after the agent has read it: a line in its next turn, or nothing. */
	edits: z.enum(["note", "ignore"]).default("note"),
	/** Whether a thumb up or down on a question answers it, if the platform shows no buttons. */
	confirm_by_reaction: z.boolean().default(false),
	/** Which notices are sent, to one person and to groups. */
	notices: z
		.strictObject({
			dms: noticesSchema.default([...NOTICE_CLASSES]),
			groups: noticesSchema.default(["answer", "question", "warning"]),
		})
		.prefault({}),
	/** After this long without a sign of life, the channel counts as down. */
	alive_seconds: z.number().int().min(5).max(86_400).default(60),
});

export type ChannelSettings = z.output<typeof channelSchema>;

export const channelNameSchema = z
	.string()
	.regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "must be 1 to 64 of a-z, 0-9, _ and -")
	.refine((name) => !isKnownByKeryx(name), "is a name that Keryx uses itself; choose another one");

/** Problems across entries, each with its key. */
export function* channelProblems(
	channels: Readonly<Record<string, ChannelSettings>>,
	profiles: object,
): Generator<{ readonly path: readonly string[]; readonly message: string }> {
	const seen = new Map<string, string>();
	for (const [name, entry] of Object.entries(channels)) {
		const { platform, account, module, profile, token_env, token_file } = entry;
		const connection = `${platform} ${account}`;
		const other = seen.get(connection);
		seen.set(connection, name);
		if (other !== undefined)
			yield {
				path: [name, "account"],
				message: `must differ from that of channels.${other}: two connections to ${platform} need two accounts`,
			};
		yield* bridgeProblems(name, entry);
		if (profile !== undefined && !Object.hasOwn(profiles, profile))
			yield { path: [name, "profile"], message: `must be one of the names in profiles, not ${profile}` };
		if (entry.bridge) continue;
		const known = CHANNEL_PLATFORMS.some((one) => one === platform);
		if (!known && module === undefined)
			yield {
				path: [name, "platform"],
				message: `must be ${CHANNEL_PLATFORMS.join(" or ")}; any other platform needs a module or bridge: true`,
			};
		if (module === undefined)
			for (const problems of NETWORK_PROBLEMS)
				for (const { path, message } of problems(entry)) yield { path: [name, ...path], message };
		if (isNetwork(platform)) continue;
		if (known && (token_env === undefined) === (token_file === undefined))
			yield {
				path: [name, "token_env"],
				message: "or token_file must say where the token is; set one of the two",
			};
		if (module === undefined) yield* eventProblems(name, entry);
	}
}

/** Where people may speak whom nobody vouches for. */
const UNPROVEN = [
	"bridges",
	...Object.values(NETWORKS)
		.filter(({ hasUnproven }) => hasUnproven)
		.map(({ label }) => label),
];

/** A bridge has no platform token and no code here. */
function* bridgeProblems(
	name: string,
	{ platform, bridge, decides, shows, module, token_env, token_file }: ChannelSettings,
): Generator<{ readonly path: readonly string[]; readonly message: string }> {
	if (bridge && module !== undefined)
		yield { path: [name, "module"], message: "must be left out with bridge: true" };
	if (bridge && (token_env ?? token_file) !== undefined)
		yield {
			path: [name, token_env === undefined ? "token_file" : "token_env"],
			message: "must be left out with bridge: true; the bridge program keeps the platform's token",
		};
	if (!bridge && decides && !(isNetwork(platform) && NETWORKS[platform].hasUnproven))
		yield {
			path: [name, "decides"],
			message: `is for ${UNPROVEN.slice(0, -1).join(", ")} and ${UNPROVEN.at(-1)}; remove it`,
		};
	if (!bridge && shows.length > 0) yield { path: [name, "shows"], message: "is for bridges; remove it" };
}

/** Exactly one way for events to come in. */
function* eventProblems(
	name: string,
	entry: ChannelSettings,
): Generator<{ readonly path: readonly string[]; readonly message: string }> {
	const { platform, app_token_env, app_token_file, signing_secret_env, signing_secret_file } = entry;
	const given = [app_token_env, app_token_file, signing_secret_env, signing_secret_file];
	if (platform === "slack" && given.filter((one) => one !== undefined).length !== 1)
		yield {
			path: [name, "app_token_env"],
			message:
				"or app_token_file must say where the app-level token is, or signing_secret_env or signing_secret_file where the signing secret is; set exactly one of them",
		};
	if (platform !== "slack" && (signing_secret_env ?? signing_secret_file) !== undefined)
		yield { path: [name, "signing_secret_env"], message: "is for Slack only; remove it" };
	if (entry.webhook_url === undefined) return;
	if (platform !== "telegram")
		yield { path: [name, "webhook_url"], message: "is for Telegram only; remove it" };
	else if (entry.api_root === undefined && !entry.webhook_url.startsWith("https:"))
		yield {
			path: [name, "webhook_url"],
			message: "must begin with https://: Telegram posts to nothing else",
		};
}
