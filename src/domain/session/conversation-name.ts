// A conversation's name everywhere: its title, or else who and where.
import { platformTraits } from "../address/platforms.ts";
import type { Source } from "../types.ts";

/** The parts are untrusted text, also in a prompt or markup. */
export function conversationName({
	title,
	source,
}: {
	readonly title: string | null;
	/** Of its newest message. */
	readonly source: Source;
}): string {
	return title ?? whoAndWhere(source);
}

function whoAndWhere(source: Source): string {
	const { platform, chatName, threadId } = source;
	if (platform === "local") return "Terminal";
	// The page names a chat by its first words.
	if (platform === "web" && chatName) return chatName;
	const name = `${who(source)} ${where(platform)}`;
	return threadId ? `${name}, thread ${threadId}` : name;
}

function who({ chatType, chatName, chatId, userName, userId }: Source): string {
	if (chatType === "dm") return userName ?? userId ?? "Somebody";
	return chatName ?? (chatId || "A chat");
}

function where(platform: string): string {
	if (platform === "web") return "on the page";
	if (platform === "api_server") return "over the API";
	return `on ${platformTraits(platform).label}`;
}

/** A chat of the page has one topic: its session's name names it. Other chats continue for years. */
export function isNamedByTopic(platform: string): boolean {
	return platform === "web";
}
