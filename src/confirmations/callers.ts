// Who may do what. Roles come from authentication alone; nothing that a caller sends with its request changes them.
import type { AuditVia, ConfirmationScope, TokenRole } from "../store/index.ts";

/** Somebody who was authenticated. */
export interface Caller {
	/** As the audit names it: `operator`, `token:<name>`, `<platform>:<id>` of a chat. */
	readonly who: string;
	readonly role: TokenRole;
	readonly via: AuditVia;
	/** The one conversation that it may name; null: any. */
	readonly sessionKey: string | null;
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

const MAY: Readonly<Record<Attempt, readonly TokenRole[]>> = {
	request: ["agent", "operator"],
	read: ["agent", "approver", "reader", "operator"],
	resolve: ["approver", "operator"],
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

/** An agent sees what it asked for; everybody else who may read sees all. */
export function readingScope({ role, who }: Caller): ConfirmationScope {
	return role === "agent" ? { kind: "asker", askedBy: who } : { kind: "operator" };
}
