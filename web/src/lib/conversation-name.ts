import type { Conversation } from "../api/types.ts";

/** The page's own chats are named by how they began; all of them are with the same person. */
export function conversationName({ platform, source, display_name }: Conversation): string {
	return platform === "web" && source.chat_name ? source.chat_name : display_name;
}
