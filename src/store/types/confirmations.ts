// Questions to a human, and standing answers.
import type { ConfirmationStatus, ConversationId, GrantScope } from "../../domain/index.ts";

export type { ConfirmationStatus, GrantScope };

/** A question to a human about one exact action (I14). */
export interface Confirmation {
	readonly id: string;
	readonly action: string;
	readonly description: string;
	readonly details: Readonly<Record<string, unknown>>;
	/** The asker's own name for itself; its identity is `askedBy`. */
	readonly requester: string;
	readonly sessionKey: string;
	readonly status: ConfirmationStatus;
	/** Over action, details, requester and session key. */
	readonly digest: string;
	/** The authenticated asker: `token:<name>`, or `agent:<profile>` for Keryx's own. */
	readonly askedBy: string;
	/** program: asks for the outcome itself. turn: the outcome starts a turn. live: a running turn waits for it. */
	readonly waiter: "program" | "turn" | "live";
	readonly conversation: ConversationId | null;
	/** The turn that asked, and its call. */
	readonly turn: string | null;
	readonly call: string | null;
	readonly tool: string | null;
	readonly timeoutSeconds: number;
	readonly createdAt: number;
	readonly expiresAt: number;
	readonly resolvedAt: number | null;
	/** The authenticated resolver, `grant:<id>`, `system:timeout`, or why it was cancelled: `system:stop`, `new`, `undo`, `retry`, `deleted`, `turn_ended`. */
	readonly resolvedBy: string | null;
	/** The resolver's own name for itself, unchecked. */
	readonly resolvedLabel: string | null;
	readonly reason: string | null;
	/** The original arguments, if the approver changed them. */
	readonly detailsBefore: Readonly<Record<string, unknown>> | null;
	readonly usedAt: number | null;
	/** When an unused approval expired; who gave it, and when, is kept. */
	readonly useExpiredAt: number | null;
	/** Who was notified, and the result. */
	readonly notices: readonly { readonly to: string; readonly state: "pending" | "sent" | "dead" }[];
}

/** A human's standing approval. */
export interface Grant {
	readonly id: string;
	readonly scope: GrantScope;
	readonly action: string;
	readonly pattern: string | null;
	/** Whose requests it covers; null: everyone's. */
	readonly askedBy: string | null;
	/** The one person whose turns it covers; null: everyone's except guests'. */
	readonly principal: string | null;
	readonly sessionKey: string | null;
	readonly session: string | null;
	readonly until: number | null;
	readonly createdAt: number;
	readonly createdBy: string;
	readonly revokedAt: number | null;
	readonly revokedBy: string | null;
}
