// Who may read what. A principal sees its own conversations (all ids that mean the same person) and the one it is speaking
// in, within one profile; the operator sees everything. Anything else is "not found", never "forbidden".
import { KeryxError } from "../../../errors.ts";
import { get, type Op, sql } from "../../query.ts";
import type { Scope } from "../../types.ts";
import { samePrincipals } from "./principals.ts";

export interface Owned {
	readonly id: string;
	readonly principal: string | null;
	readonly profile: string;
}

const owned = sql<Owned>("SELECT id, principal, profile FROM conversations WHERE id = ?");

export function* sees(scope: Scope, conversation: Owned): Op<boolean> {
	if (scope.kind === "operator") return true;
	if (conversation.profile !== scope.profile) return false;
	if (conversation.id === scope.conversation) return true;
	if (conversation.principal === null) return false;
	return (yield* samePrincipals(scope.principal)).includes(conversation.principal);
}

/** Throws "not found" in the words of what was asked for. */
export function* assertSees(scope: Scope, conversation: string | null, what: string): Op<void> {
	const row = conversation === null ? undefined : yield* get(owned, conversation);
	if (row ? yield* sees(scope, row) : scope.kind === "operator" && conversation === null) return;
	throw new KeryxError("store.not_found", `no ${what}`);
}
