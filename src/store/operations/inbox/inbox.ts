// Admission (I3, I4): a message is committed here, with the channel's cursor, before its platform is told, and one platform message id is
// accepted once. A refused message keeps no text and creates no conversation.
import {
	type Address,
	type AliasPair,
	addressDigest,
	type ConversationId,
	conversationId,
	isShared,
	parseSource,
	personId,
	readableKey,
	resolveAddress,
	type Source,
	toWireSource,
} from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { seal } from "../../codec.ts";
import { type Context, get, insert, type Op, run, sql } from "../../query.ts";
import type {
	BusyMode,
	Content,
	ConversationState,
	Disposition,
	InboxKind,
	NewDelivery,
	PersonRole,
	Poster,
	Quote,
} from "../../types.ts";
import { botTurns, firstAddress, heardFrom } from "../chats/known.ts";
import { addDeliveries } from "../deliveries/deliveries.ts";
import { emit } from "../events.ts";
import { askPairing, type PairingRequest } from "../people/pairings.ts";
import { ensurePrincipal, idsOf, samePrincipals } from "../people/principals.ts";
import { adoptBlobs } from "../transcript/blobs.ts";
import { type Cursor, moveCursor } from "./cursors.ts";
import { keepNewest } from "./observed.ts";

export interface AcceptArgs {
	readonly kind: InboxKind;
	/** Plain data that every engine and thread can carry; transport-only facts are no longer needed. */
	readonly source: Readonly<Record<string, unknown>>;
	/** Unique within (platform, account, chat); our own channels send a client message id. */
	readonly platformMessage: string;
	readonly content: Content;
	readonly quoted?: Quote;
	readonly routing: {
		readonly groupSessionsPerUser: boolean;
		readonly threadSessionsPerUser: boolean;
		readonly profile: string | null;
	};
	/** Set for internal events and for an operator who joins one; any other message finds its conversation by its address. */
	readonly conversation?: ConversationId;
	/** accept: to be answered. observe: seen, not addressed. refuse: why. command: run next to the turn, by this name. */
	readonly as:
		| { readonly kind: "accept" | "observe" }
		/** A stranger who may ask for access gets a code, unless they got one recently. */
		| { readonly kind: "refuse"; readonly reason: string; readonly pairing?: PairingRequest }
		| { readonly kind: "command"; readonly name: string };
	/** A bot wrote it. This many are answered in its chat until a person writes; the last one comes with a notice. */
	readonly bot?: { readonly limit: number; readonly notice: readonly NewDelivery[] };
	/** It runs as a command. */
	readonly asCommand?: boolean;
	/** The sender's role on admission: transport facts are gone when a message is resumed after a crash. */
	readonly role?: PersonRole;
	/** The platform role that admitted its sender. */
	readonly platformRole?: string;
	/** Absent: a channel delivered it and authenticated the writer. */
	readonly poster?: Poster;
	/** Blobs stored before. A part of the content names one by its digest or id. */
	readonly blobs?: readonly string[];
	readonly cursor?: Cursor;
	/** When its sender wrote it, if the platform says so. Default: when it was accepted. */
	readonly sentAt?: number;
	/** When the lane should process it: now, or a little later while a burst gathers. */
	readonly dueAt?: number;
}

export interface Accepted {
	readonly id: number;
	readonly conversation: ConversationId | null;
	readonly key: string | null;
	readonly principal: string | null;
	readonly shared: boolean;
	/** The conversation's busy mode; null: the configured one. */
	readonly busy: BusyMode | null;
	/** Already accepted: only the cursor was written; the disposition says how the first one ended. */
	readonly duplicate: boolean;
	readonly disposition: Disposition | null;
	readonly acceptedAt: number;
}

const findInbox = sql<InboxState>(
	`SELECT i.id, i.conversation, i.principal, i.turn, i.disposition, i.disposition_detail, i.accepted_at, c.key, c.shared, c.busy
	FROM inbox i LEFT JOIN conversations c ON c.id = i.conversation
	WHERE i.platform = ? AND i.account = ? AND i.chat = ? AND i.platform_message = ?`,
);
const INSERT_INBOX = `INSERT INTO inbox (kind, platform, account, chat, platform_message, conversation, principal, accepted_at,
		disposition, disposition_detail, disposed_at, body, due_at, node)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const insertInbox = sql<{ id: number }>(INSERT_INBOX, `${INSERT_INBOX} RETURNING id`);
const findAddress = sql<FoundConversation>(
	`SELECT c.id, c.key, c.shared, c.busy, c.last_activity_at, c.principal, c.profile, c.chat_type, c.origin, c.state, c.source_body
	FROM addresses a JOIN conversations c ON c.id = a.conversation WHERE a.digest = ?`,
);
const findConversation = sql<FoundConversation>(
	`SELECT id, key, shared, busy, last_activity_at, principal, profile, chat_type, origin, state, source_body
	FROM conversations WHERE id = ?`,
);
const findKey = sql<{ id: string }>("SELECT id FROM conversations WHERE key = ?");
const setKey = sql("UPDATE conversations SET key = ? WHERE id = ?");
const insertConversation = sql(
	`INSERT INTO conversations (id, key, platform, profile, chat_type, principal, shared, created_at, last_activity_at,
		source_body, preview_body)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '""')`,
);
const insertAddress = sql(
	`INSERT INTO addresses (digest, conversation, profile, platform, account, scope, chat_type, chat, thread, participant)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (digest) DO UPDATE SET conversation = excluded.conversation`,
);
const updateSource = sql("UPDATE conversations SET source_body = ? WHERE id = ?");

interface InboxState {
	readonly id: number;
	readonly conversation: ConversationId | null;
	readonly principal: string | null;
	readonly turn: string | null;
	readonly disposition: string | null;
	readonly disposition_detail: string | null;
	readonly accepted_at: number;
	readonly key: string | null;
	readonly shared: number | null;
	readonly busy: BusyMode | null;
}

interface FoundConversation {
	readonly id: ConversationId;
	readonly key: string;
	readonly shared: number;
	readonly busy: BusyMode | null;
	readonly last_activity_at: number;
	readonly principal: string | null;
	readonly profile: string;
	readonly chat_type: string;
	/** Where it was imported from; null if made here. */
	readonly origin: string | null;
	readonly state: ConversationState;
	readonly source_body: string;
}

export function* accept(context: Context, args: AcceptArgs): Op<Accepted> {
	const source = parseSource(args.source);
	if (args.cursor) yield* moveCursor(context, args.cursor);

	const before = yield* get(findInbox, source.platform, source.account, source.chatId, args.platformMessage);
	if (before) return duplicate(before);
	const heard = args.kind === "person" ? yield* hear(context, args, source) : null;
	if (args.as.kind === "refuse") return yield* refuse(context, args, source, args.as.reason);
	if (heard?.tooMany) return yield* refuse(context, args, source, TOO_MANY_BOTS);

	const { conversation, principal } = yield* route(context, args, source);
	const content = yield* withBlobs(args, conversation.id);
	const wire = toWireSource(source);
	const done = disposedAtOnce(args.as);
	const waits = done === null;
	const id = yield* insert(
		insertInbox,
		args.kind,
		source.platform,
		source.account,
		source.chatId,
		args.platformMessage,
		conversation.id,
		principal,
		context.now,
		done?.kind ?? null,
		done && "name" in done ? done.name : null,
		done ? context.now : null,
		seal({
			source: wire,
			content,
			...(args.quoted && { quoted: args.quoted }),
			...(args.asCommand && { asCommand: true }),
			...(args.role && { role: args.role }),
			...(args.platformRole && { platformRole: args.platformRole }),
			...(args.poster && { poster: args.poster }),
			...(args.sentAt !== undefined && { sentAt: args.sentAt }),
		}),
		waits ? (args.dueAt ?? context.now) : null,
		context.epoch,
	);
	// Where its people write from: an internal event has no origin, an operator who joins has another.
	if (args.kind === "person" && args.conversation === undefined) {
		const body = seal(wire);
		if (body !== conversation.source_body) yield* run(updateSource, body, conversation.id);
	}
	if (done?.kind === "observed") yield* keepNewest(conversation.id);
	if (heard?.isLast && args.bot) yield* addDeliveries(context, conversation.id, null, args.bot.notice);
	yield* emit(
		context,
		waits ? "inbound.accepted" : `inbound.${done.kind}`,
		{ conversation: conversation.id, subject: id },
		args.kind === "person" ? undefined : { kind: args.kind },
	);
	return {
		id,
		conversation: conversation.id,
		key: conversation.key,
		principal,
		shared: conversation.shared === 1,
		busy: conversation.busy,
		duplicate: false,
		disposition: done,
		acceptedAt: context.now,
	};
}

const TOO_MANY_BOTS = "too many messages from bots without a person";

/** The chat was heard from. Only a limited number of bot messages are answered until a person writes. */
function* hear(
	context: Context,
	{ as, bot }: AcceptArgs,
	source: Source,
): Op<{ readonly tooMany: boolean; readonly isLast: boolean }> {
	if (as.kind === "refuse" || !bot) {
		yield* heardFrom(context, source, as.kind === "refuse" ? "stranger" : "person");
		return { tooMany: false, isLast: false };
	}
	const tooMany = (yield* botTurns(source)) >= bot.limit;
	const counts = as.kind === "accept" && !tooMany;
	const turns = yield* heardFrom(context, source, counts ? "bot" : "stranger");
	return { tooMany, isLast: counts && turns === bot.limit };
}

/** Moves the blobs into the conversation; a row names them by their digests. */
function* withBlobs({ content, blobs = [] }: AcceptArgs, conversation: string): Op<Content> {
	if (blobs.length === 0) return content;
	const digests = yield* adoptBlobs(blobs, conversation);
	if (typeof content === "string") return content;
	return content.map((part) =>
		part.type === "text" ? part : { ...part, blob: digests.get(part.blob) ?? part.blob },
	);
}

function disposedAtOnce(
	as: AcceptArgs["as"],
): { readonly kind: "observed" } | { readonly kind: "command"; readonly name: string } | null {
	if (as.kind === "observe") return { kind: "observed" };
	if (as.kind === "command") return { kind: "command", name: as.name };
	return null;
}

function duplicate(row: InboxState): Accepted {
	return {
		id: row.id,
		conversation: row.conversation,
		key: row.key,
		principal: row.principal,
		shared: row.shared === 1,
		busy: row.busy,
		duplicate: true,
		disposition: toDisposition(row),
		acceptedAt: row.accepted_at,
	};
}

export function toDisposition(row: {
	readonly disposition: string | null;
	readonly disposition_detail: string | null;
	readonly turn: string | null;
}): Disposition | null {
	const kind = row.disposition as Disposition["kind"] | null;
	switch (kind) {
		case null:
			return null;
		case "answered":
		case "merged":
		case "stopped":
			return { kind, turn: row.turn ?? "" };
		case "command":
			return { kind, name: row.disposition_detail ?? "" };
		case "observed":
		case "dropped_by_user":
			return { kind };
		case "refused":
		case "expired":
		case "failed":
			return { kind, reason: row.disposition_detail ?? "" };
	}
}

function* refuse(context: Context, args: AcceptArgs, source: Source, reason: string): Op<Accepted> {
	const id = yield* insert(
		insertInbox,
		args.kind,
		source.platform,
		source.account,
		source.chatId,
		args.platformMessage,
		null,
		null,
		context.now,
		"refused",
		reason,
		context.now,
		null,
		null,
		context.epoch,
	);
	yield* emit(context, "inbound.refused", { subject: id }, { platform: source.platform, reason });
	if (args.as.kind === "refuse" && args.as.pairing) yield* askPairing(context, source, args.as.pairing);
	return {
		id,
		conversation: null,
		key: null,
		principal: null,
		shared: false,
		busy: null,
		duplicate: false,
		disposition: { kind: "refused", reason },
		acceptedAt: context.now,
	};
}

/** The conversation of a message, created if its address is new. */
function* route(
	context: Context,
	args: AcceptArgs,
	source: Source,
): Op<{ conversation: FoundConversation; principal: string | null }> {
	const principal = yield* ensurePrincipal(context, source.platform, personsIds(source));
	if (args.conversation !== undefined) {
		const named = yield* get(findConversation, args.conversation);
		if (!named)
			throw new KeryxError("store.not_found", `no conversation ${args.conversation}`, {
				field: "conversation",
			});
		return { conversation: named, principal };
	}
	const ids = principal ? yield* idsOf(source.platform, principal) : [];
	const aliases = ids.slice(1).map((id): AliasPair => [ids[0] as string, id]);
	const address = yield* firstAddress(resolveAddress(source, { ...args.routing, aliases }));
	const digest = addressDigest(address);
	const known = yield* get(findAddress, digest);
	const own = (yield* isTheirs(known, address, principal)) ? known : undefined;
	const newest =
		aliases.length > 0 ? yield* findByEveryId(address, source.platform, ids, aliases, principal) : own;
	if (newest) {
		if (!own) yield* pointAddress(digest, newest.id, address);
		return { conversation: newest, principal };
	}
	const owner = isShared(address) ? null : principal;
	if (known?.state === "deleted") yield* giveUpKey(known, address);
	return { conversation: yield* createConversation(context, address, digest, owner, source), principal };
}

/** A deleted conversation stays deleted, under another key: new messages from its address start a new one. */
function* giveUpKey({ id, key }: FoundConversation, address: Address): Op<void> {
	if (key !== readableKey(address)) return;
	yield* run(setKey, yield* freeKey(key), id);
}

function* freeKey(plain: string): Op<string> {
	let key = plain;
	for (let n = 2; yield* get(findKey, key); n++) key = `${plain}~${n}`;
	return key;
}

/**
 * Whether a message from an address continues the conversation it leads to. Not a deleted one. An imported file may claim any address: a
 * private conversation accepts only its own person.
 */
function* isTheirs(
	found: FoundConversation | undefined,
	address: Address,
	principal: string | null,
): Op<boolean> {
	if (!found || found.state === "deleted") return false;
	if (found.origin === null) return true;
	if (found.profile !== address.profile || found.chat_type !== address.chatType) return false;
	if (found.shared === 1) return isShared(address);
	if (found.principal === null || principal === null) return found.principal === principal;
	return (yield* samePrincipals(found.principal)).includes(principal);
}

/** A sender's known ids. In a dm without a sender, the chat is the person. */
export function personsIds(source: Source): string[] {
	const ids = [source.userIdAlt, source.userId].filter((id) => id !== undefined);
	if (ids.length === 0 && source.chatType === "dm" && source.chatId !== "") ids.push(source.chatId);
	return ids.map((id) => personId(source.platform, id, []));
}

/** A person's conversation under any of their ids for this address: one may predate the link between two ids. The newest of several. */
function* findByEveryId(
	address: Address,
	platform: string,
	ids: readonly string[],
	aliases: readonly AliasPair[],
	principal: string | null,
): Op<FoundConversation | undefined> {
	const own = address.chatType === "dm" && address.chat !== "" ? "chat" : "participant";
	const same = ids.filter((id) => personId(platform, id, aliases) === address[own]);
	let newest: FoundConversation | undefined;
	for (const id of new Set([address[own], ...same])) {
		const found = yield* get(findAddress, addressDigest({ ...address, [own]: id }));
		if (!found || !(yield* isTheirs(found, address, principal))) continue;
		if (!newest || found.last_activity_at > newest.last_activity_at) newest = found;
	}
	return newest;
}

export function* createConversation(
	context: Context,
	address: Address,
	digest: string,
	principal: string | null,
	source: Source,
): Op<FoundConversation> {
	const id = conversationId(context.uuid());
	const key = yield* freeKey(readableKey(address));
	const shared = isShared(address) ? 1 : 0;
	const source_body = seal(toWireSource(source));
	yield* run(
		insertConversation,
		id,
		key,
		address.platform,
		address.profile,
		address.chatType,
		principal,
		shared,
		context.now,
		context.now,
		source_body,
	);
	yield* pointAddress(digest, id, address);
	yield* emit(context, "conversation.created", { conversation: id, subject: key });
	const { profile, chatType: chat_type } = address;
	const last_activity_at = context.now;
	const found = { id, key, shared, busy: null, last_activity_at, principal, profile, chat_type };
	return { ...found, origin: null, state: "open", source_body };
}

/** Also away from an imported conversation of someone else. */
function* pointAddress(digest: string, conversation: string, address: Address): Op<void> {
	yield* run(insertAddress, digest, conversation, ...addressColumns(address));
}

/** In the order of the table's columns. */
export function addressColumns(address: Address): string[] {
	const { profile, platform, account, scope, chatType, chat, thread, participant } = address;
	return [profile, platform, account, scope, chatType, chat, thread, participant];
}
