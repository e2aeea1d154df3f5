// Resolves a source to the address that decides its conversation. Two people, or two chats, must never share an address by accident:
// missing parts are refused or kept apart.
import { hash } from "node:crypto";
import { KeryxError } from "../../errors.ts";
import type { Address, Source } from "../types.ts";
import { type AliasPair, personId } from "./aliases.ts";
import { profileName } from "./profile.ts";

export interface AddressOptions {
	/** One conversation per person in a chat (true), or one for the chat. */
	readonly groupSessionsPerUser?: boolean;
	/** The same inside a thread, where only this decides. */
	readonly threadSessionsPerUser?: boolean;
	/** null, "" and "default" mean none; absent: the source's own. */
	readonly profile?: string | null;
	/** Ids of the source's platform known to be one person. */
	readonly aliases?: readonly AliasPair[];
}

const NO_ALIASES: readonly AliasPair[] = [];

/** Throws address.incomplete or profile.invalid. Resolving the result's ids again gives the same address. */
export function resolveAddress(
	source: Source,
	{
		groupSessionsPerUser = true,
		threadSessionsPerUser = false,
		profile,
		aliases = NO_ALIASES,
	}: AddressOptions = {},
): Address {
	const { platform, chatType, chatId } = source;
	const thread = source.threadId ?? "";
	const sender = source.userIdAlt || source.userId || "";
	const isDm = chatType === "dm";
	if (isDm ? !(chatId || sender || thread) : !chatId) throw incomplete(source);

	const isolated = isDm
		? chatId === ""
		: chatType !== "webhook" && (thread ? threadSessionsPerUser : groupSessionsPerUser);
	return {
		profile: profileName(profile === undefined ? source.profile : profile),
		platform,
		account: source.account,
		// Slack's channel ids are unique only within a workspace; elsewhere the scope may come and go.
		scope: platform === "slack" ? (source.scopeId ?? "") : "",
		chatType,
		chat: isDm && chatId ? personId(platform, chatId, aliases) : chatId,
		thread,
		participant: isolated && sender ? personId(platform, sender, aliases) : "",
	};
}

/** Whether several people may speak in the conversation; it follows the address, not the setting. */
export function isShared(address: Address): boolean {
	return address.chatType !== "dm" && address.participant === "";
}

/** SHA-256 in hex. Each part is prefixed with its length, in UTF-16, so that different addresses give different input. */
export function addressDigest(address: Address): string {
	const parts = [
		address.profile,
		address.platform,
		address.account,
		address.scope,
		address.chatType,
		address.chat,
		address.thread,
		address.participant,
	];
	const input = parts.map((part) => `${part.length}:${part}`).join("");
	return hash("sha256", Buffer.from(input, "utf16le"));
}

function incomplete({ chatType }: Source): KeryxError {
	if (chatType !== "dm") {
		return new KeryxError("address.incomplete", `a ${chatType} message must have a chat_id`, {
			field: "chat_id",
		});
	}
	return new KeryxError("address.incomplete", "a dm must have a chat_id, a user_id or a thread_id", {
		field: "chat_id",
	});
}
