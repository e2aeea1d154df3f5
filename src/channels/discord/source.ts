// Where a message came from, as in docs/reference/sources.md. A thread belongs to its channel: the channel is the chat.
import type { APIUser } from "discord-api-types/v10";
import type { Location } from "./directory.ts";

export interface AccountOf {
	readonly account: string;
	readonly profile?: string;
}

export interface Sender {
	readonly id: string;
	readonly name: string;
	readonly isBot: boolean;
	readonly roles: readonly string[];
}

export interface MemberFacts {
	readonly nick?: string | null;
	readonly roles?: readonly string[];
}

/** The visible name. */
export function senderOf(
	user: Pick<APIUser, "id" | "username" | "global_name" | "bot">,
	member?: MemberFacts,
): Sender {
	return {
		id: user.id,
		name: member?.nick ?? user.global_name ?? user.username,
		isBot: user.bot === true,
		roles: member?.roles ?? [],
	};
}

/** `thread` if the answer gets its own thread, which does not exist yet. */
export function sourceIn(
	location: Location,
	{ account, profile }: AccountOf,
	about: { readonly sender?: Sender; readonly message?: string; readonly thread?: string } = {},
): Record<string, unknown> {
	const { sender, message } = about;
	const thread = location.thread?.id ?? about.thread;
	return {
		platform: "discord",
		account,
		chat_id: location.chat,
		chat_type: location.isPrivate ? "dm" : "channel",
		...(location.guild !== undefined && { scope_id: location.guild }),
		...(location.name !== undefined && { chat_name: location.name }),
		...(thread !== undefined && { thread_id: thread }),
		...((location.thread?.name ?? location.topic) !== undefined && {
			chat_topic: location.thread?.name ?? location.topic,
		}),
		...(sender && { user_id: sender.id, user_name: sender.name }),
		...(message !== undefined && { message_id: message }),
		...(profile !== undefined && { profile }),
	};
}
