// Reads other programs' input field by field: a wrong type is refused by name, null means the default. By hand, because a schema would
// change the texts and the order of refusals that older clients know; a test keeps the fields equal to the table of calls.
import { ACTION_ALPHABET, actionName, GRANT_SCOPES, grantPatternProblem } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import type { GrantScope } from "../store/index.ts";
import type { Details } from "./digest.ts";

const SHORTEST_SECONDS = 30;
const LONGEST_SECONDS = 3600;
/** For names and keys; a description or reason may be longer. */
const NAME = 200;
const TEXT = 10_000;
/** The latest representable date. */
const LAST_SECOND = 8.64e12;

export interface RequestInput {
	readonly action: string;
	readonly description: string;
	readonly details: Details;
	readonly requester: string;
	readonly sessionKey: string;
	readonly timeoutSeconds: number;
	readonly idempotencyKey?: string;
}

export function readRequest(body: unknown, defaultTimeout: number): RequestInput {
	const given = readObject(body, "the body");
	const idempotencyKey = optionalText(given, "idempotency_key", NAME);
	return {
		action: checkedAction(neededText(given, "action", NAME)),
		description: neededText(given, "description", TEXT),
		details:
			given.details === undefined || given.details === null ? {} : readObject(given.details, "details"),
		requester: optionalText(given, "requester", NAME) ?? "agent",
		sessionKey: optionalText(given, "session_key", NAME * 4) ?? "",
		timeoutSeconds: readTimeout(given.timeout_seconds, defaultTimeout),
		...(idempotencyKey !== undefined && { idempotencyKey }),
	};
}

/** Lenient for old clients: accepts numbers and numeric strings, rounded down and clamped; anything else is the default. */
export function readTimeout(value: unknown, otherwise: number): number {
	const number =
		typeof value === "number"
			? value
			: typeof value === "string" && NUMERIC.test(value)
				? Number(value)
				: NaN;
	if (!Number.isFinite(number)) return otherwise;
	return Math.min(LONGEST_SECONDS, Math.max(SHORTEST_SECONDS, Math.trunc(number)));
}

const NUMERIC = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/;

export interface DecisionInput {
	readonly label?: string;
	readonly reason?: string;
	readonly grant?: { readonly scope: GrantScope; readonly until?: number };
	readonly editedDetails?: Details;
}

export function readDecision(body: unknown, decision: "approved" | "denied"): DecisionInput {
	const given = body === undefined ? {} : readObject(body, "the body");
	const label = optionalText(given, decision === "approved" ? "approver" : "denier", TEXT);
	const reason = optionalText(given, "reason", TEXT);
	const answer = { ...(label !== undefined && { label }), ...(reason !== undefined && { reason }) };
	if (decision === "denied") return answer;
	const { grant, edited_details: edited } = given;
	return {
		...answer,
		...(grant !== undefined && grant !== null && { grant: readGrantScope(readObject(grant, "grant")) }),
		...(edited !== undefined && edited !== null && { editedDetails: readObject(edited, "edited_details") }),
	};
}

export interface GrantInput {
	readonly scope: GrantScope;
	readonly action: string;
	readonly pattern?: string;
	readonly sessionKey?: string;
	/** The requester it covers, as named in the audit. */
	readonly askedBy?: string;
	readonly until?: number;
}

export function readGrant(body: unknown): GrantInput {
	const given = readObject(body, "the body");
	const { scope, until } = readGrantScope(given);
	const pattern = optionalText(given, "pattern", TEXT);
	const sessionKey = optionalText(given, "session_key", NAME * 4);
	const askedBy = optionalText(given, "asked_by", NAME * 2);
	const problem = pattern === undefined ? null : grantPatternProblem(pattern);
	if (problem !== null) throw new KeryxError("argument.invalid", problem, { field: "pattern" });
	if (scope !== "always" && (!sessionKey || !askedBy))
		throw new KeryxError("argument.invalid", `a grant with scope ${scope} needs session_key and asked_by`, {
			field: sessionKey ? "asked_by" : "session_key",
		});
	return {
		scope,
		action: checkedAction(neededText(given, "action", NAME)),
		...(pattern !== undefined && { pattern }),
		...(sessionKey !== undefined && { sessionKey }),
		...(askedBy !== undefined && { askedBy }),
		...(until !== undefined && { until }),
	};
}

/** The name in its stored, shown and compared form. */
export function checkedAction(action: string): string {
	const name = actionName(action);
	if (name !== null) return name;
	throw new KeryxError("argument.invalid", `action may contain only ${ACTION_ALPHABET}`, {
		field: "action",
		hint: "use a name such as deploy_production",
	});
}

function readGrantScope(given: Readonly<Record<string, unknown>>): { scope: GrantScope; until?: number } {
	const { until } = given;
	const scope = GRANT_SCOPES.find((one) => one === given.scope);
	if (scope === undefined)
		throw new KeryxError("argument.invalid", "scope must be session, conversation or always", {
			field: "scope",
		});
	if (until === undefined || until === null) return { scope };
	if (typeof until !== "number" || !(Math.abs(until) <= LAST_SECOND))
		throw new KeryxError("argument.invalid", "until must be a time in epoch seconds", { field: "until" });
	return { scope, until: Math.round(until * 1000) };
}

export function readObject(value: unknown, field: string): Readonly<Record<string, unknown>> {
	if (typeof value === "object" && value !== null && !Array.isArray(value))
		return value as Readonly<Record<string, unknown>>;
	throw new KeryxError("argument.invalid", `${field} must be a JSON object`, { field });
}

export function neededText(given: Readonly<Record<string, unknown>>, field: string, longest: number): string {
	const text = optionalText(given, field, longest);
	if (text) return text;
	throw new KeryxError("argument.invalid", `${field} is required and must not be blank`, { field });
}

/** Trimmed; undefined if absent or null. */
function optionalText(
	given: Readonly<Record<string, unknown>>,
	field: string,
	longest: number,
): string | undefined {
	const value = given[field];
	if (value === undefined || value === null) return undefined;
	if (typeof value !== "string")
		throw new KeryxError("argument.invalid", `${field} must be a string`, { field });
	const text = value.trim();
	if (text.length > longest)
		throw new KeryxError("argument.invalid", `${field} may have at most ${longest} characters`, { field });
	if (!text.isWellFormed())
		throw new KeryxError("argument.invalid", `${field} contains half of a surrogate pair`, { field });
	return text;
}
