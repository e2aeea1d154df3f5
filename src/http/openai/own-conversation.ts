// Where a /v1 caller writes: in the named conversation, which must be its own, or in that of its token and `user`. Others are not found.
import { isConversationId } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import { type Conversation, OPERATOR, type Store } from "../../store/index.ts";
import type { Visitor } from "../entry/auth.ts";

/** The prefix of a token's chats; token names have no slash. */
function chatOf({ who }: Visitor, user: string | undefined): string {
	return user === undefined || user === "" ? who : `${who}/${user}`;
}

export function sourceOf(visitor: Visitor, user: string | undefined, profile: string | null) {
	const chat = chatOf(visitor, user);
	return {
		platform: "api_server",
		chat_id: chat,
		chat_type: "dm",
		user_id: chat,
		user_name: user || visitor.who.replace(/^token:/, ""),
		...(profile !== null && { profile }),
	};
}

/** By its id or its key. */
export async function ownConversation(named: string, visitor: Visitor, store: Store): Promise<Conversation> {
	const found = await find(named, store);
	if (found && (await isOwn(found, visitor, store))) return found;
	throw new KeryxError("store.not_found", "no such conversation", { field: "X-Keryx-Conversation" });
}

async function find(named: string, store: Store): Promise<Conversation | null> {
	const byId = isConversationId(named)
		? await store.conversation({ scope: OPERATOR, ref: { id: named } }).catch(orNull)
		: null;
	return byId ?? store.conversation({ scope: OPERATOR, ref: { key: named } }).catch(orNull);
}

async function isOwn(found: Conversation, visitor: Visitor, store: Store): Promise<boolean> {
	const { role, who, sessionKey, principal } = visitor;
	if (role === "operator") return true;
	if (sessionKey !== null) return found.key === sessionKey;
	const { platform, source, profile, isImported } = found;
	const isNamed = source.chatId === who || source.chatId.startsWith(`${who}/`);
	// On another installation a token of the same name is a different token.
	if (platform === "api_server" && isNamed && !isImported) return true;
	if (principal === null) return false;
	const scope = { kind: "principal", principal, profile } as const;
	return (await store.conversation({ scope, ref: { id: found.id } }).catch(orNull)) !== null;
}

function orNull(error: unknown): null {
	if (error instanceof KeryxError && error.code === "store.not_found") return null;
	throw error;
}
