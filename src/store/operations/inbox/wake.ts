// Internal events: what a conversation is told by Keryx itself, as an item of its inbox that starts a turn, exactly once.
import type { ConversationId, Speaker } from "../../../domain/index.ts";
import { seal, unseal } from "../../codec.ts";
import { type Context, get, insert, type Op, run, sql } from "../../query.ts";
import { emit } from "../events.ts";

/** The platform of internal events. No message may have it: it would take an event's place. */
export const OWN_PLATFORM = "keryx";

const INSERT_ITEM = `INSERT INTO inbox (kind, platform, account, chat, platform_message, conversation, principal, accepted_at, body, due_at,
		node)
	VALUES (?, '${OWN_PLATFORM}', '', ?, ?, ?, ?, ?, ?, ?, ?)`;
const insertItem = sql<{ id: number }>(INSERT_ITEM, `${INSERT_ITEM} RETURNING id`);
const untaken = sql<{ id: number }>(
	`SELECT id FROM inbox WHERE platform = '${OWN_PLATFORM}' AND account = '' AND chat = ? AND platform_message = ?
		AND due_at IS NOT NULL AND disposition IS NULL`,
);
const drop = sql(
	"UPDATE inbox SET disposition = 'dropped_by_user', disposed_at = ?, body = NULL, due_at = NULL WHERE id = ?",
);
const sourceOf = sql<{ source_body: string; body_key: number | null }>(
	"SELECT source_body, body_key FROM conversations WHERE id = ?",
);

/** A conversation with something new to handle. */
export interface Woken {
	readonly conversation: ConversationId;
	readonly inbox: number;
}

export interface InternalEvent {
	readonly kind: "process" | "confirmation";
	/** What it is about: there is one event of this kind for each. */
	readonly about: string;
	readonly conversation: ConversationId;
	readonly principal: string | null;
	readonly content: string;
	/** Where the turn that caused it answered; null: nowhere. */
	readonly destination: unknown;
	/** The people of that turn. */
	readonly speakers: readonly Speaker[];
	readonly confirmation?: string;
}

/** Null: the conversation is gone. */
export function* wake(
	context: Context,
	{ kind, about, conversation, principal, ...body }: InternalEvent,
): Op<Woken | null> {
	const source = yield* get(sourceOf, conversation);
	if (!source) return null;
	const inbox = yield* insert(
		insertItem,
		kind,
		conversation,
		`${kind}:${about}`,
		conversation,
		principal,
		context.now,
		seal({ source: unseal(source.source_body, source.body_key), ...body }),
		context.now,
		context.epoch,
	);
	yield* emit(context, "inbound.accepted", { conversation, subject: inbox }, { kind });
	return { conversation, inbox };
}

/** Takes an event back, unless a turn has taken it already. */
export function* unwake(
	context: Context,
	{ kind, about, conversation }: Pick<InternalEvent, "kind" | "about" | "conversation">,
): Op<void> {
	const item = yield* get(untaken, conversation, `${kind}:${about}`);
	if (!item) return;
	yield* run(drop, context.now, item.id);
	yield* emit(context, "inbound.dropped_by_user", { conversation, subject: item.id });
}
