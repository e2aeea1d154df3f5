// The interface between the gateway and a channel. A channel normalises, transports and reports outcomes honestly: "refused" and
// "unknown" are two results. It never computes addresses, never retries by itself, never decides who may speak.
import type { Content, ConversationId, PlatformTraits } from "../domain/index.ts";
import type { DeliveryBody, Destination, Disposition, Poster } from "../store/index.ts";

export interface Inbound {
	/** On the wire, snake_case. */
	readonly source: Readonly<Record<string, unknown>>;
	/** The platform's id of the message, unique within the chat. Our own channels send a client message id. */
	readonly platformMessage: string;
	/** A part with bytes names its blob by the id that `putBlob` returned; the id is also in `blobs`. */
	readonly content: Content;
	readonly blobs?: readonly string[];
	/** The message this one replies to. Shown to the agent as a labelled quote, never as an instruction. */
	readonly quoted?: Quoted;
	/** Messages with the same album id are one turn. */
	readonly album?: string;
	/** Speaks in this conversation, whatever the source's address resolves to. The caller has checked access. */
	readonly conversation?: ConversationId;
	/**
	 * Whether the bot was named. With `require_mention` and `free_chats` this decides whether the message is addressed to the agent; a
	 * reply to Keryx always is. Default: it is.
	 */
	readonly mentioned?: boolean;
	/** Overrides that decision: false for messages seen in a group but not meant for the agent. */
	readonly addressed?: boolean;
	/** When it was sent, if the platform says so. */
	readonly sentAt?: number;
	/** Committed together with the message; the channel reads it back at start. */
	readonly cursor?: string;
	/** Facts only the transport knows. */
	readonly transport?: {
		/** Bots are heard only if allowed, and never decide anything. */
		readonly isBot?: boolean;
		/** The platform does not vouch for the writer: they may speak as the lists allow, but decide nothing. */
		readonly unproven?: boolean;
		/** The channel refuses it, and why. It is recorded without its text, and nobody hears it. */
		readonly refused?: string;
		/** Written by Keryx itself: always refused. */
		readonly own?: boolean;
		/** The caller may choose a profile: the source's profile counts. */
		readonly mayChooseProfile?: boolean;
		/** The role of a caller that this channel has authenticated itself. */
		readonly role?: "owner" | "member" | "guest";
		/** The sender's roles on the platform. */
		readonly roles?: readonly string[];
		/** Who posted it over one of our own channels. Null for messages from a platform. */
		readonly poster?: Poster;
	};
}

export interface Quoted {
	readonly platformMessage: string;
	readonly text: string;
	/** The writer's name. */
	readonly author?: string;
	/** Written by Keryx. */
	readonly own: boolean;
}

/** The state of an inbound message. Acknowledge to the platform only after this. */
export interface Admission {
	readonly id: number;
	readonly conversation: string | null;
	readonly duplicate: boolean;
	readonly refused: string | null;
}

/** The same for our own ways in, which answer with the stored message. */
export interface StoredAdmission extends Admission {
	/** As it was committed; of a duplicate, as the first one is now. */
	readonly disposition: Disposition | null;
	readonly acceptedAt: number;
}

export interface Outgoing {
	/** Stable over retries: the idempotency key, if the platform has one. */
	readonly id: string;
	readonly destination: Destination;
	readonly body: DeliveryBody;
	/** Send the plain twin, because the platform refused the markup. */
	readonly plain: boolean;
	/** The bytes of one of the body's attachments, by its blob. */
	readonly openBlob: (blob: string) => AsyncIterable<Uint8Array>;
}

export type SendResult =
	| { readonly kind: "sent"; readonly receipt: string }
	/** Certainly not accepted; try again, no earlier than the platform asked. */
	| { readonly kind: "retry"; readonly afterMs?: number; readonly reason: string }
	/** The platform does not understand the markup; the plain twin is sent instead. */
	| { readonly kind: "markup_refused" }
	/** For an edit: the message no longer exists. The answer is then sent again. */
	| { readonly kind: "missing" }
	| { readonly kind: "refused"; readonly reason: string }
	/** It may or may not have been accepted. */
	| { readonly kind: "unknown"; readonly reason: string };

/** What a platform can show. Declared by the channel, so that a plugin needs no change in Keryx. */
export interface ChannelTraits extends PlatformTraits {
	/** The longest caption of a file, in the unit of `messageLimit`. Default: as long as a message. */
	readonly captionLimit?: number;
	/** An answer is one message, including its files and Keryx's own notices. */
	readonly oneMessage?: boolean;
	readonly shows: {
		readonly attachments: boolean;
		readonly buttons: boolean;
		readonly edit: boolean;
		readonly typing: boolean;
		readonly threads: boolean;
		readonly idempotentSend: boolean;
		readonly lookup: boolean;
		readonly drafts: boolean;
	};
}

export interface ChannelHealth {
	/** Deliveries wait in any state except connected, without using up attempts. needs_attention: only a human can help. */
	readonly state: "starting" | "connected" | "degraded" | "down" | "needs_attention" | "stopped";
	/** The last time the platform answered. */
	readonly aliveAt: number | null;
	/** What proved it: "poll answered", "heartbeat acknowledged". */
	readonly provenBy?: string;
	/** In one sentence; with needs_attention, the remedy. */
	readonly detail?: string;
	readonly connections?: number;
}

/** Identifies a message in a chat. */
interface InChat {
	/** On the wire, snake_case. */
	readonly source: Readonly<Record<string, unknown>>;
	/** Committed together with the event. */
	readonly cursor?: string;
}

export interface Edit extends InChat {
	readonly platformMessage: string;
	/** The current text; attachments stay those of the message. */
	readonly content: Content;
}

export interface Deletion extends InChat {
	readonly platformMessage: string;
}

export interface Reaction extends InChat {
	readonly platformMessage: string;
	readonly emoji: string;
	/** own: a reaction to one of Keryx's messages. */
	readonly on: "own" | "other";
	readonly transport?: Inbound["transport"];
}

export interface Press extends InChat {
	readonly platformMessage: string;
	/** The id of the button. */
	readonly button: string;
	readonly transport?: Inbound["transport"];
	/** Called after the commit: the command that the button stands for may take longer than a platform waits. */
	readonly onCommitted?: () => void;
}

export interface ChatGone extends InChat {
	readonly reason: string;
}

export interface ChatMoved extends InChat {
	readonly toChatId: string;
}

/** Each method with a cursor resolves after the commit, and rejects if nothing was committed. */
export interface ChannelHost {
	/** Resolves after the commit. Rejects if nothing was committed: the platform must deliver again. */
	accept(inbound: Inbound): Promise<Admission>;
	/** Where reading of the platform's updates stopped. */
	cursor(): Promise<string | null>;
	/** Which of these messages of a chat were taken before: a channel that reads a history again need not fetch and hand them in again. */
	known(chatId: string, platformMessages: readonly string[]): Promise<readonly string[]>;
	/**
	 * Stores an attachment before its message is accepted. Returns its id, for `Inbound.blobs` and the content's parts. Rejects with
	 * attachment.too_large over http.attachment_limit_mb; the channel then adds a text part that says so.
	 */
	putBlob(
		bytes: AsyncIterable<Uint8Array>,
		facts: { readonly name: string; readonly mediaType: string; readonly size?: number },
	): Promise<string>;
	/** Whether a person who invites Keryx to a chat may speak there, or may ask for access there. */
	welcomes(invitation: Pick<InChat, "source">): Promise<boolean>;
	edited(edit: Edit): Promise<void>;
	deleted(deletion: Deletion): Promise<void>;
	reacted(reaction: Reaction): Promise<void>;
	/** Returns the text to show. */
	pressed(press: Press): Promise<{ readonly text: string }>;
	/** Keryx can no longer write to the chat: its deliveries end as dead, with the reason, until the chat is heard from again. */
	gone(chat: ChatGone): Promise<void>;
	/** A chat got a new id: from now on both ids lead to the same conversation. */
	moved(move: ChatMoved): Promise<void>;
	/** Moves the cursor past an update that is not for Keryx. */
	passed(cursor: string): Promise<void>;
	/** For the platform's own menu of commands. */
	commands(): readonly { readonly name: string; readonly description: string }[];
	/**
	 * False: another gateway may have taken over, so send nothing. A channel that waits within `send` or `edit` asks again before it sends.
	 * Absent: always true.
	 */
	maySend?(): boolean;
}

export interface Channel {
	/** Its entry's name in `channels`; for our own channels, their platform. */
	readonly name: string;
	readonly platform: string;
	readonly account: string;
	/** It has no connection: every gateway on the same store has it at the same time. */
	readonly everywhere?: true;
	/** Default: the registry's traits for its platform. */
	readonly traits?: ChannelTraits;
	start(host: ChannelHost): Promise<void>;
	stop(): Promise<void>;
	send(outgoing: Outgoing): Promise<SendResult>;
	/**
	 * How many messages it could send at once now, and how long until there is room for one more. The others stay in the store: a message
	 * waiting inside a channel would be of unknown outcome after a crash, although it never left. Default: any number.
	 */
	room?(): { readonly free: number; readonly afterMs: number };
	/** Replaces a sent message. Without it, nothing is previewed. */
	edit?(receipt: string, outgoing: Outgoing): Promise<SendResult>;
	typing?(destination: Destination): Promise<void>;
	/** Looks up a delivery by its id. It was created at `madeAt`; no attempt was earlier. */
	lookup?(
		id: string,
		destination: Destination,
		madeAt?: number,
	): Promise<{ readonly kind: "sent"; readonly receipt: string } | { readonly kind: "absent" | "unknown" }>;
	health(): ChannelHealth;
	/** Handles a request that the platform sent to `/channels/<name>/events`. Without it, all are refused. */
	receive?(request: ChannelRequest): Promise<ChannelReply>;
	/** The permissions of a bridge program, which connects the platform from outside Keryx. */
	readonly bridge?: ChannelBridge;
}

/** An event from a bridge program. Platform and account are the channel's. */
export type FromBridge<Value extends { readonly source: unknown }> = Omit<Value, "transport">;

/** The channel's side of a bridge. Posted events resolve after the commit; `gateway.stopped` while the channel is not running. */
export interface ChannelBridge {
	/**
	 * Work to do on the platform. Waits until there is some or the signal aborts, then returns nothing. `program` is new at each start of
	 * a program: work that an earlier one fetched and did not settle is unknown.
	 */
	take(signal: AbortSignal, program?: string): Promise<readonly BridgeWork[]>;
	/** Settles one piece of work. False: it is not open, for example because it timed out. */
	settle(work: string, outcome: BridgeOutcome): boolean;
	/** The bytes of a file of open work; null: no such file. */
	openFile(work: string, file: number): AsyncIterable<Uint8Array> | null;
	cursor(): Promise<string | null>;
	commands(): ReturnType<ChannelHost["commands"]>;
	putFile(...args: Parameters<ChannelHost["putBlob"]>): Promise<string>;
	message(
		inbound: FromBridge<Inbound> & { readonly isBot: boolean; readonly roles: readonly string[] },
	): Promise<Admission>;
	edited(edit: Edit): Promise<void>;
	deleted(deletion: Deletion): Promise<void>;
	reacted(reaction: FromBridge<Reaction>): Promise<void>;
	pressed(press: FromBridge<Press>): Promise<{ readonly text: string }>;
	gone(chat: ChatGone): Promise<void>;
	moved(move: ChatMoved): Promise<void>;
}

export type BridgeWork = {
	/** Named when it is settled. */
	readonly work: string;
	readonly destination: Destination;
} & (
	| ({ readonly do: "send" } & BridgeText)
	| ({ readonly do: "edit"; readonly receipt: string } & BridgeText)
	| { readonly do: "lookup"; readonly id: string; readonly madeAt?: number }
	/** Needs no settling. */
	| { readonly do: "typing" }
);

interface BridgeText {
	/** The delivery's id; the same for every attempt. */
	readonly id: string;
	readonly text: string;
	/** The text has no markup. */
	readonly plain: boolean;
	readonly files: NonNullable<DeliveryBody["attachments"]>;
	readonly buttons: NonNullable<DeliveryBody["buttons"]>;
}

export type BridgeOutcome = SendResult | { readonly kind: "absent" };

/** One request from outside. Anyone can send one; only the channel can tell whether it came from its platform. */
export interface ChannelRequest {
	header(name: string): string | undefined;
	/** The whole body, read once. Rejects with http.too_large. Check the headers' proof before calling it. */
	body(): Promise<Uint8Array>;
}

export type ChannelReply =
	/** Committed: the platform may forget it. `text` is the expected answer. */
	| { readonly kind: "taken"; readonly text?: string }
	/** The platform did not send this. */
	| { readonly kind: "refused" }
	/** Not committed: the platform must send it again. */
	| { readonly kind: "later" };

/** answer: someone asked for it. question: someone must answer. warning: something is lost or wrong. status: everything else. */
export type NoticeClass = "answer" | "question" | "warning" | "status";

/** The settings of one entry of `channels` that the gateway uses. */
export interface ChannelSettings {
	/** Whether the agent's next turn is told that a message it has seen was changed or deleted. */
	readonly edits: "note" | "ignore";
	/** In groups, only messages that name the bot or reply to it are for the agent. */
	readonly requireMention: boolean;
	/** Ids of groups where every message is for the agent. */
	readonly freeChats: readonly string[];
	/** The classes of notices that are sent: to one person, and to groups and by e-mail. */
	readonly notices: Readonly<Record<"dms" | "groups", readonly NoticeClass[]>>;
	/** After this long without a sign of life, the channel counts as down. */
	readonly aliveSeconds: number;
	/** 👍 or 👎 on a question answers it, if the platform shows no buttons. */
	readonly confirmByReaction: boolean;
}

export const CHANNEL_DEFAULTS: ChannelSettings = {
	edits: "note",
	requireMention: true,
	freeChats: [],
	notices: {
		dms: ["answer", "question", "warning", "status"],
		groups: ["answer", "question", "warning"],
	},
	aliveSeconds: 60,
	confirmByReaction: false,
};
