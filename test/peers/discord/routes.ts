// The REST API: what each route does, by method and path.
import type { Upload } from "../telegram/body.ts";
import { ApiError, invalidForm, missingAccess, unknownMessage } from "./errors.ts";
import { type Interactions, LOADING } from "./interactions.ts";
import {
	type BotAccount,
	type ChannelRecord,
	CONTENT_FLAG,
	memberJson,
	mentionsIn,
	type NewMessage,
	rolesJson,
	type SentFile,
	userJson,
	type World,
} from "./world.ts";

export interface RestCall {
	readonly bot: BotAccount;
	readonly world: World;
	readonly interactions: Interactions;
	/** Where the gateway is. */
	readonly gatewayUrl: string;
	readonly body: Readonly<Record<string, unknown>>;
	readonly files: readonly Upload[];
	readonly query: URLSearchParams;
	/** What the path says in its places. */
	readonly at: readonly string[];
	readonly onTyping: (channel: ChannelRecord) => void;
}

type Handler = (call: RestCall) => unknown;

/** Nothing to say. */
export const EMPTY = Symbol("empty");

const ROUTES: readonly (readonly [string, RegExp, Handler])[] = [
	["GET", /^\/gateway\/bot$/, gatewayBot],
	["GET", /^\/users\/@me$/, ({ bot }) => ({ ...userJson(bot), verified: true, mfa_enabled: false })],
	["POST", /^\/users\/@me\/channels$/, openDm],
	["GET", /^\/applications\/@me$/, application],
	["GET", /^\/applications\/(\d+)\/commands$/, ({ bot }) => bot.commands],
	["PUT", /^\/applications\/(\d+)\/commands$/, setCommands],
	["GET", /^\/channels\/(\d+)$/, (call) => call.world.channelJson(channelOf(call))],
	["GET", /^\/guilds\/(\d+)\/members\/(\d+)$/, member],
	["GET", /^\/guilds\/(\d+)\/roles$/, roles],
	["POST", /^\/channels\/(\d+)\/typing$/, typing],
	["GET", /^\/channels\/(\d+)\/messages$/, history],
	["GET", /^\/channels\/(\d+)\/messages\/(\d+)$/, one],
	["POST", /^\/channels\/(\d+)\/messages$/, post],
	["PATCH", /^\/channels\/(\d+)\/messages\/(\d+)$/, change],
	["DELETE", /^\/channels\/(\d+)\/messages\/(\d+)$/, remove],
	["POST", /^\/channels\/(\d+)\/messages\/(\d+)\/threads$/, openThread],
	["PUT", /^\/channels\/(\d+)\/messages\/(\d+)\/reactions\/([^/]+)\/@me$/, react],
	["POST", /^\/interactions\/(\d+)\/([^/]+)\/callback$/, answer],
	["POST", /^\/webhooks\/(\d+)\/([^/]+)$/, follow],
	["GET", /^\/webhooks\/(\d+)\/([^/]+)\/messages\/@original$/, original],
	["PATCH", /^\/webhooks\/(\d+)\/([^/]+)\/messages\/@original$/, changeOriginal],
	["DELETE", /^\/webhooks\/(\d+)\/([^/]+)\/messages\/@original$/, removeOriginal],
];

/** These are addressed by a token of their own. */
export function needsNoBot(path: string): boolean {
	return path.startsWith("/interactions/") || path.startsWith("/webhooks/");
}

export function routeOf(method: string, path: string): { readonly handler: Handler; readonly at: string[] } {
	for (const [verb, pattern, handler] of ROUTES) {
		const match = verb === method ? pattern.exec(decodeURIComponent(path)) : null;
		if (match) return { handler, at: match.slice(1) };
	}
	throw new ApiError(404, 0, "404: Not Found");
}

function gatewayBot({ gatewayUrl }: RestCall): unknown {
	return {
		url: gatewayUrl,
		shards: 1,
		session_start_limit: { total: 1000, remaining: 999, reset_after: 86_400_000, max_concurrency: 1 },
	};
}

function application({ bot }: RestCall): unknown {
	return {
		id: bot.id,
		name: bot.name,
		icon: null,
		description: "",
		bot_public: false,
		bot_require_code_grant: false,
		verify_key: "00",
		flags: bot.mayReadContent ? CONTENT_FLAG : 0,
		bot: userJson(bot),
	};
}

function member({ world, bot, at: [guild, user = ""] }: RestCall): unknown {
	const found = world.guilds.find(({ id, bots }) => id === guild && bots.has(bot));
	if (!found) throw new ApiError(404, 10004, "Unknown Guild");
	const person = world.named(user);
	if (!person) throw new ApiError(404, 10007, "Unknown Member");
	return { ...memberJson(person), user: userJson(person) };
}

function roles({ world, bot, at: [guild] }: RestCall): unknown {
	const found = world.guilds.find(({ id, bots }) => id === guild && bots.has(bot));
	if (!found) throw new ApiError(404, 10004, "Unknown Guild");
	return rolesJson(found, bot);
}

function openDm({ world, bot, body }: RestCall): unknown {
	for (const channel of world.channels.values()) {
		const person = channel.people.find(({ id }) => id === body.recipient_id);
		if (person && world.sees(channel, bot)) return world.channelJson(channel);
	}
	throw invalidForm("recipient_id", "NUMBER_TYPE_COERCE", "Unknown User");
}

function setCommands({ world, bot, body }: RestCall): unknown {
	const given = Object.values(body) as readonly Record<string, unknown>[];
	for (const { name, description } of given) {
		if (!/^[-_\p{L}\p{N}]{1,32}$/u.test(String(name)) || String(name) !== String(name).toLowerCase())
			throw invalidForm("name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid");
		if (String(description).length < 1 || String(description).length > 100)
			throw invalidForm("description", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.");
	}
	bot.commands = given.map((command) => ({
		...command,
		id: world.snowflake(),
		application_id: bot.id,
		version: world.snowflake(),
		default_member_permissions: null,
		nsfw: false,
	}));
	return bot.commands;
}

function channelOf({ world, bot, at }: RestCall): ChannelRecord {
	return world.find(at[0] as string, bot);
}

/** Throws where the bot may not write. */
function writable(call: RestCall): ChannelRecord {
	const channel = channelOf(call);
	if (channel.closed) throw channel.closed;
	return channel;
}

function typing(call: RestCall): unknown {
	call.onTyping(writable(call));
	return EMPTY;
}

/** Newest first; `after` begins with the next ones after it. */
function history(call: RestCall): unknown {
	const { world, query } = call;
	const channel = channelOf(call);
	if (channel.hidesHistory) throw missingAccess();
	const limit = Math.min(100, Number(query.get("limit") ?? 50));
	const [after, before] = [query.get("after"), query.get("before")];
	const all = [...channel.messages.values()].filter(
		({ id }) =>
			(after === null || BigInt(id) > BigInt(after)) && (before === null || BigInt(id) < BigInt(before)),
	);
	const page = after === null ? all.slice(-limit) : all.slice(0, limit);
	return page.toReversed().map((message) => world.messageJson(message));
}

function one(call: RestCall): unknown {
	return call.world.messageJson(call.world.message(channelOf(call), call.at[1] as string));
}

function post(call: RestCall): unknown {
	const { world, bot } = call;
	const channel = writable(call);
	return world.messageJson(world.say(bot, channel, newMessage(call, channel)), true);
}

function newMessage(call: RestCall, channel: ChannelRecord): NewMessage {
	const { body } = call;
	const { nonce, message_reference: reference } = body;
	if (nonce !== undefined && String(nonce).length > 25)
		throw invalidForm("nonce", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.");
	const replyTo = (reference as { message_id?: string; fail_if_not_exists?: boolean } | undefined) ?? {};
	if (
		replyTo.message_id !== undefined &&
		replyTo.fail_if_not_exists !== false &&
		!channel.messages.has(replyTo.message_id)
	)
		throw invalidForm("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message");
	const isKnown = replyTo.message_id !== undefined && channel.messages.has(replyTo.message_id);
	const content = String(body.content ?? "");
	return {
		content,
		files: filesOf(call),
		components: checked(body.components),
		...(isKnown && { replyTo: replyTo.message_id as string }),
		...(nonce !== undefined && { nonce: String(nonce), enforceNonce: body.enforce_nonce === true }),
		...(body.flags !== undefined && { flags: Number(body.flags) }),
		pings: pingsOf(content, body.allowed_mentions, isKnown),
	};
}

/** Who is notified. What is not restricted notifies everybody that it names. */
function pingsOf(content: string, allowed: unknown, _isReply: boolean): readonly string[] {
	const named = mentionsIn(content);
	if (allowed === undefined) return named;
	const { parse = [], users = [] } = allowed as { parse?: readonly string[]; users?: readonly string[] };
	return named.filter((id) =>
		id === "everyone" ? parse.includes("everyone") : parse.includes("users") || users.includes(id),
	);
}

function filesOf({ files, body }: RestCall): readonly SentFile[] {
	const named = (body.attachments ?? []) as readonly {
		readonly id: number | string;
		readonly filename?: string;
	}[];
	return files.map(({ name, bytes }, n) => ({
		name: named.find(({ id }) => String(id) === String(n))?.filename ?? name,
		bytes,
	}));
}

function checked(components: unknown): readonly unknown[] {
	const rows = (components ?? []) as readonly {
		readonly components: readonly { readonly custom_id?: string; readonly label?: string }[];
	}[];
	if (rows.length > 5)
		throw invalidForm("components", "BASE_TYPE_MAX_LENGTH", "Must be 5 or fewer in length.");
	const ids = rows.flatMap((row) => row.components.map(({ custom_id: id }) => id));
	if (new Set(ids).size !== ids.length)
		throw invalidForm(
			"components",
			"COMPONENT_CUSTOM_ID_DUPLICATED",
			"Component custom id cannot be duplicated",
		);
	for (const row of rows) {
		if (row.components.length > 5)
			throw invalidForm("components", "BASE_TYPE_MAX_LENGTH", "Must be 5 or fewer in length.");
		for (const { custom_id: id, label } of row.components)
			if ((id ?? "").length > 100 || (label ?? "").length > 80)
				throw invalidForm("components", "BASE_TYPE_MAX_LENGTH", "Must be 100 or fewer in length.");
	}
	return rows;
}

function change(call: RestCall): unknown {
	const { world, bot, body, at } = call;
	const channel = writable(call);
	const id = at[1] as string;
	if (world.message(channel, id).author.id !== bot.id)
		throw new ApiError(403, 50005, "Cannot edit a message authored by another user");
	return world.messageJson(world.edit(channel, id, changeOf(call, body)));
}

function changeOf(call: RestCall, body: Readonly<Record<string, unknown>>) {
	return {
		...(body.content !== undefined && { content: String(body.content ?? "") }),
		...(body.components !== undefined && { components: checked(body.components) }),
		files: filesOf(call),
	};
}

function remove(call: RestCall): unknown {
	call.world.remove(writable(call), call.at[1] as string);
	return EMPTY;
}

/** It has the id of the message that it begins with. */
function openThread(call: RestCall): unknown {
	const { world, at, body } = call;
	const channel = writable(call);
	const id = at[1] as string;
	if (!channel.messages.has(id)) throw unknownMessage();
	if (channel.parent) throw new ApiError(400, 50024, "Cannot execute action on this channel type");
	if (world.channels.has(id))
		throw new ApiError(400, 160004, "A thread has already been created for this message");
	const name = String(body.name ?? "");
	if (name === "" || name.length > 100)
		throw invalidForm("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.");
	return world.channelJson(world.thread(channel, name, id));
}

function react(call: RestCall): unknown {
	const { world, bot, at } = call;
	world.react(bot, channelOf(call), at[1] as string, at[2] as string);
	return EMPTY;
}

function answer({ interactions, at, body }: RestCall): unknown {
	interactions.answer(at[0] as string, at[1] as string, body);
	return EMPTY;
}

function follow(call: RestCall): unknown {
	const { interactions, world, at } = call;
	const token = at[1] as string;
	const { channel } = interactions.seen.find((one) => one.token === token) ?? {};
	if (!channel) throw new ApiError(404, 10015, "Unknown Webhook");
	return world.messageJson(interactions.follow(token, newMessage(call, channel)));
}

function original({ interactions, world, at }: RestCall): unknown {
	const { channel, id } = interactions.original(at[1] as string);
	return world.messageJson(world.message(channel, id));
}

function changeOriginal(call: RestCall): unknown {
	const { interactions, world, at, body } = call;
	const token = at[1] as string;
	const { channel, id } = interactions.original(token);
	const flags = world.message(channel, id).flags & ~LOADING;
	const changed = world.edit(channel, id, { ...changeOf(call, body), flags });
	interactions.shown(token, changed.content);
	return world.messageJson(changed);
}

function removeOriginal({ interactions, world, at }: RestCall): unknown {
	const { channel, id } = interactions.original(at[1] as string);
	world.remove(channel, id);
	return EMPTY;
}
