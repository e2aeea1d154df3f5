// The calls about confirmations as the commands make them. What is refused there is the error that the command reports.
import { KeryxError } from "../../../errors.ts";
import type { Client } from "../../../http/index.ts";

export interface WireConfirmation {
	readonly id: string;
	readonly action: string;
	readonly description: string;
	readonly details: Readonly<Record<string, unknown>>;
	/** The arguments that were asked about, where the approver changed them. */
	readonly details_before: Readonly<Record<string, unknown>> | null;
	/** What the asker calls itself. */
	readonly requester: string;
	/** Who was authenticated. */
	readonly asked_by: string;
	readonly session_key: string;
	readonly status: string;
	readonly digest: string;
	/** Times are epoch seconds. */
	readonly created_at: number;
	readonly expires_at: number;
	readonly resolved_at: number | null;
	/** Empty while it is pending. */
	readonly resolved_by: string;
	readonly resolved_label: string | null;
	readonly reason: string | null;
	readonly used_at: number | null;
	/** When an approval that nobody used ran out. */
	readonly use_expired_at: number | null;
	readonly notices: readonly { readonly to: string; readonly state: string }[];
}

export interface WireGrant {
	readonly id: string;
	readonly scope: string;
	readonly action: string;
	readonly pattern: string | null;
	readonly asked_by: string | null;
	readonly session_key: string | null;
	readonly until: number | null;
	readonly created_at: number;
	readonly by: string;
	readonly revoked_at: number | null;
}

export interface WireEntry {
	readonly n: number;
	readonly at: number;
	readonly kind: string;
	readonly confirmation: string | null;
	readonly who: string;
	readonly via: string;
	readonly facts: Readonly<Record<string, unknown>>;
}

/** The most that one page holds. */
export const PAGE = 200;

export async function ask<Answer>(
	client: Client,
	method: "GET" | "POST" | "DELETE",
	path: string,
	body?: Readonly<Record<string, unknown>>,
): Promise<Answer> {
	const answer = await client.confirm(method, path, body);
	if (answer.status < 400) return answer.body as Answer;
	throw refusal(answer.status, answer.body);
}

export function pageOf(
	client: Client,
	query: Readonly<Record<string, string>>,
): Promise<{ readonly confirmations: readonly WireConfirmation[]; readonly next: string | null }> {
	return ask(client, "GET", `/confirm?${new URLSearchParams(query)}`);
}

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
	const message = typeof error === "string" ? error : `Keryx answered ${status} without saying why`;
	const code = CODES[status as keyof typeof CODES] ?? (status >= 500 ? "store.failed" : "internal");
	return new KeryxError(code, message);
}
