// What a confirmation is bound to (I14): stored, shown, hashed and run are the same bytes.
import { hash } from "node:crypto";
import { canonicalJson } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";

export type Details = Readonly<Record<string, unknown>>;

/** The details in canonical form. */
export function canonicalDetails(details: Details, field = "details"): string {
	const canonical = canonicalJson(details);
	if (canonical.kind === "json") return canonical.text;
	throw new KeryxError("argument.invalid", `${field} ${canonical.problem}`, { field });
}

export interface Bound {
	readonly action: string;
	readonly details: Details;
	readonly requester: string;
	readonly sessionKey: string;
}

/** SHA-256 over the canonical JSON of {action, details, requester, session_key}, in hex. */
export function confirmationDigest({ action, details, requester, sessionKey }: Bound): string {
	const bound = canonicalDetails({ action, details, requester, session_key: sessionKey }, "the request");
	return hash("sha256", bound, "hex");
}
