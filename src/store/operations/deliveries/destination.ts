import type { Source } from "../../../domain/index.ts";
import type { Destination } from "../../types.ts";

/** Where an answer to a message goes: a value on the message itself. */
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

/** Stands where a delivery names its conversation, for one that belongs to none; no conversation has such an id. */
export function noticeLane({ platform, account, chatId }: Destination): string {
	return `@${platform}:${account}:${chatId}`;
}
