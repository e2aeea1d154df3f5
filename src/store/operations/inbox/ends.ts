// The other ends of an accepted message: handled as a command, expired, or dropped by its user. Each sets the disposition in the
// transaction that makes it true.
import { type ConversationId, contentText, parseSource } from "../../../domain/index.ts";
import { seal, unseal } from "../../codec.ts";
import { type Context, get, type Op, run, sql } from "../../query.ts";
import type { Asked, Content, NewDelivery } from "../../types.ts";
import { cancelOpen, takenBackWith } from "../confirmations/calls.ts";
import { resolveConfirmation } from "../confirmations/confirmations.ts";
import { addDeliveries } from "../deliveries/deliveries.ts";
import { emit } from "../events.ts";
import { setHome } from "../homes.ts";
import { decidePairing } from "../people/pairings.ts";
import { manageJob } from "../schedules/manage.ts";
import {
	branchSession,
	continueSession,
	extendSession,
	newSession,
	setBusyMode,
	setConversationState,
	setModelOverride,
	setTitle,
	setToolProgress,
	switchSession,
} from "../sessions/commands.ts";
import { compress } from "../transcript/compaction.ts";
import { redo, retry, undo } from "../transcript/history.ts";
import { stopOpenTurn, stopThisTurn } from "../turns/ends.ts";

/** What a command may change, as part of its own end. */
const CHANGES = {
	newSession,
	continueSession,
	switchSession,
	branchSession,
	extendSession,
	setTitle,
	setConversationState,
	setModelOverride,
	setBusyMode,
	setToolProgress,
	undo,
	redo,
	retry,
	compress,
	stopTurn,
	setHome,
	decidePairing,
	resolveConfirmation,
	manageJob,
} as const;
type Changes = typeof CHANGES;

/** One change with its arguments, as data. */
export type Change = {
	[Name in keyof Changes]: { readonly name: Name; readonly args: Parameters<Changes[Name]>[1] };
}[keyof Changes];

interface WaitingItem {
	readonly id: number;
	readonly conversation: string;
	readonly body: string;
	readonly body_key: number | null;
}
const waitingItem = sql<WaitingItem>(
	"SELECT id, conversation, body, body_key FROM inbox WHERE id = ? AND due_at IS NOT NULL AND disposition IS NULL",
);
const doneCommand = sql<Pick<WaitingItem, "body" | "body_key">>(
	"SELECT body, body_key FROM inbox WHERE id = ? AND due_at IS NOT NULL AND disposition = 'command'",
);
const endItem = sql(
	"UPDATE inbox SET disposition = ?, disposition_detail = ?, disposed_at = ?, body = ?, due_at = ? WHERE id = ?",
);
const unanswered = sql<UnansweredItem>(
	"SELECT platform_message, accepted_at, body, body_key FROM inbox WHERE id = ? AND due_at IS NOT NULL",
);
const answeredItem = sql("UPDATE inbox SET body = NULL, due_at = NULL WHERE id = ?");
interface UnansweredItem {
	readonly platform_message: string;
	readonly accepted_at: number;
	readonly body: string;
	readonly body_key: number | null;
}

export interface PerformArgs {
	readonly inbox: number;
	readonly command: string;
	readonly change?: Change;
	/** Its answer if it changes nothing; stored instead of a result. */
	readonly said?: string | object;
}

/**
 * A command takes effect and its message ends, together. It stays due, with the result, until its answer is committed; repeating it
 * before that returns the same result.
 */
export function* performCommand(
	context: Context,
	args: PerformArgs,
): Op<{ kind: "done"; result: unknown } | { kind: "nothing" }> {
	const item = yield* get(waitingItem, args.inbox);
	if (!item) {
		const done = yield* get(doneCommand, args.inbox);
		if (!done) return { kind: "nothing" };
		return { kind: "done", result: unseal<{ result: unknown }>(done.body, done.body_key).result };
	}
	const change =
		args.change && (CHANGES[args.change.name] as (context: Context, args: unknown) => Op<unknown>);
	const result = change ? yield* change(context, args.change?.args) : (args.said ?? null);
	yield* finishCommand(context, item, args.command, result);
	return { kind: "done", result };
}

/** The end of a command's message, as part of its effect. An ended one is left unchanged. */
export function* endCommand(
	context: Context,
	{ inbox, command }: { readonly inbox: number; readonly command: string },
	result: unknown,
): Op<void> {
	const item = yield* get(waitingItem, inbox);
	if (item) yield* finishCommand(context, item, command, result);
}

function* finishCommand(context: Context, item: WaitingItem, command: string, result: unknown): Op<void> {
	const asAccepted = unseal<Readonly<Record<string, unknown>>>(item.body, item.body_key);
	const body = seal({ ...asAccepted, command, result });
	yield* run(endItem, "command", command, context.now, body, context.now, item.id);
	yield* emit(context, "inbound.command", { conversation: item.conversation, subject: item.id }, { command });
}

/** The answer to a command, at most once, with the written text. */
export function* answerCommand(
	context: Context,
	args: {
		readonly inbox: number;
		readonly conversation: ConversationId;
		readonly deliveries: readonly NewDelivery[];
	},
): Op<void> {
	const item = yield* get(unanswered, args.inbox);
	if (!item) return;
	yield* run(answeredItem, args.inbox);
	const asked = askedIn(args.inbox, item);
	const deliveries = args.deliveries.map((delivery, part) =>
		part === 0 ? { ...delivery, body: { ...delivery.body, asked } } : delivery,
	);
	yield* addDeliveries(context, args.conversation, null, deliveries);
}

function askedIn(inbox: number, { platform_message, accepted_at, body, body_key }: UnansweredItem): Asked {
	const { source, content } = unseal<{ readonly source: unknown; readonly content: Content }>(body, body_key);
	const { platform, userName } = parseSource(source);
	return {
		inbox,
		platformMessage: platform_message,
		platform,
		name: userName ?? null,
		text: contentText(content),
		at: accepted_at,
	};
}

export interface EndItemsArgs {
	readonly conversation: ConversationId;
	readonly inbox: readonly number[];
	readonly as: { readonly kind: "expired"; readonly reason: string } | { readonly kind: "dropped_by_user" };
	/** The notice for the user. */
	readonly deliveries?: readonly NewDelivery[];
}

/** Ends waiting items that will not be answered. Returns those it ended; one that a turn has taken is left alone. */
export function* endItems(context: Context, args: EndItemsArgs): Op<{ ended: readonly number[] }> {
	const ended: number[] = [];
	const reason = args.as.kind === "expired" ? args.as.reason : null;
	for (const id of args.inbox) {
		const item = yield* get(waitingItem, id);
		if (item?.conversation !== args.conversation) continue;
		yield* run(endItem, args.as.kind, reason, context.now, null, null, id);
		yield* emit(
			context,
			`inbound.${args.as.kind}`,
			{ conversation: args.conversation, subject: id },
			reason === null ? undefined : { reason },
		);
		ended.push(id);
	}
	if (ended.length > 0 && args.deliveries)
		yield* addDeliveries(context, args.conversation, null, args.deliveries);
	return { ended };
}

export interface StopArgs {
	readonly conversation: ConversationId;
	/** This turn or none: a later one is not meant. */
	readonly turn?: string;
	/** What other turns asked stays open. */
	readonly alone?: boolean;
	/** Waiting messages to drop with it. */
	readonly drop?: readonly number[];
}

/** For `/stop`: a stopped turn keeps its text, and is never resumed. Open questions are cancelled. */
export function* stopTurn(
	context: Context,
	{ conversation, turn, alone = false, drop = [] }: StopArgs,
): Op<{ stopped: string | null; dropped: readonly number[]; cancelled: readonly string[] }> {
	const stopped =
		turn === undefined
			? yield* stopOpenTurn(context, conversation)
			: yield* stopThisTurn(context, conversation, turn);
	const { ended } = yield* endItems(context, { conversation, inbox: drop, as: { kind: "dropped_by_user" } });
	const asking = alone ? new Set(stopped === null ? [] : [stopped]) : undefined;
	const cancelled = [
		...(yield* takenBackWith(stopped)),
		...(yield* cancelOpen(context, conversation, "stop", asking)),
	];
	return { stopped, dropped: ended, cancelled };
}
