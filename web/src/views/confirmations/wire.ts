// Confirmations as they stand on the wire, and how they are read and decided. Their calls are not in the server's table: they have a
// family of their own, with flat errors and times in seconds.
import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { request, useApi } from "../../api/index.ts";

export type Status =
	| "pending"
	| "approved"
	| "denied"
	| "expired"
	| "cancelled"
	| "consumed"
	| "auto_approved";
export type GrantScope = "session" | "conversation" | "always";
export type Details = Readonly<Record<string, unknown>>;

export interface Confirmation {
	readonly id: string;
	readonly action: string;
	readonly description: string;
	readonly details: Details;
	readonly requester: string;
	readonly session_key: string;
	readonly status: Status;
	readonly digest: string;
	readonly timeout_seconds: number;
	readonly created_at: number;
	readonly expires_at: number;
	readonly resolved_at: number | null;
	/** Empty while it is pending. */
	readonly resolved_by: string;
	readonly resolved_label: string | null;
	readonly reason: string | null;
	readonly details_before: Details | null;
	readonly used_at: number | null;
	/** When an approval that nobody used ran out. */
	readonly use_expired_at: number | null;
	readonly asked_by: string;
	readonly conversation: string | null;
	readonly told: boolean;
	readonly notices?: readonly { readonly to: string; readonly state: "pending" | "sent" | "dead" }[];
}

export interface Grant {
	readonly id: string;
	readonly scope: GrantScope;
	readonly action: string;
	readonly pattern: string | null;
	readonly asked_by: string | null;
	readonly session_key: string | null;
	readonly session: string | null;
	readonly until: number | null;
	readonly created_at: number;
	readonly by: string;
	readonly revoked_at: number | null;
	readonly revoked_by: string | null;
}

export interface AuditEntry {
	readonly n: number;
	readonly at: number;
	readonly kind: string;
	readonly confirmation: string | null;
	readonly who: string;
	readonly via: string;
	readonly facts: Details;
	readonly mac: string;
}

export interface Verified {
	readonly ok: boolean;
	readonly count: number;
	readonly head: string;
	readonly bad: { readonly n: number; readonly problem: string } | null;
}

const CHANGES = { on: ["confirmation"] } as const;
const PAGE = 50;
/** More than these wait for nobody: the server takes a thousand an hour. */
const MOST_WAITING = 500;

export function useWaitingQuestions() {
	return useQuery({
		queryKey: ["confirm", "waiting"],
		queryFn: async ({ signal }) => {
			const query = { status: "pending", limit: MOST_WAITING };
			const { confirmations } = await request<{ readonly confirmations: readonly Confirmation[] }>(
				"GET",
				"/confirm",
				{ query, signal },
			);
			// Who asked first stands first, so that one who comes while you read moves nothing.
			return confirmations.toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));
		},
		meta: CHANGES,
	});
}

export function useConfirmation(id: string | undefined) {
	return useQuery({
		queryKey: ["confirm", "one", id],
		queryFn: ({ signal }) =>
			request<Confirmation>("GET", `/confirm/${encodeURIComponent(id ?? "")}`, { signal }),
		meta: CHANGES,
		enabled: id !== undefined,
	});
}

export function useDecided() {
	return useInfiniteQuery({
		queryKey: ["confirm", "decided"],
		queryFn: ({ pageParam, signal }) =>
			request<{ readonly confirmations: readonly Confirmation[]; readonly next: string | null }>(
				"GET",
				"/confirm",
				{ query: { limit: PAGE, ...(pageParam !== "" && { before: pageParam }) }, signal },
			),
		initialPageParam: "",
		getNextPageParam: ({ next }) => next,
		meta: CHANGES,
	});
}

export function useGrants() {
	return useQuery({
		queryKey: ["grants"],
		queryFn: async ({ signal }) =>
			(
				await request<{ readonly grants: readonly Grant[] }>("GET", "/grants", {
					query: { limit: 500 },
					signal,
				})
			).grants,
		meta: { on: ["grant", "confirmation"] },
	});
}

/** The newest so many, newest first. Refused attempts are in the audit without an event, so it is read whenever it is opened. */
export function useAudit(count: number) {
	return useQuery({
		queryKey: ["audit", count],
		queryFn: async ({ signal }) =>
			(
				await request<{ readonly entries: readonly AuditEntry[] }>("GET", "/audit/log", {
					query: { newest: true, limit: count },
					signal,
				})
			).entries.toReversed(),
		meta: { on: ["grant", "confirmation"] },
		staleTime: 0,
		placeholderData: keepPreviousData,
	});
}

export function verifyAudit(): Promise<Verified> {
	return request("GET", "/audit/verify");
}

export function revokeGrant(id: string): Promise<{ readonly revoked: boolean }> {
	return request("DELETE", `/grants/${encodeURIComponent(id)}`);
}

export interface Decision {
	readonly id: string;
	readonly verb: "approve" | "deny";
	readonly reason: string;
	readonly scope: GrantScope | null;
}

export function decide({ id, verb, reason, scope }: Decision): Promise<{ readonly status: Status }> {
	const said = reason.trim();
	return request("POST", `/confirm/${encodeURIComponent(id)}/${verb}`, {
		body: { ...(said !== "" && { reason: said }), ...(verb === "approve" && scope && { grant: { scope } }) },
	});
}

/** How far the server's clock is ahead of this one: deadlines are the server's. */
export function useClockAhead(): number {
	const { data, dataUpdatedAt } = useApi("health", {}, CHANGES);
	return data ? data.timestamp * 1000 - dataUpdatedAt : 0;
}
