// Who may read what. A principal sees its own conversations (under all its ids) and the current one, within one profile, and no deleted
// ones; the operator sees everything. Anything else is "not found", never "forbidden".
import { KeryxError } from "../../../errors.ts";
import { get, type Op, sql } from "../../query.ts";
import type { ConversationState, Scope } from "../../types.ts";
import { samePrincipals } from "./principals.ts";

export interface Owned {
	readonly id: string;
	readonly principal: string | null;
	readonly profile: string;
	readonly state: ConversationState;
}

const owned = sql<Owned>("SELECT id, principal, profile, state FROM conversations WHERE id = ?");

export function* sees(scope: Scope, conversation: Owned): Op<boolean> {
	if (scope.kind === "operator") return true;
	// Only the operator sees a deleted one, and can restore it.
	if (!isOfProfile(scope, conversation) || conversation.state === "deleted") return false;
	if (conversation.id === scope.conversation) return true;
	if (conversation.principal === null) return false;
	return (yield* samePrincipals(scope.principal)).includes(conversation.principal);
}

/** A scope without a profile reaches all of them. */
export function isOfProfile(
	{ profile }: { readonly profile: string | null },
	row: { readonly profile: string },
): boolean {
	return profile === null || row.profile === profile;
}

export function* seesConversation(scope: Scope, conversation: string): Op<boolean> {
	const row = yield* get(owned, conversation);
	return row !== undefined && (yield* sees(scope, row));
}

/** Throws "not found", named after what was asked for. */
export function* assertSees(scope: Scope, conversation: string | null, what: string): Op<void> {
	const row = conversation === null ? undefined : yield* get(owned, conversation);
	if (row ? yield* sees(scope, row) : scope.kind === "operator" && conversation === null) return;
	throw new KeryxError("store.not_found", `no ${what}`);
}
