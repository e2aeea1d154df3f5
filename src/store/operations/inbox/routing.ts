// Routing: which conversation a message belongs to, by its address and its person. A conversation is created here, and nowhere else but by
// an import.
import {
	type Address,
	type AliasPair,
	addressDigest,
	type ConversationId,
	conversationId,
	isShared,
	personId,
	readableKey,
	resolveAddress,
	type Source,
	toWireSource,
} from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { seal } from "../../codec.ts";
import { type Context, get, type Op, run, sql } from "../../query.ts";
import type { BusyMode, ConversationState } from "../../types.ts";
import { firstAddress } from "../chats/known.ts";
import { emit } from "../events.ts";
import { ensurePrincipal, idsOf, samePrincipals } from "../people/principals.ts";

const findAddress = sql<FoundConversation>(
	`SELECT c.id, c.key, c.shared, c.busy, c.last_activity_at, c.principal, c.profile, c.chat_type, c.origin, c.state, c.source_body
	FROM addresses a JOIN conversations c ON c.id = a.conversation WHERE a.digest = ?`,
);
const findConversation = sql<FoundConversation>(
	`SELECT id, key, shared, busy, last_activity_at, principal, profile, chat_type, origin, state, source_body
	FROM conversations WHERE id = ?`,
);
const findKey = sql<{ id: string }>("SELECT id FROM conversations WHERE key = ?");
const setKey = sql("UPDATE conversations SET key = ? WHERE id = ?");
const insertConversation = sql(
	`INSERT INTO conversations (id, key, platform, profile, chat_type, principal, shared, created_at, last_activity_at,
		source_body, preview_body)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '""')`,
);
const insertAddress = sql(
	`INSERT INTO addresses (digest, conversation, profile, platform, account, scope, chat_type, chat, thread, participant)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (digest) DO UPDATE SET conversation = excluded.conversation`,
);

interface FoundConversation {
	readonly id: ConversationId;
	readonly key: string;
	readonly shared: number;
	readonly busy: BusyMode | null;
	readonly last_activity_at: number;
	readonly principal: string | null;
	readonly profile: string;
	readonly chat_type: string;
	/** Where it was imported from; null if made here. */
	readonly origin: string | null;
	readonly state: ConversationState;
	readonly source_body: string;
}

/** What decides where a message goes, besides its source. */
export interface Routed {
	readonly routing: {
		readonly groupSessionsPerUser: boolean;
		readonly threadSessionsPerUser: boolean;
		readonly profile: string | null;
	};
	/** Set for internal events and for an operator who joins one; any other message finds its conversation by its address. */
	readonly conversation?: ConversationId;
}

/** The conversation of a message, created if its address is new. */
export function* route(
	context: Context,
	args: Routed,
	source: Source,
): Op<{ conversation: FoundConversation; principal: string | null }> {
	const principal = yield* ensurePrincipal(context, source.platform, personsIds(source));
	if (args.conversation !== undefined) {
		const named = yield* get(findConversation, args.conversation);
		if (!named)
			throw new KeryxError("store.not_found", `no conversation ${args.conversation}`, {
				field: "conversation",
			});
		return { conversation: named, principal };
	}
	const ids = principal ? yield* idsOf(source.platform, principal) : [];
	const aliases = ids.slice(1).map((id): AliasPair => [ids[0] as string, id]);
	const address = yield* firstAddress(resolveAddress(source, { ...args.routing, aliases }));
	const digest = addressDigest(address);
	const known = yield* get(findAddress, digest);
	const own = (yield* isTheirs(known, address, principal)) ? known : undefined;
	const newest =
		aliases.length > 0 ? yield* findByEveryId(address, source.platform, ids, aliases, principal) : own;
	if (newest) {
		if (!own) yield* pointAddress(digest, newest.id, address);
		return { conversation: newest, principal };
	}
	const owner = isShared(address) ? null : principal;
	if (known?.state === "deleted") yield* giveUpKey(known, address);
	return { conversation: yield* createConversation(context, address, digest, owner, source), principal };
}

/** A deleted conversation stays deleted, under another key: new messages from its address start a new one. */
function* giveUpKey({ id, key }: FoundConversation, address: Address): Op<void> {
	if (key !== readableKey(address)) return;
	yield* run(setKey, yield* freeKey(key), id);
}

function* freeKey(plain: string): Op<string> {
	let key = plain;
	for (let n = 2; yield* get(findKey, key); n++) key = `${plain}~${n}`;
	return key;
}

/**
 * Whether a message from an address continues the conversation it leads to. Not a deleted one. An imported file may claim any address: a
 * private conversation accepts only its own person.
 */
function* isTheirs(
	found: FoundConversation | undefined,
	address: Address,
	principal: string | null,
): Op<boolean> {
	if (!found || found.state === "deleted") return false;
	if (found.origin === null) return true;
	if (found.profile !== address.profile || found.chat_type !== address.chatType) return false;
	if (found.shared === 1) return isShared(address);
	if (found.principal === null || principal === null) return found.principal === principal;
	return (yield* samePrincipals(found.principal)).includes(principal);
}

/** A sender's known ids. In a dm without a sender, the chat is the person. */
export function personsIds(source: Source): string[] {
	const ids = [source.userIdAlt, source.userId].filter((id) => id !== undefined);
	if (ids.length === 0 && source.chatType === "dm" && source.chatId !== "") ids.push(source.chatId);
	return ids.map((id) => personId(source.platform, id, []));
}

/** A person's conversation under any of their ids for this address: one may predate the link between two ids. The newest of several. */
function* findByEveryId(
	address: Address,
	platform: string,
	ids: readonly string[],
	aliases: readonly AliasPair[],
	principal: string | null,
): Op<FoundConversation | undefined> {
	const own = address.chatType === "dm" && address.chat !== "" ? "chat" : "participant";
	const same = ids.filter((id) => personId(platform, id, aliases) === address[own]);
	let newest: FoundConversation | undefined;
	for (const id of new Set([address[own], ...same])) {
		const found = yield* get(findAddress, addressDigest({ ...address, [own]: id }));
		if (!found || !(yield* isTheirs(found, address, principal))) continue;
		if (!newest || found.last_activity_at > newest.last_activity_at) newest = found;
	}
	return newest;
}

export function* createConversation(
	context: Context,
	address: Address,
	digest: string,
	principal: string | null,
	source: Source,
): Op<FoundConversation> {
	const id = conversationId(context.uuid());
	const key = yield* freeKey(readableKey(address));
	const shared = isShared(address) ? 1 : 0;
	const source_body = seal(toWireSource(source));
	yield* run(
		insertConversation,
		id,
		key,
		address.platform,
		address.profile,
		address.chatType,
		principal,
		shared,
		context.now,
		context.now,
		source_body,
	);
	yield* pointAddress(digest, id, address);
	yield* emit(context, "conversation.created", { conversation: id, subject: key });
	const { profile, chatType: chat_type } = address;
	const last_activity_at = context.now;
	const found = { id, key, shared, busy: null, last_activity_at, principal, profile, chat_type };
	return { ...found, origin: null, state: "open", source_body };
}

/** Also away from an imported conversation of someone else. */
function* pointAddress(digest: string, conversation: string, address: Address): Op<void> {
	yield* run(insertAddress, digest, conversation, ...addressColumns(address));
}

/** In the order of the table's columns. */
export function addressColumns(address: Address): string[] {
	const { profile, platform, account, scope, chatType, chat, thread, participant } = address;
	return [profile, platform, account, scope, chatType, chat, thread, participant];
}
