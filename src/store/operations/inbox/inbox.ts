// Admission (I3, I4): a message is committed here, with the channel's cursor, before its platform is told, and one platform message id is
// accepted once. A refused message keeps no text and creates no conversation.
import { type ConversationId, parseSource, type Source, toWireSource } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { seal } from "../../codec.ts";
import { type Context, get, insert, type Op, run, sql } from "../../query.ts";
import type {
	BusyMode,
	Content,
	Disposition,
	InboxKind,
	NewDelivery,
	PersonRole,
	Poster,
	Quote,
} from "../../types.ts";
import { botTurns, heardFrom } from "../chats/known.ts";
import { addDeliveries } from "../deliveries/deliveries.ts";
import { emit } from "../events.ts";
import { askPairing, type PairingRequest } from "../people/pairings.ts";
import { adoptBlobs } from "../transcript/blobs.ts";
import { type Cursor, moveCursor } from "./cursors.ts";
import { keepNewest } from "./observed.ts";
import { type Routed, route } from "./routing.ts";
import { OWN_PLATFORM } from "./wake.ts";

export interface AcceptArgs extends Routed {
	readonly kind: InboxKind;
	/** Plain data that every engine and thread can carry; transport-only facts are no longer needed. */
	readonly source: Readonly<Record<string, unknown>>;
	/** Unique within (platform, account, chat); our own channels send a client message id. */
	readonly platformMessage: string;
	readonly content: Content;
	readonly quoted?: Quote;
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

export function* accept(context: Context, args: AcceptArgs): Op<Accepted> {
	const source = parseSource(args.source);
	if (source.platform === OWN_PLATFORM)
		throw new KeryxError(
			"source.invalid",
			`platform must not be ${OWN_PLATFORM}: it is that of Keryx's own events`,
			{
				field: "platform",
			},
		);
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
