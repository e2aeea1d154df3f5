// Confirmations, grants and the audit as typed calls. Refusals are thrown as KeryxErrors.
import { KeryxError } from "../../errors.ts";
import {
	type ConfirmAnswer,
	type ConfirmBody,
	type ConfirmCallName,
	type ConfirmQuery,
	confirmCalls,
	type WireConfirmation,
} from "../confirm/schemas.ts";
import { queryOf } from "./query.ts";
import type { CallingClient } from "./types.ts";

export interface ConfirmCallInput<Name extends ConfirmCallName> {
	/** Replaces {id} in the path. */
	readonly id?: string;
	readonly query?: ConfirmQuery<Name>;
	readonly body?: ConfirmBody<Name> | Readonly<Record<never, never>>;
	readonly signal?: AbortSignal | undefined;
}

/** For a program that asks for an action, and for a person's program that decides. */
export interface ConfirmationCalls {
	/**
	 * Asks a person: `pending`. Anything else needs no question: `auto_approved` by a grant, or, with the same `idempotency_key`, decided
	 * before.
	 */
	request(body: ConfirmBody<"confirmRequest">): Promise<ConfirmAnswer<"confirmRequest">>;
	get(id: string): Promise<WireConfirmation>;
	/** Waits until someone has decided, or it has expired. */
	decided(id: string, signal?: AbortSignal): Promise<WireConfirmation>;
	/** Uses an approval, once, for exactly the arguments with this digest. Call it right before you act. */
	consume(id: string, digest: string): Promise<WireConfirmation>;
	cancel(id: string): Promise<ConfirmAnswer<"confirmCancel">>;
	approve(id: string, body?: ConfirmBody<"confirmApprove">): Promise<ConfirmAnswer<"confirmApprove">>;
	deny(id: string, body?: ConfirmBody<"confirmDeny">): Promise<ConfirmAnswer<"confirmDeny">>;
	/** Newest first. */
	list(query?: ConfirmQuery<"confirmList">): Promise<ConfirmAnswer<"confirmList">>;
}

/** Seconds per request; then it asks again. */
const WAIT = 30;

export function confirmationCalls(client: Pick<CallingClient, "confirm">): ConfirmationCalls {
	return {
		request: (body) => callConfirm(client, "confirmRequest", { body }),
		get: (id) => callConfirm(client, "confirmRead", { id }),
		decided: async (id, signal) => {
			for (;;) {
				signal?.throwIfAborted();
				const query = { wait: WAIT };
				const found = await callConfirm(client, "confirmRead", { id, query, signal });
				if (found.status !== "pending") return found;
			}
		},
		consume: (id, digest) => callConfirm(client, "confirmConsume", { id, body: { digest } }),
		cancel: (id) => callConfirm(client, "confirmCancel", { id, body: {} }),
		approve: (id, body = {}) => callConfirm(client, "confirmApprove", { id, body }),
		deny: (id, body = {}) => callConfirm(client, "confirmDeny", { id, body }),
		list: (query = {}) => callConfirm(client, "confirmList", { query }),
	};
}

export async function callConfirm<Name extends ConfirmCallName>(
	client: Pick<CallingClient, "confirm">,
	name: Name,
	{ id = "", query, body, signal }: ConfirmCallInput<Name> = {},
): Promise<ConfirmAnswer<Name>> {
	const { method, path } = confirmCalls[name];
	const asked = path.replace("{id}", encodeURIComponent(id)) + queryOf(query ?? {});
	const answer = await client.confirm(METHODS[method], asked, body, signal);
	if (answer.status < 400) return answer.body as ConfirmAnswer<Name>;
	throw refusal(answer.status, answer.body);
}
const METHODS = { get: "GET", post: "POST", delete: "DELETE" } as const;

const CODES = {
	400: "argument.invalid",
	401: "http.unauthenticated",
	403: "confirmation.refused",
	404: "store.not_found",
	405: "http.method",
	409: "confirmation.settled",
	413: "http.too_large",
	415: "http.not_json",
	429: "confirmation.limited",
} as const;

function refusal(status: number, { error }: Readonly<Record<string, unknown>>): KeryxError {
	const message = typeof error === "string" ? error : `Keryx returned ${status} without a reason`;
	const code = CODES[status as keyof typeof CODES] ?? (status >= 500 ? "store.failed" : "internal");
	return new KeryxError(code, message);
}
