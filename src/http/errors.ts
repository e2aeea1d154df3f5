// Errors on the wire: `{error: {code, message, hint?, field?}}`, with the code's status.

import { HTTPException } from "hono/http-exception";
import { KERYX } from "../called.ts";
import { KeryxError } from "../errors.ts";
import type { Entrance } from "./entry/auth.ts";

const STATUS: Readonly<Record<string, number>> = {
	"store.not_found": 404,
	"http.no_route": 404,
	"http.unauthenticated": 401,
	"http.login": 401,
	"http.forbidden": 403,
	"http.origin": 403,
	"audit.sound": 409,
	"http.method": 405,
	"http.too_large": 413,
	"http.url_too_long": 414,
	"http.not_json": 415,
	"http.host": 421,
	"http.upgrade": 426,
	"http.rate": 429,
	"webhook.refused": 401,
	"webhook.replayed": 409,
	"model.unknown": 404,
	"model.unreachable": 422,
	"message.unanswered": 422,
	"message.unfinished": 503,
	"confirmation.refused": 403,
	"confirmation.settled": 409,
	"confirmation.limited": 429,
	"token.taken": 409,
	"config.stale": 409,
	"config.syntax": 422,
	"config.invalid": 422,
	"pairing.wrong": 404,
	"pairing.locked": 429,
	"pairing.over": 409,
	"schedule.busy": 409,
	"schedule.limit": 409,
	"schedule.role": 403,
	"gateway.stopped": 503,
	"store.owned": 503,
	"store.owner_lost": 503,
	"store.replaced": 503,
	"store.readonly": 503,
	"store.full": 507,
	"session.none": 409,
	"conversation.put_away": 409,
	"session.continued": 409,
	"session.ended": 409,
	"session.live": 409,
	"delivery.stale": 409,
	"turn.stale": 409,
	"transcript.changed": 409,
	"process.unknown": 404,
	"process.refused": 403,
	"process.ended": 409,
	"process.input_closed": 409,
	"process.input_full": 409,
	"process.host_gone": 503,
	"process.host_failed": 503,
	"process.unreachable": 503,
	"workspace.unusable": 409,
	"checkpoint.busy": 409,
	"checkpoint.consent": 409,
	"checkpoint.disabled": 409,
	"checkpoint.missing": 409,
	"checkpoint.no_git": 409,
	"checkpoint.refused": 409,
	"checkpoint.too_many_files": 409,
};

/** Code families that mean a wrong request. */
const REQUEST_FAULTS: ReadonlySet<string> = new Set([
	"source",
	"address",
	"profile",
	"override",
	"argument",
	"input",
	"import",
	"schedule",
]);

/** Clients of confirmations see only the message, so it says everything. */
const HOW = `\`${KERYX} token create <name> --role agent\` makes one on the machine where Keryx runs (for a confirmd with --db-path); send it as \`Authorization: Bearer <token>\``;

export function needsToken(entrance: Entrance["kind"]): KeryxError {
	return new KeryxError(
		"http.unauthenticated",
		entrance === "compat"
			? "this port only accepts requests and tells their status: use the port that needs a token"
			: `this needs a token: ${HOW}`,
	);
}

export function needsProof(): KeryxError {
	return new KeryxError(
		"http.unauthenticated",
		`this needs a token or the operator secret, on the socket too: \`${KERYX} token create <name> --role approver\` makes one; send it as \`Authorization: Bearer <token>\``,
	);
}

export function statusOf({ code }: KeryxError): number {
	const known = STATUS[code];
	if (known !== undefined) return known;
	return REQUEST_FAULTS.has(code.split(".")[0] ?? "") ? 400 : 500;
}

/** A path for people. Decoded, so that secrets in it are recognised, too. */
export function shownPath(path: string): string {
	try {
		return decodeURIComponent(path);
	} catch {
		return path;
	}
}

export function toKeryxError(error: unknown): KeryxError {
	if (error instanceof KeryxError) return error;
	// Hono's own: a body that is not JSON.
	if (error instanceof HTTPException && error.status === 400)
		return new KeryxError("argument.invalid", error.message, { field: "body" });
	return new KeryxError("internal", "something went wrong inside Keryx", { cause: error });
}
