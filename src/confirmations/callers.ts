// Who may do what. Roles come only from authentication; nothing in a request can change them.
import type { Speaker } from "../domain/index.ts";
import type { AuditVia, ConfirmationScope, TokenRole } from "../store/index.ts";

/** A token's role, or that of a person logged in to the page; an owner is an operator. */
type CallerRole = TokenRole | "member" | "guest";

/** An authenticated caller. */
export interface Caller {
	/** As named in the audit: `operator`, `token:<name>`, `person:<name>` for a login, `<platform>:<id>` for a chat. */
	readonly who: string;
	readonly role: CallerRole;
	readonly via: AuditVia;
	/** The only conversation it may name; null: any. */
	readonly sessionKey: string | null;
	/** For a member or guest: they see requests in their own conversations. */
	readonly principal?: string | null;
	/** A person or approver who is not the owner, as the speaker of what they write (I18). */
	readonly speaker?: Speaker;
}

export type Attempt =
	| "request"
	| "read"
	| "resolve"
	| "cancel"
	| "consume"
	| "grant"
	| "audit"
	| "accept_audit"
	| "tokens";

const MAY: Readonly<Record<Attempt, readonly CallerRole[]>> = {
	request: ["agent", "operator"],
	read: ["agent", "approver", "reader", "operator", "member", "guest"],
	resolve: ["approver", "operator", "member"],
	cancel: ["agent", "operator"],
	consume: ["agent", "operator"],
	grant: ["approver", "operator"],
	audit: ["approver", "reader", "operator"],
	accept_audit: ["operator"],
	tokens: ["operator"],
};

export function may({ role }: Pick<Caller, "role">, attempt: Attempt): boolean {
	return MAY[attempt].includes(role);
}

/** An agent sees its own requests, a person those in their conversations; all other readers see everything. */
export function readingScope({ role, who, principal }: Caller): ConfirmationScope {
	if (role === "member" || role === "guest")
		return { kind: "principal", principal: principal ?? "", profile: null };
	return role === "agent" ? { kind: "asker", askedBy: who } : { kind: "operator" };
}
