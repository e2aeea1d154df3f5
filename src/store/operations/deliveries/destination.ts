// Where deliveries go, and which lane orders them.
import type { Source } from "../../../domain/index.ts";
import type { Destination } from "../../types.ts";

/** The destination of an answer: a value on the message itself. */
export function destinationOf(source: Source): Destination {
	return {
		platform: source.platform,
		account: source.account,
		chatId: source.chatId,
		...(source.threadId && { threadId: source.threadId }),
		...(source.messageId && { replyTo: source.messageId }),
		...(source.userId && { userId: source.userId }),
		...(source.chatType !== "dm" && { group: true }),
	};
}

/** Used instead of a conversation for a delivery without one; no conversation has such an id. */
export function noticeLane({ platform, account, chatId }: Destination): string {
	return `@${platform}:${account}:${chatId}`;
}
