// Converts store data to the wire. One function per kind; schemas.ts defines the wire format.
import { isBuiltInChannel, limitInfo, toWireLimitInfo, toWireSource } from "../domain/index.ts";
import type { Gateway, StoredAdmission } from "../gateway/index.ts";
import type {
	Asked,
	Conversation,
	Delivery,
	InboxItem,
	Message,
	SearchHit,
	Session,
	StoreEvent,
	Token,
	Turn,
} from "../store/index.ts";
import { isoTime } from "../time/index.ts";
import type {
	WireChannel,
	WireConversation,
	WireDelivery,
	WireEvent,
	WireHit,
	WireInbound,
	WireMessage,
	WireSession,
	WireToken,
	WireTurn,
} from "./schemas.ts";

export function toWireConversation(conversation: Conversation): WireConversation {
	return {
		id: conversation.id,
		key: conversation.key,
		platform: conversation.platform,
		profile: conversation.profile,
		chat_type: conversation.chatType,
		principal: conversation.principal,
		shared: conversation.shared,
		name: conversation.name,
		title: conversation.title,
		title_source: conversation.titleSource,
		state: conversation.state,
		state_at: isoOrNull(conversation.stateAt),
		pinned: conversation.pinnedAt !== null,
		waiting: conversation.isWaiting,
		display_name: conversation.displayName,
		preview: conversation.preview,
		source: toWireSource(conversation.source) as WireConversation["source"],
		message_count: conversation.messageCount,
		created_at: iso(conversation.createdAt),
		last_activity_at: iso(conversation.lastActivityAt),
		live_session: conversation.liveSession,
		first_session: conversation.firstSession,
		model_override: conversation.modelOverride,
		busy: conversation.busy,
	};
}

export function toWireSession(session: Session): WireSession {
	return {
		id: session.id,
		conversation: session.conversation,
		base: session.base,
		started_at: iso(session.startedAt),
		last_activity_at: iso(session.lastActivityAt),
		ended_at: isoOrNull(session.endedAt),
		end_reason: session.endReason,
		suspended_at: isoOrNull(session.suspendedAt),
		title: session.title,
		title_source: session.titleSource,
		messages: session.messages,
		tool_calls: session.toolCalls,
		tool_errors: session.toolErrors,
		input_tokens: session.inputTokens,
		output_tokens: session.outputTokens,
		last_prompt_tokens: session.lastPromptTokens,
		cost_micros: session.costMicros,
		cost_status: session.costStatus,
		limit: toWireLimitInfo(limitInfo(session.messages, session.cap)),
		live: session.live,
	};
}

export function toWireMessage(message: Message): WireMessage {
	return {
		id: message.id,
		session: message.session,
		seq: message.seq,
		role: message.role,
		kind: message.kind ?? null,
		content:
			typeof message.content === "string"
				? message.content
				: message.content.map((part) =>
						part.type === "text"
							? { ...part }
							: {
									type: part.type,
									blob: part.blob,
									media_type: part.mediaType,
									...(part.name !== undefined && { name: part.name }),
								},
					),
		tool_calls: (message.toolCalls ?? []).map(({ id, name, input }) => ({ id, name, input })),
		tool_call_id: message.toolCallId ?? null,
		tool_name: message.toolName ?? null,
		is_error: message.isError ?? false,
		finish_reason: message.finishReason ?? null,
		author: message.author
			? { principal: message.author.principal, name: message.author.name ?? null }
			: null,
		observed: message.observed ?? false,
		reasoning: thoughtIn(message.reasoning),
		confirmation: message.confirmation ?? null,
		sent_from: message.sentFrom?.where ?? null,
		hidden: message.hidden,
		turn: message.turn,
		created_at: iso(message.createdAt),
	};
}

/** Only its text: the provider's own data stays inside. */
function thoughtIn(reasoning: unknown): string | null {
	const { items } = (reasoning ?? {}) as { readonly items?: unknown };
	if (!Array.isArray(items)) return null;
	const texts = items.flatMap((item: { readonly type?: unknown; readonly text?: unknown }) =>
		item?.type === "reasoning" && typeof item.text === "string" && item.text.trim() !== ""
			? [item.text.trim()]
			: [],
	);
	return texts.length === 0 ? null : texts.join("\n\n");
}

export function toWireInbound(item: InboxItem): WireInbound {
	return {
		id: item.id,
		kind: item.kind,
		conversation: item.conversation,
		client_message_id: item.platformMessage,
		accepted_at: iso(item.acceptedAt),
		turn: item.turn,
		message: item.message,
		disposition: item.disposition,
		disposed_at: isoOrNull(item.disposedAt),
	};
}

/** A person's message, accepted just now: no turn has taken it yet. */
export function toWireAdmitted(
	{ id, conversation, disposition, acceptedAt }: StoredAdmission,
	clientMessageId: string,
): WireInbound {
	return {
		id,
		kind: "person",
		conversation,
		client_message_id: clientMessageId,
		accepted_at: iso(acceptedAt),
		turn: null,
		message: null,
		disposition,
		disposed_at: disposition && iso(acceptedAt),
	};
}

export function toWireDelivery(delivery: Delivery): WireDelivery {
	const { platform, account, chatId, threadId, userId } = delivery.destination;
	return {
		id: delivery.id,
		n: delivery.n,
		conversation: delivery.conversation,
		turn: delivery.turn,
		kind: delivery.kind,
		state: delivery.state,
		destination: {
			platform,
			account,
			chat_id: chatId,
			thread_id: threadId ?? null,
			user_id: userId ?? null,
		},
		text: delivery.body.text,
		plain: delivery.body.plain,
		attachments: (delivery.body.attachments ?? []).map(({ blob, name, mediaType, size }) => ({
			digest: blob,
			name,
			media_type: mediaType,
			size,
		})),
		asked: delivery.body.asked ? toWireAsked(delivery.body.asked) : null,
		receipt: delivery.receipt,
		reason: delivery.reason,
		attempts: delivery.attempts,
		created_at: iso(delivery.createdAt),
		settled_at: isoOrNull(delivery.settledAt),
		due_at: isoOrNull(delivery.dueAt),
	};
}

function toWireAsked({ inbox, platformMessage, platform, name, text, at }: Asked): WireDelivery["asked"] {
	return { inbound: inbox, client_message_id: platformMessage, platform, name, text, at: iso(at) };
}

export function toWireTurn(
	turn: Turn & { readonly inbox: readonly InboxItem[]; readonly deliveries: readonly Delivery[] },
): WireTurn {
	return {
		id: turn.id,
		conversation: turn.conversation,
		session: turn.session,
		state: turn.state,
		detail: turn.detail,
		attempts: turn.attempts,
		started_at: iso(turn.startedAt),
		interrupted_at: isoOrNull(turn.interruptedAt),
		ended_at: isoOrNull(turn.endedAt),
		inbound: turn.inbox.map(toWireInbound),
		deliveries: turn.deliveries.map(toWireDelivery),
	};
}

export function toWireEvent(event: StoreEvent): WireEvent {
	return { ...event, at: iso(event.at) };
}

export function toWireHit(hit: SearchHit): WireHit {
	const { kind, conversation, session, createdAt, snippet } = hit;
	const common = { kind, conversation, session, created_at: iso(createdAt), snippet: [...snippet] };
	if (hit.kind === "title") return common;
	return { ...common, id: hit.id, seq: hit.seq, role: hit.role, before: hit.before, after: hit.after };
}

/** `shown`: without names of secrets that the caller may not see. */
export function toWireChannel(
	channel: ReturnType<Gateway["health"]>[number],
	shown: (text: string) => string,
): WireChannel {
	return {
		name: channel.name,
		platform: channel.platform,
		account: channel.account,
		built_in: isBuiltInChannel(channel.platform),
		state: channel.state,
		alive_at: isoOrNull(channel.aliveAt),
		proven_by: channel.provenBy ?? null,
		detail: channel.detail === undefined ? null : shown(channel.detail),
		connections: channel.connections ?? null,
	};
}

export function toWireToken(token: Token): WireToken {
	return {
		name: token.name,
		role: token.role,
		principal: token.principal,
		session_key: token.sessionKey,
		channel: token.channel,
		created_at: iso(token.createdAt),
		created_by: token.createdBy,
		expires_at: isoOrNull(token.expiresAt),
		revoked_at: isoOrNull(token.revokedAt),
	};
}

export function iso(at: number): string {
	return isoTime(at);
}

export function isoOrNull(at: number | null): string | null {
	return at === null ? null : iso(at);
}
