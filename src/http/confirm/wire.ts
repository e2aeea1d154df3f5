// Confirmations, grants and the audit on the wire, in the earlier daemon's format: times in seconds since 1970, each with its ISO form.
import { KERYX } from "../../called.ts";
import { hideVariablesIn } from "../../config/index.ts";
import type { AuditEntry, ConfigEdit, Confirmation, Grant } from "../../store/index.ts";
import { isoTime } from "../../time/index.ts";
import type {
	WireAsked,
	WireAuditEntry,
	WireConfirmation,
	WireConfirmationState,
	WireGrant,
	WireResolved,
} from "./schemas.ts";

/** One time in both forms. */
type Moment<Name extends string, At extends number | null> = Readonly<Record<Name, At>> &
	Readonly<Record<`${Name}_iso`, At extends null ? string | null : string>>;

/** `full`: with who is notified; not shown to the requester. */
export function toWireConfirmation(
	confirmation: Confirmation,
	{ full }: { readonly full: boolean },
): WireConfirmation {
	return {
		...stateOf(confirmation),
		digest: confirmation.digest,
		timeout_seconds: confirmation.timeoutSeconds,
		...times("expires_at", confirmation.expiresAt),
		resolved_label: confirmation.resolvedLabel,
		reason: confirmation.reason,
		details_before: confirmation.detailsBefore && { ...confirmation.detailsBefore },
		...times("used_at", confirmation.usedAt),
		...times("use_expired_at", confirmation.useExpiredAt),
		asked_by: confirmation.askedBy,
		conversation: confirmation.conversation,
		told: wasTold(confirmation),
		...(full && { notices: confirmation.notices.map(({ to, state }) => ({ to: receiverShown(to), state })) }),
	};
}

/** A confirmation's latest state, for /audit. */
export function stateOf(confirmation: Confirmation): WireConfirmationState {
	return {
		id: confirmation.id,
		action: confirmation.action,
		description: confirmation.description,
		details: { ...confirmation.details },
		requester: confirmation.requester,
		session_key: confirmation.sessionKey,
		status: confirmation.status,
		...times("created_at", confirmation.createdAt),
		...times("resolved_at", confirmation.resolvedAt),
		// Older clients expect a string.
		resolved_by: confirmation.resolvedBy ?? "",
	};
}

/** The answer to a new request; `page` is the page's address, null if there is none. */
export function toWirePending(confirmation: Confirmation, page: string | null): WireAsked {
	const { id, action, details, digest, timeoutSeconds, expiresAt } = confirmation;
	const path = `/confirm/${id}`;
	return {
		id,
		action,
		status: "pending",
		details,
		digest,
		timeout_seconds: timeoutSeconds,
		...times("expires_at", expiresAt),
		message: pendingMessage(confirmation),
		told: wasTold(confirmation),
		approve_url: `${path}/approve`,
		deny_url: `${path}/deny`,
		review_url: page === null ? path : `${page}/confirmations?id=${id}`,
	};
}

function pendingMessage(confirmation: Confirmation): string {
	const { id } = confirmation;
	const how = `\`${KERYX} confirm approve ${id}\` or \`${KERYX} confirm deny ${id}\``;
	if (wasTold(confirmation))
		return `A person was asked and has not answered yet. They can answer with /approve ${id} or /deny ${id}, or with ${how}.`;
	const why =
		confirmation.notices.length === 0
			? "Nobody was notified: confirmations.notify lists no chat and no webhook."
			: "Nobody could be notified: nothing in confirmations.notify can be reached.";
	return `${why} A person has to answer, with ${how}.`;
}

/** Someone was notified, or still can be. */
function wasTold({ notices }: Confirmation): boolean {
	return notices.some(({ state }) => state !== "dead");
}

/** The answer to a decision. */
export function toWireResolved(confirmation: Confirmation): WireResolved {
	const { id, action, status, resolvedBy, resolvedAt, digest, reason } = confirmation;
	return {
		id,
		action,
		status,
		resolved_by: resolvedBy ?? "",
		...times("resolved_at", resolvedAt),
		digest,
		...(reason !== null && { reason }),
	};
}

export function toWireGrant(grant: Grant): WireGrant {
	return {
		id: grant.id,
		scope: grant.scope,
		action: grant.action,
		pattern: grant.pattern,
		asked_by: grant.askedBy,
		session_key: grant.sessionKey,
		session: grant.session,
		...times("until", grant.until),
		...times("created_at", grant.createdAt),
		by: grant.createdBy,
		...times("revoked_at", grant.revokedAt),
		revoked_by: grant.revokedBy,
	};
}

/** `reader`: only the operator sees names of secrets, and settings contain some (I12). */
export function toWireAudit(
	{ n, at, kind, confirmation, who, via, facts, mac }: AuditEntry,
	reader: "operator" | "others",
): WireAuditEntry {
	const shown = reader === "operator" || kind !== "config_changed" ? facts : withoutVariables(facts);
	return { n, ...times("at", at), kind, confirmation, who, via, facts: shown, mac };
}

function withoutVariables(facts: AuditEntry["facts"]): AuditEntry["facts"] {
	const { edits } = facts as { readonly edits: readonly ConfigEdit[] };
	return {
		...facts,
		edits: edits.map(({ key, before, after, ...rest }) => ({
			key,
			before: hideVariablesIn(key, before),
			after: hideVariablesIn(key, after),
			...rest,
		})),
	};
}

function times<Name extends string, At extends number | null>(name: Name, at: At): Moment<Name, At> {
	return {
		[name]: at === null ? null : at / 1000,
		[`${name}_iso`]: at === null ? null : isoTime(at),
	} as Moment<Name, At>;
}

/** Addresses of webhooks often contain a secret. */
function receiverShown(to: string): string {
	return /^https?:/.test(to) && URL.canParse(to) ? new URL(to).origin : to;
}
