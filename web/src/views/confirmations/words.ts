// Names of states, scopes and audit entries.
import { useApi } from "../../api/index.ts";
import { texts } from "../../texts/confirmations.ts";
import type { Tone } from "../../ui/index.ts";
import type { Confirmation, GrantScope, Status } from "./wire.ts";

export const STATUSES: Readonly<Record<Status, { readonly name: string; readonly tone: Tone }>> = {
	pending: { name: texts.words.waiting, tone: "accent" },
	approved: { name: texts.words.approved, tone: "ok" },
	consumed: { name: texts.words.approvedUsed, tone: "ok" },
	auto_approved: { name: texts.words.approvedByAGrant, tone: "ok" },
	denied: { name: texts.words.denied, tone: "danger" },
	expired: { name: texts.words.expired, tone: "warn" },
	cancelled: { name: texts.words.cancelled, tone: "neutral" },
};

export const SCOPES: Readonly<Record<GrantScope, string>> = {
	session: texts.words.forThisSession,
	conversation: texts.words.inThisConversation,
	always: "always",
};

/** Why Keryx cancelled a question. All others were withdrawn by the requester. */
const CANCELLED_BY: Readonly<Record<string, string>> = {
	"system:stop": texts.words.theAnswerWasStopped,
	"system:undo": texts.words.theMessageWasUndone,
	"system:retry": texts.words.theAnswerWasRetried,
	"system:new": texts.words.aNewSessionWasStarted,
	"system:deleted": texts.words.theConversationWasDeleted,
	"system:turn_ended": texts.words.theProgramThatAsked,
};

/** The outcome in a sentence. */
export function outcome(
	{ status, resolved_by, use_expired_at, requester }: Confirmation,
	nameOf: (who: string) => string,
): string {
	const who = resolved_by === "" ? "" : texts.words.by(nameOf(resolved_by));
	switch (status) {
		case "pending":
			return texts.words.itIsWaitingForAn;
		case "approved":
			return texts.words.itWasApproved(who);
		case "consumed":
			return texts.words.itWasApprovedAndHas(who);
		case "auto_approved":
			return texts.words.aGrantCoversItSo;
		case "denied":
			return texts.words.itWasDenied(who);
		case "expired":
			return use_expired_at === null
				? texts.words.nobodyAnsweredInTimeSo
				: texts.words.itWasApprovedButNot(who);
		case "cancelled":
			return CANCELLED_BY[resolved_by] ?? texts.words.withdrewTheRequest(requester);
	}
}

/** The name to show for an authenticated identity. */
export function useWho(): (who: string) => string {
	const own = useApi("me", {}).data?.who;
	return (who) => (who === own ? texts.words.you : whoOf(who));
}

function whoOf(who: string): string {
	// A browser without a person's login belongs to the operator.
	if (who === "operator" || who.startsWith("token:page-")) return texts.words.theOperator;
	if (who.startsWith("person:")) return after(who, "person:");
	if (who.startsWith("token:")) return texts.words.token(after(who, "token:"));
	if (who === "system:timeout") return texts.words.theTimeLimit;
	if (who === "agent:default") return texts.words.theAgent;
	if (who.startsWith("agent:")) return texts.words.theAgentOf(after(who, "agent:"));
	return who;
}

const ENTRIES: Readonly<Record<string, { readonly name: string; readonly tone: Tone }>> = {
	requested: { name: texts.words.asked, tone: "accent" },
	auto_approved: { name: texts.words.approvedByAGrant, tone: "ok" },
	approved: { name: texts.words.approved, tone: "ok" },
	denied: { name: texts.words.denied, tone: "danger" },
	expired: { name: texts.words.expired, tone: "warn" },
	cancelled: { name: texts.words.cancelled, tone: "neutral" },
	consumed: { name: texts.words.used, tone: "ok" },
	granted: { name: texts.words.granted, tone: "ok" },
	grant_revoked: { name: texts.words.grantRevoked, tone: "neutral" },
	refused: { name: texts.words.refusedAttempt, tone: "danger" },
	token_created: { name: texts.words.tokenCreated, tone: "neutral" },
	token_revoked: { name: texts.words.tokenRevoked, tone: "neutral" },
	login_offered: { name: texts.words.loginOffered, tone: "neutral" },
	login_made: { name: texts.words.loginMade, tone: "neutral" },
	login_revoked: { name: texts.words.loginRevoked, tone: "neutral" },
	paired: { name: texts.words.personLetIn, tone: "ok" },
	unpaired: { name: texts.words.personRefused, tone: "neutral" },
	audit_accepted: { name: texts.words.auditAccepted, tone: "warn" },
	walls_off: { name: texts.words.wallsOff, tone: "warn" },
	config_changed: { name: texts.words.settingsChanged, tone: "neutral" },
	config_not_written: { name: texts.words.settingsNotWritten, tone: "warn" },
};

export function entryWords(kind: string): { readonly name: string; readonly tone: Tone } {
	return ENTRIES[kind] ?? { name: kind.replaceAll("_", " "), tone: "neutral" };
}

function after(who: string, prefix: string): string {
	return who.slice(prefix.length);
}
