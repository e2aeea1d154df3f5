// Where a message came from, as in docs/reference/sources.md, and Slack's wire format.
import type { Directory } from "./directory.ts";

/** The parts of a message read here. */
export interface WireMessage {
	readonly type?: string;
	readonly subtype?: string;
	readonly ts?: string;
	readonly thread_ts?: string;
	readonly parent_user_id?: string;
	readonly user?: string;
	readonly username?: string;
	readonly bot_id?: string;
	readonly text?: string;
	readonly files?: readonly WireFile[];
	readonly attachments?: readonly WireAttachment[];
	readonly metadata?: {
		readonly event_type?: string;
		readonly event_payload?: Readonly<Record<string, unknown>>;
	};
	readonly latest_reply?: string;
}

export interface WireFile {
	readonly id?: string;
	readonly name?: string;
	readonly title?: string;
	readonly mimetype?: string;
	readonly size?: number;
	readonly mode?: string;
	readonly is_external?: boolean;
	readonly url_private?: string;
	readonly url_private_download?: string;
	readonly permalink?: string;
	readonly file_access?: string;
}

interface WireAttachment {
	readonly is_share?: boolean;
	readonly is_msg_unfurl?: boolean;
	readonly author_name?: string;
	readonly text?: string;
	readonly files?: readonly WireFile[];
}

/** The app's identity, from auth.test. */
export interface Me {
	readonly userId: string;
	readonly botId: string;
	readonly name: string;
	readonly teamId: string;
	readonly team: string;
}

export interface AccountOf {
	readonly account: string;
	readonly profile?: string;
}

export function isOwn({ user, bot_id: bot }: WireMessage, { userId, botId }: Me): boolean {
	return user === userId || (bot !== undefined && bot === botId);
}

/** A reply in a thread. Its root is in the channel itself. */
export function threadOf({ ts, thread_ts: thread }: WireMessage): string | undefined {
	return thread !== undefined && thread !== ts ? thread : undefined;
}

export interface Location {
	readonly chat: string;
	/** The chat's kind in the event: im, mpim, channel, group. */
	readonly kind?: string | undefined;
	readonly thread?: string | undefined;
	readonly user?: string | undefined;
	/** If the event already has it. */
	readonly userName?: string | undefined;
	readonly message?: string | undefined;
}

export async function sourceOf(
	{ chat, kind, thread, user, userName, message }: Location,
	{ me, of, directory }: { readonly me: Me; readonly of: AccountOf; readonly directory: Directory },
): Promise<Record<string, unknown>> {
	const isDm = chatTypeOf(chat, kind) === "dm";
	const [known, name] = await Promise.all([
		// Nothing is said of a direct message's chat, and Slack counts each question.
		isDm ? undefined : directory.chat(chat),
		userName ?? (user === undefined ? undefined : directory.person(user)),
	]);
	const type = chatTypeOf(chat, known?.type ?? kind);
	return {
		platform: "slack",
		account: of.account,
		scope_id: me.teamId,
		chat_id: chat,
		chat_type: type,
		...(type !== "dm" && known?.name !== undefined && { chat_name: known.name }),
		...(type !== "dm" && known?.topic && { chat_topic: known.topic }),
		...(thread !== undefined && { thread_id: thread }),
		...(user !== undefined && { user_id: user }),
		...(name !== undefined && { user_name: name }),
		...(message !== undefined && { message_id: message }),
		...(of.profile !== undefined && { profile: of.profile }),
	};
}

/** A private channel is a channel: it stays one when it is made public. */
export function chatTypeOf(chat: string, kind: string | undefined): "dm" | "group" | "channel" {
	if (kind === "im" || chat.startsWith("D")) return "dm";
	return kind === "mpim" ? "group" : "channel";
}
