// Which fields of what goes into the store are Keryx's own words: ids, kinds, settings. A short secret may be part of one by chance (a
// password `session`, six digits of an id); hidden there it would break the row and keep nothing from anybody. Only such chance finds
// are left in these fields: a longer secret is hidden in them like everywhere. A field that is not named here holds text.

/** A secret of more characters is nowhere by chance. */
const LONGEST_CHANCE = 11;

/** What a text is to the store. id: a chance find is a part of it, never all of it. */
export type Place = "text" | "kind" | "id";

/** One of a closed list, or from the configuration. */
const KINDS: ReadonlySet<string> = new Set([
	...["kind", "type", "role", "state", "status", "via", "waiter", "decision", "scope", "edge", "backend"],
	...["notify", "platform", "account", "chatType", "chat_type", "profile", "source", "busy", "within", "as"],
	...[
		"toolProgress",
		"mode",
		"currency",
		"costStatus",
		"titleSource",
		"openedBy",
		"endReason",
		"show",
		"finishReason",
	],
	...["timezone", "notifyExcludePlatforms", "carryOver", "which", "media_type", "mediaType"],
]);

/** Made by Keryx, or by a platform. */
const IDS: ReadonlySet<string> = new Set([
	...["id", "turn", "token", "conversation", "session", "principal", "claim", "digest", "blobs", "blob"],
	...[
		"cursor",
		"value",
		"after",
		"before",
		"origin",
		"origins",
		"key",
		"live",
		"previous",
		"mergedInto",
		"data",
	],
	...["workspace", "folder", "cwd", "commit", "replaces", "tree", "target", "owner", "webhooks", "leavesOut"],
	...["chatId", "chat_id", "threadId", "thread_id", "userId", "user_id", "replyTo", "message_id", "receipt"],
	...[
		"chat",
		"thread",
		"participant",
		"chat_id_alt",
		"user_id_alt",
		"scope_id",
		"guild_id",
		"parent_chat_id",
	],
	...["platformMessage", "askedBy", "by", "sessionKey", "call", "bootId", "startTime", "undo", "alias"],
]);

/** Objects, or lists of them, whose fields are judged one by one; in all others every field is text. */
const HOLDERS: ReadonlySet<string> = new Set([
	...["scope", "ref", "as", "outcome", "outcomes", "settlement", "found", "routing", "policy", "cursor"],
	...["source", "destination", "messages", "content", "covers", "ranges", "confirmation", "author", "turn"],
	...["deliveries", "delivery", "request", "waiting", "from", "notices", "notice", "grant", "change", "args"],
	...["ifRotated", "material", "processes", "confirmations", "checkpoint", "window", "together", "command"],
	...["identity", "end", "archive", "lines", "line", "origins", "origin", "addresses", "aliases", "body"],
	...["modelCalls", "base", "a", "b", "named"],
]);

export function placeOf(field: string): Place {
	return KINDS.has(field) ? "kind" : IDS.has(field) ? "id" : "text";
}

export function isHolder(field: string): boolean {
	return HOLDERS.has(field);
}

/** Whether a text in this place may stay as it is, where the longest secret found in it has so many characters. */
export function isChance(place: Place, text: string, longest: number): boolean {
	if (place === "text" || longest > LONGEST_CHANCE) return false;
	return place === "kind" || longest < text.length;
}
