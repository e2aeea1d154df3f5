// The export format: one JSON object per line. Defines what each line may contain; a reader needs only the lines before it. Order: the
// header; principals, merge targets first; then for each conversation its line, sessions in order of opening, turns, hidden ranges,
// messages by session and seq, each blob before the first message that refers to it, and a closing line; then jobs; finally the end.
// Never in it: secrets, tokens, inbox, deliveries, runs of jobs.
import { z } from "zod";
import { CHAT_TYPES, END_REASONS } from "../domain/index.ts";

export const FORMAT_VERSION = 1;

/** Others' ids and names; as long as the store accepts. */
const id = z.string().min(1).max(1024);
const text = z.string();
const count = z.int().min(0);
const time = z.int().min(0).max(8_640_000_000_000_000);
const digest = z.string().regex(/^[0-9a-f]{64}$/, "must be a SHA-256 digest in hex");
/** A row's earlier origin, if its own id does not imply it. */
const origin = z.strictObject({ name: id, id }).optional();
const costStatus = z.enum(["none", "known", "partial", "unknown"]);

const header = z.strictObject({
	type: z.literal("keryx_export"),
	version: z.literal(FORMAT_VERSION),
	what: z.union([
		z.strictObject({ kind: z.literal("everything") }),
		z.strictObject({ kind: z.enum(["conversation", "session"]), id }),
	]),
});

const principal = z.strictObject({
	type: z.literal("principal"),
	id,
	createdAt: time,
	mergedInto: id.nullable(),
	aliases: z.array(z.strictObject({ platform: id, alias: id, createdAt: time })),
});

const address = z.strictObject({
	profile: text,
	platform: id,
	account: text,
	scope: text,
	chatType: z.enum(CHAT_TYPES),
	chat: text,
	thread: text,
	participant: text,
});

const conversation = z.strictObject({
	type: z.literal("conversation"),
	id,
	origin,
	key: id,
	platform: id,
	profile: text,
	chatType: z.enum(CHAT_TYPES),
	principal: id.nullable(),
	shared: z.boolean(),
	modelOverride: z.record(z.string(), z.string()).nullable(),
	busy: z.enum(["queue", "interrupt", "steer"]).nullable(),
	toolProgress: z.enum(["all", "new", "off"]).optional(),
	title: text.optional(),
	titleSource: z.enum(["model", "user"]).optional(),
	/** Left out: open. */
	state: z.enum(["archived", "deleted"]).optional(),
	stateAt: time.optional(),
	pinnedAt: time.optional(),
	createdAt: time,
	lastActivityAt: time,
	source: z.record(z.string(), z.unknown()),
	preview: text,
	addresses: z.array(address),
});

const session = z.strictObject({
	type: z.literal("session"),
	conversation: id,
	id,
	origin,
	base: z.strictObject({ session: id, seq: count, kind: z.enum(["continue", "branch"]) }).nullable(),
	/** The previously live session. */
	previous: id.nullable(),
	openedBy: id,
	startedAt: time,
	lastActivityAt: time,
	hadActivity: z.boolean(),
	endedAt: time.nullable(),
	endReason: z.enum(END_REASONS).nullable(),
	suspendedAt: time.nullable(),
	resumePendingSince: time.nullable(),
	noticePending: z.boolean(),
	cap: count,
	messages: z.int(),
	toolCalls: count,
	toolErrors: count,
	inputTokens: count,
	outputTokens: count,
	lastPromptTokens: count,
	costMicros: count,
	costStatus,
	title: text.nullable(),
	titleSource: z.enum(["derived", "model", "user"]).nullable(),
	context: text,
});

const modelCall = z.strictObject({
	n: count,
	principal: id.nullable(),
	profile: text,
	provider: text,
	model: text,
	inputTokens: count,
	outputTokens: count,
	/** Absent in older exports. */
	cachedInputTokens: count.optional(),
	costMicros: count.nullable(),
	currency: text,
	status: text,
	endedAt: time,
});

/** A turn open at export time is exported as stopped: nobody can continue it after an import. */
const turn = z.strictObject({
	type: z.literal("turn"),
	conversation: id,
	session: id,
	id,
	principal: id.nullable(),
	state: z.enum(["completed", "failed", "stopped", "expired"]),
	detail: text.nullable(),
	attempts: count,
	destination: z.record(z.string(), z.unknown()),
	startedAt: time,
	interruptedAt: time.nullable(),
	endedAt: time,
	modelCalls: z.array(modelCall),
});

const hidden = z.strictObject({
	type: z.literal("hidden"),
	conversation: id,
	session: id,
	fromSeq: z.int().min(1),
	toSeq: z.int().min(1),
	counted: count,
	undo: id,
	live: id,
	/** -1: made in a session that is not part of this export. */
	liveSeq: z.int().min(-1),
	by: z.enum(["undo", "retry"]),
	at: time,
	undoneAt: time.nullable(),
});

const blob = z.strictObject({
	type: z.literal("blob"),
	conversation: id,
	digest,
	mediaType: text,
	size: count,
	createdAt: time,
});

const chunk = z.strictObject({
	type: z.literal("blob_chunk"),
	conversation: id,
	digest,
	n: count,
	data: z.base64(),
});

const textBlob = z.looseObject({ type: z.literal("text_blob"), digest });
const part = z.union([
	textBlob,
	z.looseObject({ type: z.literal("text"), text }),
	z.looseObject({ type: z.enum(["image", "audio", "file"]), blob: text, mediaType: text }),
]);

/** As stored; unlisted fields pass through unchanged. */
const body = z.looseObject({
	content: z.union([text, textBlob, z.array(part)]),
	toolCalls: z.array(z.looseObject({ id: text, name: text })).optional(),
	finishReason: text.optional(),
	tokens: z.number().optional(),
	quoted: z.looseObject({ text, author: text.optional(), own: z.boolean() }).optional(),
	observed: z.boolean().optional(),
	covers: z.array(z.strictObject({ session: id, fromSeq: z.int().min(1), toSeq: z.int().min(1) })).optional(),
	leavesOut: z.array(digest).optional(),
	confirmation: z.strictObject({ id: z.string(), as: z.enum(["outcome", "result"]) }).optional(),
	sentFrom: z.strictObject({ where: text, conversation: id.optional() }).optional(),
	authorName: text.optional(),
});

const message = z.strictObject({
	type: z.literal("message"),
	conversation: id,
	session: id,
	seq: z.int().min(1),
	id: z.int().min(1),
	origin,
	role: z.enum(["system", "user", "assistant", "tool", "meta"]),
	kind: z.enum(["carry_over", "summary", "note", "left_out", "sent"]).optional(),
	turn: id.optional(),
	turnIndex: count.optional(),
	toolCallId: text.optional(),
	toolName: text.optional(),
	isError: z.literal(true).optional(),
	author: id.optional(),
	createdAt: time,
	body,
});

const closing = z.strictObject({
	type: z.literal("conversation_end"),
	conversation: id,
	/** The live session, if any. */
	live: id.nullable(),
	/** The number of lines of each kind in the conversation. */
	sessions: count,
	turns: count,
	hidden: count,
	blobs: count,
	messages: count,
});

const jobTarget = z
	.strictObject({
		target: z.discriminatedUnion("kind", [
			z.strictObject({ kind: z.literal("local") }),
			z.strictObject({ kind: z.literal("conversation"), conversation: id }),
			z.strictObject({
				kind: z.literal("chat"),
				platform: id,
				account: text,
				chatId: id,
				threadId: id.optional(),
			}),
		]),
		shown: text,
	})
	.nullable();

const job = z.strictObject({
	type: z.literal("job"),
	id,
	name: z.string().min(1).max(100),
	task: z.strictObject({ kind: z.enum(["prompt", "text", "command"]), text: z.string().min(1).max(20_000) }),
	when: z.discriminatedUnion("kind", [
		z.strictObject({ kind: z.literal("once"), at: time }),
		z.strictObject({ kind: z.literal("wall"), at: text }),
		z.strictObject({ kind: z.literal("every"), seconds: z.int().min(1) }),
		z.strictObject({ kind: z.literal("cron"), pattern: text }),
	]),
	zone: id,
	catchUp: z.enum(["none", "once", "all"]),
	maxDelaySeconds: count.nullable(),
	/** Where it runs; `given`: not its own conversation. */
	conversation: id.nullable(),
	given: z.boolean(),
	deliver: jobTarget,
	failure: jobTarget,
	origin: id.nullable(),
	profile: text,
	model: z.record(z.string(), z.string()).nullable(),
	tools: z.array(id).nullable(),
	owner: z.strictObject({
		principal: id.nullable(),
		role: z.enum(["owner", "member", "guest"]),
		platform: id,
	}),
	state: z.enum(["active", "paused", "ended"]),
	pausedBecause: z.enum(["user", "failures", "owner"]).nullable(),
	failures: count,
	createdAt: time,
	updatedAt: time,
});

const end = z.strictObject({
	type: z.literal("end"),
	principals: count,
	conversations: count,
	/** Left out: none. */
	jobs: count.optional(),
});

export const exportLine = z.discriminatedUnion("type", [
	header,
	principal,
	conversation,
	session,
	turn,
	hidden,
	blob,
	chunk,
	message,
	closing,
	job,
	end,
]);

type Line<Type extends string> = Extract<z.infer<typeof exportLine>, { type: Type }>;
export type PrincipalLine = Line<"principal">;
export type ConversationLine = Line<"conversation">;
export type SessionLine = Line<"session">;
export type TurnLine = Line<"turn">;
export type HiddenLine = Line<"hidden">;
export type BlobLine = Line<"blob">;
export type ChunkLine = Line<"blob_chunk">;
export type MessageLine = Line<"message">;
export type JobLine = Line<"job">;
export type ClosingLine = Line<"conversation_end">;
export type ExportLine = z.infer<typeof exportLine>;
