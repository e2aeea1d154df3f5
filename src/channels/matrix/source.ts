// Where a message came from, as in docs/reference/sources.md.
import type { Room } from "./rooms.ts";

export interface AccountOf {
	readonly account: string;
	readonly profile?: string;
}

export function sourceIn(
	room: Room,
	{ account, profile }: AccountOf,
	about: {
		readonly sender?: string | undefined;
		readonly thread?: string | undefined;
		readonly message?: string | undefined;
	} = {},
): Record<string, unknown> {
	const { sender, thread, message } = about;
	return {
		platform: "matrix",
		account,
		chat_id: room.id,
		chat_type: room.isPrivate ? "dm" : "group",
		...(room.title !== undefined && { chat_name: room.title }),
		...(room.topic !== undefined && { chat_topic: room.topic }),
		...(thread !== undefined && { thread_id: thread }),
		...(sender !== undefined && { user_id: sender, user_name: room.nameOf(sender) }),
		...(message !== undefined && { message_id: message }),
		...(profile !== undefined && { profile }),
	};
}
