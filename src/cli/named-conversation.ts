// Resolves a conversation: the terminal's own, or a named one.

import { userInfo } from "node:os";
import type { Config } from "../config/index.ts";
import { parseSource, readableKey, resolveAddress } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import type { Client, WireConversation } from "../http/index.ts";
import { texts } from "./texts.ts";

/** The person at this terminal: the user of this machine. */
export function localSource() {
	const { uid, username } = userInfo();
	return { platform: "local", chat_id: "cli", chat_type: "dm", user_id: String(uid), user_name: username };
}

/** The terminal's own conversation; null before its first message. */
export async function ownConversation(client: Client, config: Config): Promise<WireConversation | null> {
	const { profileFor } = await import("../gateway/index.ts");
	const { routing } = config;
	const source = parseSource(localSource());
	const address = resolveAddress(source, {
		groupSessionsPerUser: routing.group_sessions_per_user,
		threadSessionsPerUser: routing.thread_sessions_per_user,
		profile: profileFor(source, false, config),
		aliases: [],
	});
	return found(client.findConversation({ key: readableKey(address) }));
}

/** By its id or key; a missing one is an error. */
export async function namedConversation(client: Client, name: string): Promise<WireConversation> {
	const there =
		(await found(client.findConversation({ id: name }))) ??
		(await found(client.findConversation({ key: name })));
	if (there) return there;
	throw new KeryxError("store.not_found", texts.conversation.notFound(JSON.stringify(name)), {
		field: "conversation",
		hint: texts.conversation.notFoundHint,
	});
}

/** Null if it does not exist; other failures are thrown. */
export async function found<Value>(asked: Promise<Value>): Promise<Value | null> {
	try {
		return await asked;
	} catch (error) {
		if (error instanceof KeryxError && error.code === "store.not_found") return null;
		throw error;
	}
}
