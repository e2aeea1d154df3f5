// All API calls except the streams, in one table: the server answers it, OpenAPI describes it, the client calls it by name.
import { z } from "@hono/zod-openapi";
import { checkpointEndpoints, restored } from "./agent/checkpoints.ts";
import { mcpServerEndpoints } from "./agent/mcp-servers.ts";
import { processEndpoints } from "./agent/processes.ts";
import { profileEndpoints } from "./agent/profiles.ts";
import { scheduleEndpoints } from "./agent/schedules.ts";
import { turnEndpoints } from "./agent/turns.ts";
import { attachment } from "./attachments.ts";
import { bridgeEndpoints } from "./bridge/bridges.ts";
import { channelEndpoints } from "./channels.ts";
import { action, endpoint, flag, ofConversation, pageSize } from "./endpoint.ts";
import { loginEndpoints } from "./entry/login.ts";
import { insightsEndpoints } from "./insights.ts";
import { archiveEndpoints } from "./keeping/archives.ts";
import { backupEndpoints } from "./keeping/backups.ts";
import { managingEndpoints } from "./managing.ts";
import { pairingEndpoints } from "./pairings.ts";
import {
	channel,
	conversation,
	conversationId,
	delivery,
	delta,
	distinctText,
	event,
	hit,
	inbound,
	limit,
	message,
	modelOverride,
	session,
	sessionId,
	source,
	time,
	token,
	tokenRole,
} from "./schemas.ts";
import { sendEndpoints } from "./sends.ts";
import { channelSetupEndpoints } from "./setup/channel-setup.ts";
import { configEndpoints } from "./setup/config.ts";
import { modelSetupEndpoints } from "./setup/model-setup.ts";
import { settingsEndpoints } from "./setup/settings.ts";
import { setupEndpoints } from "./setup/setup.ts";
import { sideMessageEndpoints } from "./side-messages.ts";

const ofSession = { session: sessionId };
const title = z.string().trim().min(1).max(500);

/** Unique forever: the audit names callers by it. */
const tokenName = z
	.string()
	.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "must be 1 to 64 of letters, digits, . _ and -");
const platformId = z.strictObject({ platform: z.string().min(1).max(64), id: z.string().min(1).max(200) });

/** The result of a session change. */
const changed = z
	.object({
		session: z.string().openapi({ description: "the live session" }),
		ended: z.string().nullable().openapi({ description: "the session that ended" }),
		stopped: z.string().nullable().openapi({ description: "the turn that was stopped first" }),
	})
	.openapi("Changed");

export const endpoints = {
	conversations: endpoint("get", "/api/conversations", {
		about: "conversations, newest activity first",
		query: {
			limit: pageSize,
			after: z.string().optional().openapi({ description: "next from the previous page" }),
			platform: z.string().optional(),
			profile: z.string().optional(),
			active_since: time.optional(),
			list: z
				.enum(["open", "archived", "deleted", "pinned", "waiting", "with_checkpoints"])
				.default("open")
				.openapi({ description: "waiting: those with a confirmation waiting for a person" }),
		},
		answer: z.object({ conversations: z.array(conversation), next: z.string().nullable() }),
	}),
	findConversation: endpoint("get", "/api/conversation", {
		about:
			"one conversation by its id, its key, the id of one of its sessions, or the platform's id of one of its messages with platform and chat",
		query: {
			id: z.string().optional(),
			key: z.string().optional(),
			session: z.string().optional(),
			message: z.string().optional(),
			platform: z.string().optional(),
			account: z.string().optional(),
			chat: z.string().optional(),
		},
		answer: conversation,
	}),
	conversation: endpoint("get", "/api/conversations/{conversation}", {
		about: "one conversation",
		params: ofConversation,
		answer: conversation,
	}),
	sessions: endpoint("get", "/api/conversations/{conversation}/sessions", {
		about: "the sessions of a conversation, newest first",
		params: ofConversation,
		query: { limit: pageSize, before: sessionId.optional() },
		answer: z.object({ sessions: z.array(session) }),
	}),
	partial: endpoint("get", "/api/conversations/{conversation}/partial", {
		about: "the text so far of an answer that is being written",
		params: ofConversation,
		answer: z.object({ partial: delta.nullable() }),
	}),
	limit: endpoint("get", "/api/conversations/{conversation}/limit", {
		about: "how long the live session is, and its limit",
		params: ofConversation,
		answer: limit,
	}),
	...managingEndpoints,
	...sideMessageEndpoints,
	session: endpoint("get", "/api/sessions/{session}", {
		about: "one session, and the conversation's live one",
		params: ofSession,
		answer: session,
	}),
	messages: endpoint("get", "/api/sessions/{session}/messages", {
		about: "a page of a session's own rows, in order; the last ones unless told otherwise",
		params: ofSession,
		query: {
			limit: pageSize,
			after: z.coerce.number().int().min(0).optional().openapi({ description: "rows after this seq" }),
			before: z.coerce.number().int().min(0).optional().openapi({ description: "rows before this seq" }),
			hidden: flag.default(false).openapi({ description: "hidden rows too" }),
		},
		answer: z.object({ messages: z.array(message) }),
	}),
	transcript: endpoint("get", "/api/sessions/{session}/transcript", {
		about: "the newest rows a session shows, including those of sessions it continues",
		params: ofSession,
		query: { limit: pageSize },
		answer: z.object({ messages: z.array(message), more: z.boolean() }),
	}),
	search: endpoint("get", "/api/search", {
		about: "full-text search over messages and titles, best first",
		query: {
			q: z.string().max(1000),
			conversation: conversationId.optional(),
			platform: z.string().optional(),
			role: z.enum(["user", "assistant", "tool", "title"]).optional(),
			from: time.optional(),
			to: time.optional(),
			limit: z.coerce.number().int().min(1).max(100).default(20),
			cursor: z.string().optional().openapi({ description: "next from the previous page" }),
		},
		answer: z.object({
			hits: z.array(hit),
			total: z.object({ count: z.int(), more: z.boolean() }),
			next: z.string().nullable(),
		}),
	}),
	send: endpoint("post", "/api/inbound", {
		about: "send a message as a source; the same client_message_id again returns the result of the first",
		body: {
			text: z.string().max(1_000_000).openapi({ description: "may be empty if there are attachments" }),
			client_message_id: distinctText.min(1).max(200),
			source: source.partial().extend({ platform: z.string() }),
			conversation: conversationId.optional().openapi({
				description: "operator only: write in this conversation, whatever the source's address",
			}),
			attachments: z.array(attachment).max(10).default([]),
		},
		status: 202,
		answer: z.object({
			id: z.int(),
			conversation: z.string().nullable(),
			duplicate: z.boolean(),
			refused: z.string().nullable(),
			inbound,
		}),
	}),
	inbound: endpoint("get", "/api/inbound/{id}", {
		about: "what happened to a message; with wait, answers when that is known or after so many seconds",
		params: { id: z.coerce.number().int().min(1) },
		query: { wait: z.coerce.number().min(0).max(60).default(0) },
		answer: inbound,
	}),
	why: endpoint("get", "/api/inbound/{id}/why", {
		about: "the history of one message, in sentences and as events",
		params: { id: z.coerce.number().int().min(1) },
		answer: z.object({ text: z.string(), inbound, events: z.array(event) }),
	}),
	...archiveEndpoints,
	...backupEndpoints,
	...turnEndpoints,
	...sendEndpoints,
	...bridgeEndpoints,
	deliveries: endpoint("get", "/api/deliveries", {
		about: "the outbox: what is waiting, or what ended unknown or dead",
		query: {
			which: z.enum(["waiting", "unsettled"]).default("waiting"),
			after: z.coerce
				.number()
				.int()
				.min(0)
				.optional()
				.openapi({ description: "n of the last one on the previous page" }),
			limit: pageSize,
		},
		answer: z.object({ deliveries: z.array(delivery) }),
	}),
	delivery: endpoint("get", "/api/deliveries/{delivery}", {
		about: "one delivery",
		params: { delivery: z.string().min(1).max(200) },
		answer: delivery,
	}),
	resolveDelivery: endpoint("post", "/api/deliveries/{delivery}/resolve", {
		about:
			"decide about a delivery that is unknown or dead: send it again, mark it as arrived, or drop it; a waiting one can also be dropped",
		params: { delivery: z.string().min(1).max(200) },
		body: { as: z.enum(["retry", "sent", "drop"]) },
		answer: delivery,
	}),
	eventsAfter: endpoint("get", "/api/events", {
		about:
			"a page of events, for a program that does not follow the stream; after=now returns the end of the log",
		query: {
			after: z.string().max(32).default("").openapi({ description: "the cursor of the previous page" }),
			conversation: conversationId.optional(),
			limit: pageSize,
		},
		answer: z.object({
			events: z.array(event),
			cursor: z.string(),
			resync: z
				.boolean()
				.openapi({ description: "after is too old: read the state again, and continue from cursor" }),
		}),
	}),
	newSession: action(
		"new",
		"start a new session; nothing is carried over",
		{ title: title.optional() },
		changed,
	),
	continueSession: action(
		"continue",
		"continue the previous session",
		{},
		changed.extend({ continued: z.string() }),
	),
	switchSession: action("switch", "make another session the live one", { target: sessionId }, changed),
	branchSession: action(
		"branch",
		"a new session that continues from here, or from an earlier point; what came after stays in its own session",
		{
			title: title.optional(),
			from: z
				.strictObject({ where: z.enum(["before", "after"]), message: z.int().min(1) })
				.optional()
				.openapi({ description: "before a message, or after its turn, by its id; left out: the end" }),
		},
		changed,
	),
	extendSession: action(
		"extend",
		"allow the live session more messages",
		{ by: z.int().min(1).max(1_000_000).default(100) },
		z.object({ session: z.string(), cap: z.int(), messages: z.int() }),
	),
	undo: action(
		"undo",
		"hide the last turns; text is the first message of them",
		{
			turns: z.int().min(1).default(1),
			from: z.int().min(1).optional().openapi({
				description: "the id of a message: its turn and everything after it, instead of so many turns",
			}),
			files: z.boolean().default(false).openapi({ description: "also restore files to before these turns" }),
		},
		z.object({
			rows: z.int(),
			messages: z.int().openapi({ description: "of the rows, without tool calls and results" }),
			turns: z.int(),
			text: z.string().nullable(),
			stopped: z.string().nullable(),
			cancelled: z.int().openapi({ description: "open confirmations of these turns that were cancelled" }),
			restored: restored.nullable().openapi({ description: "null if no file had to be restored" }),
		}),
	),
	redo: action(
		"redo",
		"show again what was undone",
		{},
		z.object({ rows: z.int(), messages: z.int(), stopped: z.string().nullable() }),
	),
	retry: action(
		"retry",
		"hide the last answer and answer again",
		{},
		z.object({ turn: z.string().nullable(), hidden: z.int(), stopped: z.string().nullable() }),
	),
	compress: action(
		"compress",
		"have the model summarise earlier messages; the rows stay",
		{},
		z.object({ turn: z.string().nullable(), stopped: z.string().nullable() }),
	),
	setModel: action(
		"model",
		"another model for this conversation; null is the configured one",
		{ override: modelOverride.nullable() },
		z.object({ override: modelOverride.nullable(), before: modelOverride.nullable() }),
	),
	setBusy: action(
		"busy",
		"what a new message does while Keryx is answering",
		{ busy: z.enum(["queue", "interrupt", "steer"]) },
		z.object({ busy: z.enum(["queue", "interrupt", "steer"]) }),
	),
	stop: action(
		"stop",
		"stop the current answer; with all, also drop waiting messages and kill background programs",
		{ all: z.boolean().default(false) },
		z.object({ stopped: z.string().nullable(), dropped: z.int(), killed: z.int() }),
	),
	...checkpointEndpoints,
	...processEndpoints,
	...scheduleEndpoints,
	...channelEndpoints,
	...channelSetupEndpoints,
	...mcpServerEndpoints,
	...modelSetupEndpoints,
	...pairingEndpoints,
	...configEndpoints,
	...settingsEndpoints,
	...setupEndpoints,
	...profileEndpoints,
	...loginEndpoints,
	...insightsEndpoints,
	setTitle: endpoint("post", "/api/sessions/{session}/title", {
		about: "name a session",
		params: ofSession,
		body: { title },
		answer: z.object({ title: z.string(), before: z.string().nullable() }),
	}),
	integrity: endpoint("get", "/api/store/integrity", {
		about: "check the whole store; takes long on a large one",
		answer: z.object({ problems: z.array(z.string()) }),
	}),
	rebuildSearch: endpoint("post", "/api/store/rebuild-search", {
		about: "one step of rebuilding the search index; call it again with next until that is null",
		body: { cursor: z.string().optional(), wipe: z.boolean().default(false) },
		answer: z.object({ indexed: z.int(), next: z.string().nullable() }),
	}),
	commands: endpoint("get", "/api/commands", {
		about: "the commands that can be sent in a chat",
		answer: z.object({
			commands: z.array(z.object({ name: z.string(), usage: z.string(), about: z.string() })),
		}),
	}),
	tokens: endpoint("get", "/api/tokens", {
		about: "all tokens, also ended ones, by name; never a token itself",
		answer: z.object({ tokens: z.array(token) }),
	}),
	createToken: endpoint("post", "/api/tokens", {
		about: "a new token, shown this once",
		body: {
			name: tokenName.regex(/^(?!page-)/, "must not begin with page-, as logins of the page do"),
			role: tokenRole,
			channel: z.string().min(1).max(64).optional().openapi({
				description: "with the role channel: the channel that its holder speaks for",
			}),
			session_key: z.string().min(1).max(800).optional().openapi({
				description: "with the role agent: the only conversation its holder may use; left out: any",
			}),
			principal: z.string().min(1).max(64).optional().openapi({
				description: "whom it belongs to; left out: someone new",
			}),
			days: z
				.int()
				.min(1)
				.max(3650)
				.optional()
				.openapi({ description: "how long it is valid; left out: forever" }),
		},
		answer: token.extend({ token: z.string() }),
	}),
	revokeToken: endpoint("post", "/api/tokens/{name}/revoke", {
		about: "revoke a token at once; revoked is false if it had already ended",
		params: { name: tokenName },
		answer: z.object({ name: z.string(), revoked: z.boolean() }),
	}),
	linkPrincipals: endpoint("post", "/api/principals/link", {
		about: "make two platform ids one person",
		body: { of: platformId, and: platformId },
		answer: z.object({ principal: z.string(), joined: z.boolean() }),
	}),
	health: endpoint("get", "/health", {
		about: "whether Keryx is running; strangers only see status, pending_count and the time",
		answer: z.object({
			status: z.enum(["ok", "failing"]),
			pending_count: z.int().openapi({ description: "confirmations waiting for a person" }),
			timestamp: z.number().openapi({ description: "seconds since 1970" }),
			timestamp_iso: time,
			version: z.string(),
			pid: z.int(),
			started_at: time,
			node: z.string(),
			agent: z.string(),
			channels: z.array(channel),
			walls: z
				.string()
				.nullable()
				.default(null)
				.openapi({ description: "which walls the agent's commands run behind, or why there are none" }),
			problem: z.string().nullable().default(null).openapi({
				description: "what keeps Keryx from accepting anything: it is failing until that is solved",
			}),
		}),
	}),
} as const;

export type Endpoints = typeof endpoints;
export type EndpointName = keyof Endpoints;

/** All inputs of a call, wherever they are on the request. */
export type CallInput<Name extends EndpointName> = z.input<Endpoints[Name]["input"]>;
export type Answer<Name extends EndpointName> = z.output<Endpoints[Name]["answer"]>;
