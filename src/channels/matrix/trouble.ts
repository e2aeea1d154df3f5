// What is wrong with the line to a homeserver, with the remedy.
import { KeryxError } from "../../errors.ts";
import type { Trouble } from "../vitals.ts";
import { MatrixError } from "./api.ts";
import { isTokenRefused, reasonOf } from "./outcome.ts";

/** Only a person can change this. */
export class NeedsAttention extends Error {}

export function askedPause(error: unknown): number {
	return error instanceof MatrixError ? (error.retryAfterMs ?? 0) : 0;
}

export function troubleOf(error: unknown): Trouble {
	if (error instanceof KeryxError && error.code.startsWith("channel."))
		return { state: "needs_attention", detail: `${error.message}: ${error.hint}` };
	if (error instanceof NeedsAttention) return { state: "needs_attention", detail: error.message };
	if (isTokenRefused(error))
		return {
			state: "needs_attention",
			detail:
				"the homeserver does not accept the access token: log in again with `keryx channels add matrix`, or replace the token; Keryx checks again automatically",
		};
	const what =
		error instanceof KeryxError ? "an event could not be stored" : "the homeserver cannot be reached";
	return { state: "degraded", detail: `${what}: ${reasonOf(error)}` };
}
