// Confirmations of Keryx's own agent, as part of its turns: asking and its row are one transaction, using an approval and "started" are
// one, and open ones end with the turn or session that asked.
import { approvedCallResult, INTERRUPTED_RESULT } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { unseal } from "../../codec.ts";
import { all, type Context, get, type Op, run, sql } from "../../query.ts";
import type { Confirmation, Message, NewMessage } from "../../types.ts";
import { findConversation, findLive, sessionOfKey, targetOf } from "../sessions/sessions.ts";
import { append, type IndexedMessage } from "../transcript/append.ts";
import type { MessageBody } from "../transcript/content.ts";
import { heldTurn, type TurnRow } from "../turns/row.ts";
import { cancel, consume } from "./confirmations.ts";
import { endByClock, found, outcomeNote, withdraw } from "./ending.ts";
import { type ConfirmationRequest, type Requested, requestConfirmation } from "./request.ts";
import { CONFIRMATION_COLUMNS, type ConfirmationRow, confirmationRow, toConfirmation } from "./rows.ts";

const openOf = sql<ConfirmationRow>(
	`SELECT ${CONFIRMATION_COLUMNS} FROM confirmations
	WHERE conversation = ? AND due_at IS NOT NULL
		AND (status = 'pending' AND expires_at > ? OR status = 'approved' AND waiter = 'turn' AND use_by > ?) ORDER BY n`,
);
const openForCall = sql<ConfirmationRow>(
	`SELECT ${CONFIRMATION_COLUMNS} FROM confirmations
	WHERE conversation = ? AND due_at IS NOT NULL AND status = 'pending' AND waiter = 'turn' AND turn = ? AND call = ?`,
);
const usedBy = sql<{ claim: string | null }>("SELECT claim FROM confirmations WHERE id = ?");
const openLive = sql<ConfirmationRow>(
	`SELECT ${CONFIRMATION_COLUMNS} FROM confirmations
	WHERE conversation = ? AND due_at IS NOT NULL AND status = 'pending' AND waiter = 'live' AND turn = ?`,
);
const notesIn = sql<{ body: string; body_key: number | null }>(
	"SELECT body, body_key FROM messages WHERE turn = ? AND kind = 'note' ORDER BY id",
);
const takenBack = sql<{ id: string }>(
	`SELECT c.id FROM turns t JOIN inbox i ON i.turn = t.id AND i.kind = 'confirmation'
		JOIN confirmations c ON c.id = substr(i.platform_message, length('confirmation:') + 1)
	WHERE t.id = ? AND c.status = 'expired' AND c.use_by = t.ended_at ORDER BY c.n`,
);
const insertCall = sql(
	"INSERT INTO calls (turn, call, tool, repeatable, started_at) VALUES (?, ?, ?, 0, ?) ON CONFLICT (turn, call) DO NOTHING",
);

export interface AskForCallArgs {
	readonly turn: string;
	readonly token: number;
	readonly request: ConfirmationRequest & { readonly from: NonNullable<ConfirmationRequest["from"]> };
	/** The call's result while it waits. */
	readonly waiting: IndexedMessage;
}

export type AskedForCall =
	| {
			readonly kind: "waiting";
			readonly confirmation: Confirmation;
			readonly rows: readonly Message[];
			readonly messages: number;
			readonly cap: number;
	  }
	/** A grant covers it: marked as used, and the call as started. */
	| { readonly kind: "granted"; readonly confirmation: Confirmation }
	| Extract<Requested, { kind: "limited" }>;

/** A call that needs a human: the question and its row are one commit. A human is asked once per call. */
export function* askForCall(context: Context, args: AskForCallArgs): Op<AskedForCall> {
	const turn = yield* heldTurn(context, args.turn, args.token);
	const before = yield* get(openForCall, turn.conversation, turn.id, args.request.from.call);
	if (before) return yield* waitingFor(context, turn, yield* toConfirmation(before, context.now), args);
	const requested = yield* requestConfirmation(context, args.request);
	if (requested.kind === "limited") return requested;
	if (requested.kind === "conflict" || requested.kind === "repeated")
		throw new KeryxError("store.conflict", "a call of a turn has no idempotency key");
	const { confirmation } = requested;
	if (requested.kind === "auto_approved") {
		const row = yield* found(confirmation.id);
		yield* consume(context, row, row.asked_by, "agent");
		yield* run(insertCall, turn.id, args.request.from.call, args.request.from.tool, context.now);
		return { kind: "granted", confirmation };
	}
	return yield* waitingFor(context, turn, confirmation, args);
}

function* waitingFor(
	context: Context,
	turn: TurnRow,
	confirmation: Confirmation,
	{ waiting }: AskForCallArgs,
): Op<AskedForCall> {
	const conversation = yield* findConversation(turn.conversation);
	const before = yield* sessionOfKey(turn.session);
	const rows = yield* append(context, targetOf(conversation, before, turn.id), [waiting]);
	const { messages, cap } = yield* sessionOfKey(turn.session);
	return { kind: "waiting", confirmation, rows, messages, cap };
}

export type UsedForTurn =
	/** Marked as used and started, both committed: it may run now, and never again. */
	| { readonly kind: "run"; readonly confirmation: Confirmation }
	/** Already used, in this turn or another: the result is in the transcript, or unknown. */
	| { readonly kind: "used"; readonly confirmation: Confirmation }
	/** lapsed: it was approved but not used in time. */
	| { readonly kind: "lapsed" | "not"; readonly confirmation: Confirmation };

/** Uses an approval for its call. */
export function* useConfirmation(
	context: Context,
	args: {
		readonly turn: string;
		readonly token: number;
		readonly id: string;
		/** The holder of this token used it before but did not get the answer: it may still run it. */
		readonly again?: boolean;
	},
): Op<UsedForTurn> {
	const turn = yield* heldTurn(context, args.turn, args.token);
	const row = yield* found(args.id);
	if (row.conversation !== turn.conversation)
		throw new KeryxError("store.not_found", `no confirmation ${args.id}`, { field: "id" });
	yield* endByClock(context, row);
	const now = (yield* confirmationRow(args.id)) as ConfirmationRow;
	const confirmation = yield* toConfirmation(now, context.now);
	const user = `${turn.id}:${turn.token}`;
	if (now.status === "consumed") {
		const unheard = args.again && (yield* get(usedBy, args.id))?.claim === user;
		return { kind: unheard ? "run" : "used", confirmation };
	}
	if (now.status !== "approved") {
		const lapsed = now.status === "expired" && now.use_by !== null;
		return { kind: lapsed ? "lapsed" : "not", confirmation };
	}
	yield* consume(context, now, now.asked_by, "agent", user);
	yield* run(insertCall, turn.id, `confirmation:${row.id}`, row.tool ?? "", context.now);
	return { kind: "run", confirmation };
}

/**
 * `/stop`, `/new`, `/undo` and the like: nobody waits for these any more, and one that is approved and not yet used is not used. The
 * transcript records it, or the agent would keep waiting.
 */
export function* cancelOpen(
	context: Context,
	conversation: string,
	because: "stop" | "new" | "deleted" | "undo" | "retry",
	/** Only what these asked. */
	turns?: ReadonlySet<string>,
): Op<readonly string[]> {
	// An expired one is not cancelled: it expires, as it would have.
	const open = yield* all(openOf, conversation, context.now, context.now);
	const rows = turns ? open.filter(({ turn }) => turn !== null && turns.has(turn)) : open;
	if (rows.length === 0) return [];
	for (const row of rows)
		if (row.status === "approved") yield* withdraw(context, row, `system:${because}`);
		else yield* cancel(context, row, `system:${because}`, "system");
	const live = yield* findLive(conversation);
	// What a retry hides stays hidden, and the note would speak of it.
	if (live && because !== "retry") {
		const row = yield* findConversation(conversation as Parameters<typeof findConversation>[0]);
		const notes = rows.filter((row) => row.waiter === "turn").map(cancelledNote);
		if (notes.length > 0) yield* append(context, targetOf(row, live, null), notes);
	}
	return rows.map((row) => row.id);
}

/**
 * A turn that is cut short: an approval that it has not used is taken back, and the outcome of an approved call whose result it has not
 * stored is unknown. The transcript says both.
 */
export function* endOutcomes(
	context: Context,
	turn: Pick<TurnRow, "id" | "conversation" | "session">,
): Op<void> {
	const notes: NewMessage[] = [];
	for (const id of yield* unhandled(turn.id)) {
		const row = yield* confirmationRow(id);
		if (row?.status === "consumed")
			notes.push(approvedCallResult(yield* toConfirmation(row, context.now), INTERRUPTED_RESULT));
		if (row?.status !== "approved") continue;
		if (!(yield* endByClock(context, row))) yield* withdraw(context, row, "system:turn_ended");
		notes.push(cancelledNote(row));
	}
	if (notes.length === 0) return;
	const conversation = yield* findConversation(turn.conversation);
	yield* append(context, targetOf(conversation, yield* sessionOfKey(turn.session), turn.id), notes);
}

/** Approvals that were taken back when this turn ended. */
export function* takenBackWith(turn: string | null): Op<readonly string[]> {
	return turn === null ? [] : (yield* all(takenBack, turn)).map(({ id }) => id);
}

function cancelledNote(row: ConfirmationRow): NewMessage {
	return { role: "meta", kind: "note", content: outcomeNote(row, "cancelled") };
}

/** Confirmations whose outcome the turn was told, without a result. */
function* unhandled(turn: string): Op<readonly string[]> {
	const told = (yield* all(notesIn, turn)).flatMap(
		({ body, body_key }) => unseal<MessageBody>(body, body_key).confirmation ?? [],
	);
	const done = new Set(told.flatMap(({ id, as }) => (as === "result" ? id : [])));
	return told.flatMap(({ id, as }) => (as === "outcome" && !done.has(id) ? id : []));
}

/** A turn that ended no longer waits for its program's questions. Those already expired stay expired. */
export function* cancelLive(context: Context, conversation: string, turn: string): Op<void> {
	for (const row of yield* all(openLive, conversation, turn))
		if (!(yield* endByClock(context, row))) yield* cancel(context, row, "system:turn_ended", "system");
}
