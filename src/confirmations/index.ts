// keryx/confirmations: a human approves exactly one action (I14): requests, decisions, grants, the audit, notifications.
// Usable without the gateway, on a store that was opened with its audit key.
// Never here: running what was approved.

export { type Attempt, type Caller, may } from "./callers.ts";
export { createConfirmations } from "./confirmations.ts";
export { confirmationDigest, type Details } from "./digest.ts";
export { type Question, questionOf, questionText } from "./notices.ts";
export {
	type DecisionInput,
	type GrantInput,
	neededText,
	type RequestInput,
	readDecision,
	readGrant,
	readObject,
	readRequest,
} from "./read.ts";
export { confirmationSettings } from "./settings.ts";
export type {
	AskedOutcome,
	CallQuestion,
	ConfirmationSettings,
	Confirmations,
	ConfirmationsOptions,
} from "./types.ts";
export { type Webhook, weakSecret } from "./webhook.ts";
