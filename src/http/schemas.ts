// The API on the wire: snake_case JSON, times as ISO strings in UTC. Shared by server, OpenAPI and client.
import { z } from "@hono/zod-openapi";
import { conversationId as toConversationId, sessionId as toSessionId } from "../domain/index.ts";
import { EVENT_TYPES, type EventKind, type EventOf, type EventType, TURN_BEGINS } from "../store/index.ts";

export { type EventKind, type EventType, TURN_BEGINS };

export const conversationId = z
	.string()
	.min(1)
	.max(64)
	.transform((id) => toConversationId(id));
export const sessionId = z
	.string()
	.min(1)
	.max(64)
	.transform((id) => toSessionId(id));
/** The store replaces NUL and lone surrogates: two different texts would be the same. */
export const distinctText = z
	.string()
	.refine(
		(text) => text.isWellFormed() && !text.includes("\0"),
		"must have no NUL and no half of a character",
	);
export const time = z.iso.datetime().openapi({ example: "2026-03-01T12:00:00.000Z" });

const busyMode = z.enum(["queue", "interrupt", "steer"]);

export const conversationState = z.enum(["open", "archived", "deleted"]);

export const source = z
	.object({
		platform: z.string(),
		chat_id: z.string(),
		chat_name: z.string().nullable(),
		chat_type: z.string(),
		user_id: z.string().nullable(),
		user_name: z.string().nullable(),
		thread_id: z.string().nullable(),
		chat_topic: z.string().nullable(),
	})
	.catchall(z.unknown())
	.openapi("Source", { description: "Where a message came from: docs/reference/sources.md" });

export const modelOverride = z
	.object({ model: z.string(), provider: z.string(), base_url: z.string() })
	.partial()
	.openapi("ModelOverride");

export const limit = z
	.object({
		message_count: z.int(),
		max_messages: z.int(),
		remaining: z.int().nullable(),
		near_limit: z.boolean(),
		at_limit: z.boolean(),
		threshold: z.number(),
	})
	.openapi("Limit");

export const conversation = z
	.object({
		id: z.string(),
		key: z.string(),
		platform: z.string(),
		profile: z.string(),
		chat_type: z.string(),
		principal: z.string().nullable(),
		shared: z.boolean(),
		name: z.string().openapi({
			description: "its name: its title, or who it is with and where",
		}),
		title: z.string().nullable(),
		title_source: z.enum(["model", "user"]).nullable(),
		state: conversationState,
		state_at: time.nullable().openapi({ description: "when it got this state" }),
		pinned: z.boolean(),
		waiting: z.boolean().openapi({ description: "one of its confirmations is waiting for a person" }),
		display_name: z.string().openapi({ description: "who it is with, as the agent sees it" }),
		preview: z.string(),
		source,
		message_count: z.int(),
		created_at: time,
		last_activity_at: time,
		live_session: z.string().nullable(),
		first_session: z.string().nullable(),
		model_override: modelOverride.nullable(),
		busy: busyMode.nullable(),
	})
	.openapi("Conversation");

export const session = z
	.object({
		id: z.string(),
		conversation: z.string(),
		base: z.object({ session: z.string(), seq: z.int(), kind: z.enum(["continue", "branch"]) }).nullable(),
		started_at: time,
		last_activity_at: time,
		ended_at: time.nullable(),
		end_reason: z.string().nullable(),
		suspended_at: time.nullable(),
		title: z.string().nullable(),
		title_source: z.enum(["derived", "model", "user"]).nullable(),
		messages: z.int(),
		tool_calls: z.int(),
		tool_errors: z.int(),
		input_tokens: z.int(),
		output_tokens: z.int(),
		last_prompt_tokens: z.int(),
		cost_micros: z.int(),
		cost_status: z.enum(["none", "known", "partial", "unknown"]),
		limit,
		live: z
			.string()
			.nullable()
			.openapi({ description: "the conversation's live session; only sending follows it" }),
	})
	.openapi("Session");

type WirePart =
	| { readonly type: "text"; readonly text: string }
	| {
			readonly type: "image" | "audio" | "file";
			readonly blob: string;
			readonly media_type: string;
			readonly name?: string;
	  };
const part = z.looseObject({ type: z.string() }) as unknown as z.ZodType<WirePart>;

export const message = z
	.object({
		id: z.int(),
		session: z.string(),
		seq: z.int(),
		role: z.enum(["system", "user", "assistant", "tool", "meta"]),
		kind: z.string().nullable(),
		content: z.union([z.string(), z.array(part)]),
		tool_calls: z.array(z.object({ id: z.string(), name: z.string(), input: z.unknown() })),
		tool_call_id: z.string().nullable(),
		tool_name: z.string().nullable(),
		is_error: z.boolean(),
		finish_reason: z.string().nullable(),
		author: z.object({ principal: z.string().nullable(), name: z.string().nullable() }).nullable(),
		observed: z.boolean(),
		reasoning: z
			.string()
			.nullable()
			.default(null)
			.openapi({ description: "the model's reasoning, if its provider shows it" }),
		confirmation: z
			.object({ id: z.string(), as: z.enum(["outcome", "result"]) })
			.nullable()
			.default(null)
			.openapi({
				description: "on a note: what a person decided, or the result of the approved call",
			}),
		sent_from: z
			.string()
			.nullable()
			.default(null)
			.openapi({ description: "on a row of kind sent: where the message came from" }),
		hidden: z.boolean(),
		turn: z.string().nullable(),
		created_at: time,
	})
	.openapi("Message");

export const disposition = z
	.object({
		kind: z.enum([
			"answered",
			"merged",
			"stopped",
			"command",
			"observed",
			"dropped_by_user",
			"refused",
			"expired",
			"failed",
		]),
		turn: z.string().optional(),
		name: z.string().optional(),
		reason: z.string().optional(),
	})
	.openapi("Disposition");

export const inbound = z
	.object({
		id: z.int(),
		kind: z.enum(["person", "confirmation", "process", "schedule"]),
		conversation: z.string().nullable(),
		client_message_id: z.string(),
		accepted_at: time,
		turn: z.string().nullable(),
		message: z.int().nullable(),
		disposition: disposition.nullable(),
		disposed_at: time.nullable(),
	})
	.openapi("Inbound");

export const destination = z
	.object({
		platform: z.string(),
		account: z.string(),
		chat_id: z.string(),
		thread_id: z.string().nullable(),
		user_id: z.string().nullable(),
	})
	.openapi("Destination");

const asked = z
	.object({
		inbound: z.int(),
		client_message_id: z.string(),
		platform: z.string(),
		name: z.string().nullable().openapi({ description: "of who wrote it" }),
		text: z.string(),
		at: time,
	})
	.openapi("Asked");

export const delivery = z
	.object({
		id: z.string(),
		n: z.int(),
		conversation: z.string(),
		turn: z.string().nullable(),
		kind: z.enum(["reply", "notice", "command"]),
		state: z.enum(["open", "pending", "sending", "sent", "unknown", "dead"]),
		destination,
		text: z.string(),
		plain: z.string(),
		attachments: z
			.array(z.object({ digest: z.string(), name: z.string(), media_type: z.string(), size: z.int() }))
			.openapi({
				description: "files sent with it; the conversation holds the bytes, by their digest",
			}),
		asked: asked.nullable().openapi({ description: "with the first part of the answer to a command" }),
		receipt: z.string().nullable(),
		reason: z.string().nullable(),
		attempts: z.int(),
		created_at: time,
		settled_at: time.nullable(),
		due_at: time.nullable(),
	})
	.openapi("Delivery");

export const turn = z
	.object({
		id: z.string(),
		conversation: z.string(),
		session: z.string(),
		state: z.enum(["running", "interrupted", "completed", "failed", "stopped", "expired"]),
		detail: z.string().nullable(),
		attempts: z.int(),
		started_at: time,
		interrupted_at: time.nullable(),
		ended_at: time.nullable(),
		inbound: z.array(inbound),
		deliveries: z.array(delivery),
	})
	.openapi("Turn");

/** Listed from the event table but not checked by it: a client also follows later versions, and skips unknown events. */
const eventFields = z.object({
	cursor: z.string(),
	at: time,
	type: z.custom<EventType>(isText).openapi({ type: "string", enum: [...EVENT_TYPES] }),
	conversation: z.string().nullable(),
	session: z.string().nullable(),
	turn: z.string().nullable(),
	subject: z.string().nullable(),
	facts: z.record(z.string(), z.unknown()),
	message: message.optional().openapi({ description: "with message.appended, read when it is sent" }),
	delivery: delivery.optional().openapi({ description: "with delivery.*, read when it is sent" }),
});
/** Each type with its facts. */
export type WireEvent = EventOf<Omit<z.output<typeof eventFields>, "type" | "facts">>;
export const event = eventFields.openapi("Event").pipe(z.custom<WireEvent>());

function isText(value: unknown): boolean {
	return typeof value === "string";
}

export const delta = z
	.object({
		conversation: z.string(),
		turn: z.string(),
		index: z
			.int()
			.openapi({ description: "which of the turn's messages; the same as facts.index of its row" }),
		offset: z.int().openapi({ description: "where in that message it stands, in UTF-16 units" }),
		text: z.string(),
	})
	.openapi("Delta");

const snippet = z.array(z.object({ text: z.string(), marked: z.boolean() }));
const neighbour = z.object({ id: z.int(), seq: z.int(), role: z.string(), preview: z.string() }).nullable();

export const hit = z
	.object({
		kind: z.enum(["message", "title"]),
		conversation: z.string(),
		session: z.string(),
		created_at: time,
		snippet,
		id: z.int().optional(),
		seq: z.int().optional(),
		role: z.string().optional(),
		before: neighbour.optional(),
		after: neighbour.optional(),
	})
	.openapi("Hit");

export const channel = z
	.object({
		name: z
			.string()
			.openapi({ description: "of its entry in `channels`; for built-in ones, their platform" }),
		platform: z.string(),
		account: z.string(),
		built_in: z.boolean().openapi({ description: "Keryx brings it along: it has no entry in `channels`" }),
		state: z.enum(["starting", "connected", "degraded", "down", "needs_attention", "stopped"]).openapi({
			description:
				"down: no sign of life for longer than alive_seconds. needs_attention: detail says what to do",
		}),
		alive_at: time.nullable(),
		proven_by: z.string().nullable().openapi({ description: "what its last sign of life was" }),
		detail: z.string().nullable(),
		connections: z.int().nullable(),
	})
	.openapi("Channel");

export const tokenRole = z.enum(["operator", "approver", "agent", "reader", "channel"]);

export const token = z
	.object({
		name: z.string(),
		role: tokenRole,
		principal: z.string(),
		session_key: z.string().nullable(),
		channel: z.string().nullable().openapi({ description: "with the role channel: which one" }),
		created_at: time,
		created_by: z.string(),
		expires_at: time.nullable(),
		revoked_at: time.nullable(),
	})
	.openapi("Token");

export const error = z
	.object({
		error: z.object({
			code: z.string(),
			message: z.string(),
			hint: z.string().optional(),
			field: z.string().optional(),
		}),
	})
	.openapi("Error");

export type WireConversation = z.output<typeof conversation>;
export type WireSession = z.output<typeof session>;
export type WireMessage = z.output<typeof message>;
export type WireInbound = z.output<typeof inbound>;
export type WireDelivery = z.output<typeof delivery>;
export type WireTurn = z.output<typeof turn>;
export type WireDelta = z.output<typeof delta>;
export type WireHit = z.output<typeof hit>;
export type WireToken = z.output<typeof token>;
export type WireChannel = z.output<typeof channel>;
