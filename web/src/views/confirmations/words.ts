// What states, scopes and entries are called.
import type { Tone } from "../../ui/index.ts";
import type { Confirmation, GrantScope, Status } from "./wire.ts";

export const STATUSES: Readonly<Record<Status, { readonly name: string; readonly tone: Tone }>> = {
	pending: { name: "Waiting", tone: "accent" },
	approved: { name: "Approved", tone: "ok" },
	consumed: { name: "Approved, used", tone: "ok" },
	auto_approved: { name: "Approved by a grant", tone: "ok" },
	denied: { name: "Denied", tone: "danger" },
	expired: { name: "Expired", tone: "warn" },
	cancelled: { name: "Cancelled", tone: "neutral" },
};

export const SCOPES: Readonly<Record<GrantScope, string>> = {
	session: "for this session",
	conversation: "in this conversation",
	always: "always",
};

/** What became of it, in a sentence. */
export function outcome({ status, resolved_by, use_expired_at, requester }: Confirmation): string {
	const who = resolved_by === "" ? "" : ` by ${whoOf(resolved_by)}`;
	switch (status) {
		case "pending":
			return "It waits for an answer.";
		case "approved":
			return `It was approved${who}.`;
		case "consumed":
			return `It was approved${who}, and has been used.`;
		case "auto_approved":
			return "A grant covers it, so nobody was asked.";
		case "denied":
			return `It was denied${who}.`;
		case "expired":
			return use_expired_at === null
				? "Nobody answered in time, so nothing was done."
				: `It was approved${who}, but not used in time.`;
		case "cancelled":
			return `${requester} took the question back.`;
	}
}

/** Who was authenticated, as people say it. */
export function whoOf(who: string): string {
	if (who === "operator") return "the operator";
	if (who.startsWith("token:page-")) return "somebody on the page";
	if (who.startsWith("token:")) return `token ${who.slice("token:".length)}`;
	if (who === "system:timeout") return "the clock";
	if (who === "agent:default") return "the agent";
	if (who.startsWith("agent:")) return `the agent of ${who.slice("agent:".length)}`;
	return who;
}

const ENTRIES: Readonly<Record<string, { readonly name: string; readonly tone: Tone }>> = {
	requested: { name: "Asked", tone: "accent" },
	auto_approved: { name: "Approved by a grant", tone: "ok" },
	approved: { name: "Approved", tone: "ok" },
	denied: { name: "Denied", tone: "danger" },
	expired: { name: "Expired", tone: "warn" },
	cancelled: { name: "Cancelled", tone: "neutral" },
	consumed: { name: "Used", tone: "ok" },
	granted: { name: "Granted", tone: "ok" },
	grant_revoked: { name: "Grant revoked", tone: "neutral" },
	refused: { name: "Refused attempt", tone: "danger" },
	token_created: { name: "Token made", tone: "neutral" },
	token_revoked: { name: "Token revoked", tone: "neutral" },
	paired: { name: "Person let in", tone: "ok" },
	unpaired: { name: "Person refused", tone: "neutral" },
	audit_accepted: { name: "Audit accepted", tone: "warn" },
	walls_off: { name: "Walls off", tone: "warn" },
	config_changed: { name: "Settings changed", tone: "neutral" },
	config_not_written: { name: "Settings not written", tone: "warn" },
};

export function entryWords(kind: string): { readonly name: string; readonly tone: Tone } {
	return ENTRIES[kind] ?? { name: kind.replaceAll("_", " "), tone: "neutral" };
}
