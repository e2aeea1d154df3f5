// Inbox items that a turn takes: their rows in the transcript, whom they speak for, and where their answer goes. Their bodies leave the
// inbox with the commit that appends them.
import { type PersonRole, parseSource, type Source, type Speaker } from "../../../domain/index.ts";
import { unseal } from "../../codec.ts";
import { all, type Context, type Op, run, sql } from "../../query.ts";
import type { Content, Destination, InboxKind, Message, NewMessage, Quote } from "../../types.ts";
import { destinationOf } from "../deliveries/destination.ts";
import { OBSERVED_KEPT } from "../inbox/observed.ts";
import { type ConversationRow, type SessionRow, sessionOfKey, targetOf } from "../sessions/sessions.ts";
import { append, appendTouching, type IndexedMessage, type Touched } from "../transcript/append.ts";

export const inboxWaiting = sql<InboxRow>(
	`SELECT id, kind, principal, accepted_at, body, body_key FROM inbox WHERE id = ? AND conversation = ? AND due_at IS NOT NULL AND disposition IS NULL`,
);
export const takeInbox = sql(
	"UPDATE inbox SET turn = ?, message = ?, body = NULL, due_at = NULL WHERE id = ?",
);
const unseen = sql<InboxRow>(
	`SELECT id, kind, principal, accepted_at, body, body_key FROM inbox
	WHERE conversation = ? AND disposition = 'observed' AND body IS NOT NULL ORDER BY id DESC`,
);
const showUnseen = sql("UPDATE inbox SET message = ?, body = NULL WHERE id = ?");

export interface InboxRow {
	readonly id: number;
	readonly kind: InboxKind;
	readonly principal: string | null;
	readonly accepted_at: number;
	readonly body: string;
	readonly body_key: number | null;
	/** The body, once it was read. */
	read?: ItemBody;
}

/** Observed messages that no turn has shown yet, newest first. */
export function* observedBefore(conversation: string): Op<InboxRow[]> {
	return yield* all(unseen, conversation);
}

/**
 * The rows of a new turn's items: observed messages and edits first, then one row per item. Answers how many messages the session has
 * then. `touched` is null for internal events, which are no activity of a person.
 */
export function* appendItems(
	context: Context,
	of: {
		readonly conversation: ConversationRow;
		readonly session: SessionRow;
		readonly turn: string;
		readonly items: readonly InboxRow[];
		readonly earlier: { readonly observed: readonly InboxRow[]; readonly amended: readonly NewMessage[] };
		readonly touched: Touched | null;
	},
): Op<{ rows: Message[]; messages: number }> {
	const { turn, items, touched } = of;
	const { observed, amended } = of.earlier;
	const shown = observed.slice(0, OBSERVED_KEPT).reverse();
	const messages: IndexedMessage[] = [
		...shown.map((item) => messageOf(item, true)),
		...amended,
		...items.map((item) => messageOf(item, false)),
	];
	const target = { ...targetOf(of.conversation, of.session, turn), isNew: true };
	const indexed = messages.map((message, index) => ({ ...message, index }));
	const appended = touched
		? yield* appendTouching(context, target, indexed, touched)
		: { rows: yield* append(context, target, indexed), ...(yield* countOf(of.session)) };
	const { rows } = appended;
	for (const [index, item] of shown.entries()) yield* run(showUnseen, (rows[index] as Message).id, item.id);
	for (const item of observed.slice(OBSERVED_KEPT)) yield* run(showUnseen, null, item.id);
	for (const [index, item] of items.entries())
		yield* run(takeInbox, turn, (rows[shown.length + amended.length + index] as Message).id, item.id);
	return appended;
}

function* countOf({ key }: SessionRow): Op<{ messages: number }> {
	const { messages } = yield* sessionOfKey(key);
	return { messages };
}

export function messageOf(item: InboxRow, observed: boolean): IndexedMessage {
	const { source, content, quoted, confirmation } = bodyOf(item);
	const author =
		item.principal === null
			? undefined
			: { principal: item.principal, ...(source.userName && { name: source.userName }) };
	if (confirmation !== undefined)
		return { role: "meta", kind: "note", content, confirmation: { id: confirmation, as: "outcome" } };
	if (item.kind !== "person") return { role: "meta", kind: "note", content };
	return {
		role: "user",
		content,
		...(quoted && { quoted }),
		...(author && { author }),
		...(observed && { observed }),
		inbound: item.id,
	};
}

interface ItemBody {
	readonly source: Source;
	readonly content: Content;
	readonly quoted?: Quote;
	/** For an internal event that answers an earlier turn: where that turn's reply went. */
	readonly destination?: Destination | null;
	/** The confirmation that it is about. */
	readonly confirmation?: string;
	/** The role its writer was admitted with. */
	readonly role?: PersonRole;
	readonly platformRole?: string;
	/** For an internal event: the people of the turn that caused it. */
	readonly speakers?: readonly Speaker[];
}

/** The people a turn over this item speaks for. An internal event has the rights of the people who caused it. */
export function speakersOfItem(item: InboxRow): readonly Speaker[] {
	const { speakers, source, role = "guest", platformRole } = bodyOf(item);
	if (item.kind !== "person") return speakers ?? [];
	const { principal } = item;
	return [
		{ principal, role, platform: source.platform, ...(platformRole !== undefined && { platformRole }) },
	];
}

/** Read once: a turn asks for it three times. */
function bodyOf(item: InboxRow): ItemBody {
	item.read ??= readBody(item);
	return item.read;
}

function readBody(item: InboxRow): ItemBody {
	const body = unseal<ItemBody & { source: unknown }>(item.body, item.body_key);
	return { ...body, source: parseSource(body.source) };
}

export function destinationFor(item: InboxRow): Destination {
	const { destination, source } = bodyOf(item);
	return destination ?? destinationOf(source);
}
