// What the gateway asks of a way in and out. A channel normalises, transports and reports outcomes honestly: "they refused"
// and "we do not know" are two answers. It never computes addresses, never retries by itself, never decides who may speak.
import type { Content, ConversationId, PlatformTraits } from "../domain/index.ts";
import type { DeliveryBody, Destination, Poster } from "../store/index.ts";

export interface Inbound {
	/** On the wire, snake_case. */
	readonly source: Readonly<Record<string, unknown>>;
	/** The platform's id of the message, unique within the chat; our own ways in send a client message id. */
	readonly platformMessage: string;
	/** A part with bytes names its blob by the id that `putBlob` answered, which stands in `blobs` too. */
	readonly content: Content;
	readonly blobs?: readonly string[];
	/** The message that this one replies to: shown to the agent as a labelled quote, never as an instruction. */
	readonly quoted?: Quoted;
	/** Messages with the same album id are one turn. */
	readonly album?: string;
	/** Somebody who was found to be allowed to speaks in this conversation, whatever the source's address leads to. */
	readonly conversation?: ConversationId;
	/**
	 * Whether the bot was named. The gateway decides from it, `require_mention` and `free_chats` whether the message is
	 * addressed to the agent; a reply to Keryx always is. Left out, it is.
	 */
	readonly mentioned?: boolean;
	/** Overrides that decision: false for what was seen in a group and not meant for the agent. */
	readonly addressed?: boolean;
	/** When it was sent, where the platform says so. */
	readonly sentAt?: number;
	/** Committed together with the message; the channel asks for it at start. */
	readonly cursor?: string;
	/** Facts that only the transport knows. */
	readonly transport?: {
		/** A bot is listened to only where that is allowed, and never decides anything. */
		readonly isBot?: boolean;
		/** The platform does not vouch for who wrote this: they may speak as far as the lists say, and decide nothing. */
		readonly unproven?: boolean;
		/** Written by Keryx itself: always refused. */
		readonly own?: boolean;
		/** The way in lets its caller choose a profile: the source's counts. */
		readonly mayChooseProfile?: boolean;
		/** What the way in lets its caller be, whom it has authenticated itself. */
		readonly role?: "owner" | "member" | "guest";
		/** The sender's roles on the platform. */
		readonly roles?: readonly string[];
		/** Who posted it on a way in of our own. What a channel brings has none. */
		readonly poster?: Poster;
	};
}

export interface Quoted {
	readonly platformMessage: string;
	readonly text: string;
	/** The name of who wrote it. */
	readonly author?: string;
	/** Written by Keryx. */
	readonly own: boolean;
}

/** What became of an inbound message so far; only after this may the platform be told that it was taken. */
export interface Admission {
	readonly id: number;
	readonly conversation: string | null;
	readonly duplicate: boolean;
	readonly refused: string | null;
}

export interface Outgoing {
	/** Stable over retries: an idempotency key where the platform has one. */
	readonly id: string;
	readonly destination: Destination;
	readonly body: DeliveryBody;
	/** Send the plain twin: the platform refused the markup. */
	readonly plain: boolean;
	/** The bytes of one of the body's attachments, by its blob. */
	readonly openBlob: (blob: string) => AsyncIterable<Uint8Array>;
}

export type SendResult =
	| { readonly kind: "sent"; readonly receipt: string }
	/** Certainly not taken; try again, no earlier than the platform asked. */
	| { readonly kind: "retry"; readonly afterMs?: number; readonly reason: string }
	/** The platform does not understand the markup: the plain twin is sent. */
	| { readonly kind: "markup_refused" }
	/** Of an edit: the message is not there any more. An answer is then sent anew. */
	| { readonly kind: "missing" }
	| { readonly kind: "refused"; readonly reason: string }
	/** It may have been taken, or not. */
	| { readonly kind: "unknown"; readonly reason: string };

/** What a platform can show. Given by the channel, so that a plugin needs no change of Keryx. */
export interface ChannelTraits extends PlatformTraits {
	/** The longest text that a file can have with it, in the unit of `messageLimit`. Left out: as long as a message. */
	readonly captionLimit?: number;
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
	/** In any but connected, deliveries wait; that uses up none of their attempts. needs_attention: only a human can help. */
	readonly state: "starting" | "connected" | "degraded" | "down" | "needs_attention" | "stopped";
	/** The last time the platform answered. */
	readonly aliveAt: number | null;
	/** What proved that: "poll answered", "heartbeat acknowledged". */
	readonly provenBy?: string;
	/** In one sentence; with needs_attention, the remedy. */
	readonly detail?: string;
	readonly connections?: number;
}

/** Where something happened to a message of a chat. */
interface InChat {
	/** On the wire, snake_case. */
	readonly source: Readonly<Record<string, unknown>>;
	/** Committed together with what happened. */
	readonly cursor?: string;
}

export interface Edit extends InChat {
	readonly platformMessage: string;
	/** The text as it is now; attachments stay those of the message. */
	readonly content: Content;
}

export interface Deletion extends InChat {
	readonly platformMessage: string;
}

export interface Reaction extends InChat {
	readonly platformMessage: string;
	readonly emoji: string;
	/** own: on a message of Keryx. */
	readonly on: "own" | "other";
	readonly transport?: Inbound["transport"];
}

export interface Press extends InChat {
	readonly platformMessage: string;
	/** The id of the button. */
	readonly button: string;
	readonly transport?: Inbound["transport"];
}

export interface ChatGone extends InChat {
	readonly reason: string;
}

export interface ChatMoved extends InChat {
	readonly toChatId: string;
}

/** Each method that is given a cursor resolves after the commit, and rejects when nothing was committed. */
export interface ChannelHost {
	/** Resolves after the commit. Rejects when nothing was committed: the platform must deliver again. */
	accept(inbound: Inbound): Promise<Admission>;
	/** Where the platform's updates were last read to. */
	cursor(): Promise<string | null>;
	/**
	 * Stores an attachment before the message that names it is accepted. Answers its id, for `Inbound.blobs` and the content's parts.
	 * Rejects with attachment.too_large over http.attachment_limit_mb: the channel then writes a text part that says so.
	 */
	putBlob(
		bytes: AsyncIterable<Uint8Array>,
		facts: { readonly name: string; readonly mediaType: string; readonly size?: number },
	): Promise<string>;
	edited(edit: Edit): Promise<void>;
	deleted(deletion: Deletion): Promise<void>;
	reacted(reaction: Reaction): Promise<void>;
	/** Answers the text to show. */
	pressed(press: Press): Promise<{ readonly text: string }>;
	/** The chat can no longer be written to: its deliveries end dead, with the reason, until it is heard from again. */
	gone(chat: ChatGone): Promise<void>;
	/** A chat got a new id: from now on both lead to one conversation. */
	moved(move: ChatMoved): Promise<void>;
	/** Moves the cursor past an update that carries nothing for Keryx. */
	passed(cursor: string): Promise<void>;
	/** For the platform's own menu of commands. */
	commands(): readonly { readonly name: string; readonly description: string }[];
}

export interface Channel {
	/** Its entry's name in `channels`; of our own ways in, their platform. */
	readonly name: string;
	readonly platform: string;
	readonly account: string;
	/** It holds no connection: every gateway on the same store has it at the same time. */
	readonly everywhere?: true;
	/** Left out: those that the registry has for its platform. */
	readonly traits?: ChannelTraits;
	start(host: ChannelHost): Promise<void>;
	stop(): Promise<void>;
	send(outgoing: Outgoing): Promise<SendResult>;
	/**
	 * How many messages it could send at once now, and how long until there is room for one more. Those beyond stay in the store: what a
	 * channel keeps waiting would be of unknown outcome after a crash, though it never left. Left out: any number.
	 */
	room?(): { readonly free: number; readonly afterMs: number };
	/** Replaces a message that was sent; without it, nothing is previewed. */
	edit?(receipt: string, outgoing: Outgoing): Promise<SendResult>;
	typing?(destination: Destination): Promise<void>;
	/** Looks up what became of a delivery by its id. It was made at `madeAt`: no attempt was before. */
	lookup?(
		id: string,
		destination: Destination,
		madeAt?: number,
	): Promise<{ readonly kind: "sent"; readonly receipt: string } | { readonly kind: "absent" | "unknown" }>;
	health(): ChannelHealth;
	/** Takes a request that the platform sent to the channel's address, `/channels/<name>/events`. Without it, every one is refused. */
	receive?(request: ChannelRequest): Promise<ChannelReply>;
	/** A program outside Keryx speaks for the platform: what it may do here. */
	readonly bridge?: ChannelBridge;
}

/** What happens on a platform, told by a bridge program: without platform and account, which are the channel's. */
export type Told<Value extends { readonly source: unknown }> = Omit<Value, "transport">;

/** The channel's side of a bridge. What is posted resolves after the commit; `gateway.stopped` while the channel does not run. */
export interface ChannelBridge {
	/**
	 * What to do on the platform. Waits for something, until the signal aborts; answers nothing then. `program` is drawn anew by each start of
	 * a program: what another one fetched and did not settle is unknown from then on.
	 */
	take(signal: AbortSignal, program?: string): Promise<readonly BridgeWork[]>;
	/** Ends one piece of work. False: it is not open, for example because its time ran out. */
	settle(work: string, outcome: BridgeOutcome): boolean;
	/** The bytes of a file of open work; null: there is none. */
	openFile(work: string, file: number): AsyncIterable<Uint8Array> | null;
	cursor(): Promise<string | null>;
	commands(): ReturnType<ChannelHost["commands"]>;
	putFile(...args: Parameters<ChannelHost["putBlob"]>): Promise<string>;
	message(
		inbound: Told<Inbound> & { readonly isBot: boolean; readonly roles: readonly string[] },
	): Promise<Admission>;
	edited(edit: Edit): Promise<void>;
	deleted(deletion: Deletion): Promise<void>;
	reacted(reaction: Told<Reaction>): Promise<void>;
	pressed(press: Told<Press>): Promise<{ readonly text: string }>;
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
	/** Of the delivery; the same whenever it is tried again. */
	readonly id: string;
	readonly text: string;
	/** The text has no markup. */
	readonly plain: boolean;
	readonly files: NonNullable<DeliveryBody["attachments"]>;
	readonly buttons: NonNullable<DeliveryBody["buttons"]>;
}

export type BridgeOutcome = SendResult | { readonly kind: "absent" };

/** One request from outside. Anybody can send one: only the channel can tell whether its platform did. */
export interface ChannelRequest {
	header(name: string): string | undefined;
	/** The whole body, read once. Rejects with http.too_large. Check what the headers prove before asking for it. */
	body(): Promise<Uint8Array>;
}

export type ChannelReply =
	/** Committed: the platform may forget it. `text` is what it wants to hear. */
	| { readonly kind: "taken"; readonly text?: string }
	/** The platform did not send this. */
	| { readonly kind: "refused" }
	/** Not committed: the platform must send it again. */
	| { readonly kind: "later" };

/** answer: what somebody asked for. question: waits for somebody. warning: something is lost or wrong. status: all else. */
export type NoticeClass = "answer" | "question" | "warning" | "status";

/** The settings of one entry of `channels`, as far as the gateway goes by them. */
export interface ChannelSettings {
	/** Whether the agent's next turn is told that a message it has seen was changed or deleted. */
	readonly edits: "note" | "ignore";
	/** In groups, only messages that name the bot or reply to it are for the agent. */
	readonly requireMention: boolean;
	/** Ids of groups where every message is for the agent. */
	readonly freeChats: readonly string[];
	/** Classes of notices that are sent: to one person, and to groups and by e-mail. */
	readonly notices: Readonly<Record<"dms" | "groups", readonly NoticeClass[]>>;
	/** Without a sign of life for so long, the channel counts as down. */
	readonly aliveSeconds: number;
	/** 👍 or 👎 at a question's message answers it, where the platform shows no buttons. */
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
