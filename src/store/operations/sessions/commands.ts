// Session commands: new, continue, switch, branch, extend, titles, and the conversation's settings. Each first ends the running turn,
// then acts, in one transaction.

import {
	type ConversationId,
	cleanTitle,
	type ModelOverride,
	nextDue,
	type ResetPolicy,
	type SessionId,
	sanitizeModelOverride,
	successorTitle,
} from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { seal } from "../../codec.ts";
import { type Context, get, type Op, run, sql } from "../../query.ts";
import type { BusyMode, ConversationState, ToolProgress } from "../../types.ts";
import { cancelOpen } from "../confirmations/calls.ts";
import { emit } from "../events.ts";
import { indexTitle } from "../search/index-rows.ts";
import { chainOf, countOf, lastSeqOf, type Segment } from "../transcript/chain.ts";
import { stopOpenTurn } from "../turns/ends.ts";
import { copyTranscript } from "./copy.ts";
import { giveConversationTitle, moveTo, nameByTopic } from "./filing.ts";
import { reachOf, type Within } from "./reach.ts";
import {
	addedTo,
	type ConversationRow,
	capOf,
	end,
	findConversation,
	findLast,
	findLive,
	findSession,
	type Opening,
	open,
	previousOf,
	type SessionRow,
	sessionOfKey,
	titleOf,
} from "./sessions.ts";
import { titleDigest } from "./titles.ts";

const setBase = sql(
	`UPDATE sessions SET base_session = ?, base_seq = ?, base_kind = 'continue', messages = messages + ?, cap = ?, added = ?,
		last_activity_at = ?, had_activity = 1, notice_pending = 0, due_at = ? WHERE key = ?`,
);
const revive = sql(
	`UPDATE sessions SET ended_at = NULL, end_reason = NULL, suspended_at = NULL, resume_pending_since = NULL, finalised = 0,
		last_activity_at = ?, messages = ?, cap = ?, added = ?, due_at = ? WHERE key = ?`,
);
const raiseCap = sql("UPDATE sessions SET cap = cap + ?, added = added + ? WHERE key = ? AND cap > 0");
const titleTaken = sql<{ key: number }>(
	"SELECT key FROM sessions WHERE conversation = ? AND title_digest = ? AND key <> ?",
);
const writeTitle = sql(
	"UPDATE sessions SET title_digest = ?, title_source = ?, title_body = ? WHERE key = ?",
);
const writeOverride = sql("UPDATE conversations SET model_override = ? WHERE id = ?");
const writeBusy = sql("UPDATE conversations SET busy = ? WHERE id = ?");
const writeToolProgress = sql("UPDATE conversations SET tool_progress = ? WHERE id = ?");
const settingsOf = sql<SettingsRow>(
	"SELECT model_override, busy, tool_progress FROM conversations WHERE id = ?",
);
const rowOf = sql<{ session: number; seq: number; turn: string | null }>(
	"SELECT session, seq, turn FROM messages WHERE id = ?",
);
const lastOfTurn = sql<{ seq: number | null }>(
	"SELECT max(seq) AS seq FROM messages WHERE session = ? AND turn = ?",
);

interface SettingsRow {
	readonly model_override: string | null;
	readonly busy: BusyMode | null;
	readonly tool_progress: ToolProgress | null;
}

export interface Changed {
	readonly session: SessionId;
	/** The previously live session, if it is another one. */
	readonly ended: SessionId | null;
	/** The turn that was ended for this. */
	readonly stopped: string | null;
}

export interface SessionCommand extends Opening {
	readonly conversation: ConversationId;
}

/** `/new`: nothing is carried over, and the model override is cleared. */
export function* newSession(
	context: Context,
	args: SessionCommand & { readonly title?: string },
): Op<Changed> {
	const conversation = yield* findConversation(args.conversation);
	const stopped = yield* stopOpenTurn(context, conversation.id);
	const live = yield* findLive(conversation.id);
	yield* cancelOpen(context, conversation.id, "new");
	if (live) yield* end(context, live, "user_new");
	yield* run(writeOverride, null, conversation.id);
	const previous = live ?? (yield* findLast(conversation.id)) ?? null;
	const session = yield* open(context, conversation, args, { openedBy: "user_new", previous });
	if (args.title !== undefined) yield* giveTitle(context, conversation, session, args.title, "user");
	return { session: session.id, ended: live?.id ?? null, stopped };
}

/** `/continue`: the live session continues from the previous one. Nothing moves; the live id stays. */
export function* continueSession(
	context: Context,
	args: SessionCommand,
): Op<Changed & { continued: SessionId }> {
	const conversation = yield* findConversation(args.conversation);
	const last = yield* findLast(conversation.id);
	if (!last)
		throw new KeryxError("session.none", "there is no earlier session to continue", {
			field: "conversation",
		});
	const stopped = yield* stopOpenTurn(context, conversation.id);
	const live =
		last.ended_at === null
			? last
			: yield* open(context, conversation, args, {
					openedBy: last.end_reason ?? "idle",
					previous: last,
				});
	if (live.base_session !== null)
		throw new KeryxError("session.continued", `session ${live.id} already continues an earlier one`, {
			field: "conversation",
		});
	const base = yield* previousOf(live);
	if (!base)
		throw new KeryxError("session.none", "there is no earlier session to continue", {
			field: "conversation",
		});
	const added = continuedBy(live, base, args.policy);
	yield* run(
		setBase,
		base.key,
		yield* lastSeqOf(base.key),
		yield* countOf(yield* chainOf(base)),
		capOf(args.policy, added),
		added,
		context.now,
		nextDue({ lastActivityAt: context.now, policy: args.policy }),
		live.key,
	);
	yield* emit(
		context,
		"session.continued",
		{ conversation: conversation.id, session: live.id },
		{ base: base.id },
	);
	return { session: live.id, ended: null, stopped, continued: base.id };
}

/** The base's extension continues with its messages; after message_limit the base alone fills the limit, so a whole limit is added. */
function continuedBy(live: SessionRow, base: SessionRow, policy: ResetPolicy): number {
	const added = Math.max(addedTo(live, policy), addedTo(base, policy));
	return base.end_reason === "message_limit" ? added + policy.maxMessages : added;
}

export interface SwitchArgs extends SessionCommand {
	readonly target: SessionId;
	readonly within: Within;
	/** The requester; default: the operator. */
	readonly asker?: string | null;
}

/** `/resume`: the target becomes live; one of another conversation is copied. Inaccessible ones are not_found. */
export function* switchSession(context: Context, args: SwitchArgs): Op<Changed> {
	const conversation = yield* findConversation(args.conversation);
	const target = yield* findSession(args.target, "target");
	const own = target.conversation === conversation.id;
	const reaches = yield* reachOf(conversation, args.within, args.asker);
	if (!reaches(yield* findConversation(target.conversation)))
		throw new KeryxError("store.not_found", `no session ${args.target}`, { field: "target" });
	const stopped = yield* stopOpenTurn(context, conversation.id);
	const live = yield* findLive(conversation.id);
	if (live?.key === target.key) return { session: live.id, ended: null, stopped };
	if (live) yield* end(context, live, "user_switch");
	const session = own
		? yield* makeLive(context, target, args.policy)
		: yield* copyTranscript(context, conversation, target, live ?? null, args);
	yield* emit(
		context,
		"session.switched",
		{ conversation: conversation.id, session: session.id },
		{ to: target.id },
	);
	return { session: session.id, ended: live?.id ?? null, stopped };
}

function* makeLive(context: Context, target: SessionRow, policy: ResetPolicy): Op<SessionRow> {
	// Counted again: a session that continued it may have hidden some of its rows.
	const messages = yield* countOf(yield* chainOf(target));
	yield* run(
		revive,
		context.now,
		messages,
		capOf(policy, messages),
		messages,
		nextDue({ lastActivityAt: context.now, policy }),
		target.key,
	);
	return target;
}

/** Where a branch leaves a transcript: before one of its messages, or after the turn of one. */
export interface BranchPoint {
	readonly where: "before" | "after";
	/** The message's id, in any session of the conversation. */
	readonly message: number;
}

/** `/branch`: a new session from the current or an earlier point; the original stays unchanged. */
export function* branchSession(
	context: Context,
	args: SessionCommand & { readonly title?: string; readonly from?: BranchPoint },
): Op<Changed> {
	const conversation = yield* findConversation(args.conversation);
	const point = args.from && (yield* branchPoint(conversation.id, args.from));
	const stopped = yield* stopOpenTurn(context, conversation.id);
	const live = yield* findLive(conversation.id);
	const base = point?.session ?? live;
	if (!base)
		throw new KeryxError("session.none", "there is no session to branch from", { field: "conversation" });
	const seq = point?.seq ?? (yield* lastSeqOf(base.key));
	const messages = point ? yield* countOf(upTo(yield* chainOf(base), seq)) : base.messages;
	if (live) yield* end(context, live, "user_switch");
	const session = yield* open(context, conversation, args, {
		openedBy: "user_switch",
		previous: live ?? (yield* findLast(conversation.id)) ?? null,
		base: { session: base.key, seq, kind: "branch" },
		messages,
		hadActivity: messages > 0,
		added: messages,
	});
	if (args.title !== undefined) yield* giveTitle(context, conversation, session, args.title, "user");
	return { session: session.id, ended: live?.id ?? null, stopped };
}

function* branchPoint(
	conversation: ConversationId,
	{ where, message }: BranchPoint,
): Op<{ session: SessionRow; seq: number }> {
	const row = yield* get(rowOf, message);
	const session = row && (yield* sessionOfKey(row.session));
	if (!row || session?.conversation !== conversation)
		throw new KeryxError("store.not_found", `no message ${message} in this conversation`, {
			field: "message",
		});
	if (where === "before") return { session, seq: row.seq - 1 };
	// A call is never separated from its result.
	const last = row.turn === null ? undefined : yield* get(lastOfTurn, row.session, row.turn);
	return { session, seq: last?.seq ?? row.seq };
}

function upTo(chain: readonly Segment[], seq: number): readonly Segment[] {
	return chain.map((segment, index) => (index === chain.length - 1 ? { ...segment, upTo: seq } : segment));
}

/** `/extend`: raises the live session's cap. An unlimited one stays unlimited. */
export function* extendSession(
	context: Context,
	args: { readonly conversation: ConversationId; readonly by: number },
): Op<{ session: SessionId; cap: number; messages: number }> {
	if (!Number.isSafeInteger(args.by) || args.by < 1 || args.by > 1_000_000)
		throw new KeryxError("argument.invalid", "by must be a whole number from 1 to 1000000", { field: "by" });
	const live = yield* findLive(args.conversation);
	if (!live) throw new KeryxError("session.none", "there is no session to extend", { field: "conversation" });
	yield* run(raiseCap, args.by, args.by, live.key);
	const { id, cap, messages } = yield* sessionOfKey(live.key);
	yield* emit(
		context,
		"session.extended",
		{ conversation: args.conversation, session: id },
		{ by: args.by, cap },
	);
	return { session: id, cap, messages };
}

export interface TitleArgs {
	readonly session: SessionId;
	readonly title: string;
	readonly source: "derived" | "model" | "user";
}

/** Titles are unique within a conversation: a duplicate becomes `name #2`. A person's title is never replaced by a generated one. */
export function* setTitle(context: Context, args: TitleArgs): Op<{ title: string; before: string | null }> {
	const session = yield* findSession(args.session);
	const conversation = yield* findConversation(session.conversation);
	const before = titleOf(session);
	if (args.source !== "user" && session.title_source === "user") return { title: before ?? "", before };
	const title = yield* giveTitle(context, conversation, session, args.title, args.source);
	yield* nameByTopic(context, conversation, cleanTitle(args.title), args.source);
	return { title, before };
}

/**
 * Names the conversation and its current session, so that search finds the name. Null removes the title; the conversation is then named
 * by who and where.
 */
export function* renameConversation(
	context: Context,
	args: { readonly conversation: ConversationId; readonly title: string | null },
): Op<{ title: string | null; before: string | null }> {
	const conversation = yield* findConversation(args.conversation);
	const named = yield* giveConversationTitle(context, conversation, args.title, "user");
	const session = named.title === null ? undefined : yield* findLast(conversation.id);
	if (session && named.title !== null) yield* giveTitle(context, conversation, session, named.title, "user");
	return named;
}

export function* giveTitle(
	context: Context,
	conversation: ConversationRow,
	session: SessionRow,
	wanted: string,
	source: TitleArgs["source"],
): Op<string> {
	let title = cleanTitle(wanted);
	if (title === "")
		throw new KeryxError("argument.invalid", "title must have at least one visible character", {
			field: "title",
		});
	while (yield* get(titleTaken, conversation.id, titleDigest(title), session.key))
		title = successorTitle(title);
	yield* run(writeTitle, titleDigest(title), source, seal(title), session.key);
	if (conversation.state !== "deleted") yield* indexTitle(session.key, conversation, title);
	yield* emit(context, "session.titled", { conversation: conversation.id, session: session.id }, { source });
	return title;
}

/** Archives, deletes or restores. Deleting ends the running turn and cancels open confirmations. */
export function* setConversationState(
	context: Context,
	args: { readonly conversation: ConversationId; readonly state: ConversationState },
): Op<{ before: ConversationState; stopped: string | null }> {
	const conversation = yield* findConversation(args.conversation);
	const { id, state: before } = conversation;
	if (args.state !== "deleted" || before === "deleted") {
		yield* moveTo(context, conversation, args.state);
		return { before, stopped: null };
	}
	const stopped = yield* stopOpenTurn(context, id);
	yield* cancelOpen(context, id, "deleted");
	yield* moveTo(context, conversation, "deleted");
	return { before, stopped };
}

/** Belongs to the conversation; survives restarts and rotation. Only model, provider and base_url are kept. */
export function* setModelOverride(
	context: Context,
	args: { readonly conversation: ConversationId; readonly override: unknown },
): Op<{ override: ModelOverride | null; before: ModelOverride | null }> {
	const conversation = yield* findConversation(args.conversation);
	const { model_override } = yield* settings(conversation);
	const override = args.override === null ? null : sanitizeModelOverride(args.override);
	yield* run(writeOverride, override === null ? null : JSON.stringify(override), conversation.id);
	yield* emit(context, "conversation.model", { conversation: conversation.id }, { override });
	return {
		override,
		before: model_override === null ? null : sanitizeModelOverride(JSON.parse(model_override)),
	};
}

export function* setBusyMode(
	context: Context,
	args: { readonly conversation: ConversationId; readonly busy: BusyMode },
): Op<{ before: BusyMode | null }> {
	const conversation = yield* findConversation(args.conversation);
	const { busy: before } = yield* settings(conversation);
	yield* run(writeBusy, args.busy, conversation.id);
	yield* emit(context, "conversation.busy", { conversation: conversation.id }, { busy: args.busy });
	return { before };
}

/** Null: as configured. */
export function* setToolProgress(
	context: Context,
	args: { readonly conversation: ConversationId; readonly show: ToolProgress | null },
): Op<{ show: ToolProgress | null; before: ToolProgress | null }> {
	const conversation = yield* findConversation(args.conversation);
	const { tool_progress: before } = yield* settings(conversation);
	yield* run(writeToolProgress, args.show, conversation.id);
	yield* emit(context, "conversation.tool_progress", { conversation: conversation.id }, { show: args.show });
	return { show: args.show, before };
}

function* settings({ id }: ConversationRow): Op<SettingsRow> {
	return (yield* get(settingsOf, id)) as SettingsRow;
}
