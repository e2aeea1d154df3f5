// The calls about confirmations as the commands make them. What is refused there is the error that the command reports.

import { KeryxError } from "../../../errors.ts";
import { confirmCalls } from "../../../http/client/index.ts";
import type { Client, ConfirmAnswer, ConfirmBody, ConfirmCallName } from "../../../http/index.ts";
import { texts } from "../../texts.ts";

/** The most that one page holds. */
export const PAGE = 200;

interface Asked<Name extends ConfirmCallName> {
	/** What stands for {id} in the path. */
	readonly id?: string;
	readonly query?: Readonly<Record<string, string>>;
	readonly body?: ConfirmBody<Name> | Readonly<Record<never, never>>;
}

export async function ask<Name extends ConfirmCallName>(
	client: Client,
	name: Name,
	{ id = "", query, body }: Asked<Name> = {},
): Promise<ConfirmAnswer<Name>> {
	const { method, path } = confirmCalls[name];
	const asked =
		path.replace("{id}", encodeURIComponent(id)) + (query ? `?${new URLSearchParams(query)}` : "");
	const answer = await client.confirm(METHODS[method], asked, body);
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

function refusal(status: number, body: unknown): KeryxError {
	const { error } = (body ?? {}) as { error?: unknown };
	const message = typeof error === "string" ? error : texts.confirm.noReason(status);
	const code = CODES[status as keyof typeof CODES] ?? (status >= 500 ? "store.failed" : "internal");
	return new KeryxError(code, message);
}
