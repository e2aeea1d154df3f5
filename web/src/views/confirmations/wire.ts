// Confirmations on the wire, and how they are read and decided. Their calls have their own family, with flat errors and times in seconds.
import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type {
	ConfirmAnswer,
	WireAuditEntry,
	WireConfirmation,
	WireGrant,
	WireGrantScope,
} from "../../../../src/http/confirm/schemas.ts";
import { request, useApi } from "../../api/index.ts";

export type Confirmation = WireConfirmation;
export type Grant = WireGrant;
export type GrantScope = WireGrantScope;
export type AuditEntry = WireAuditEntry;
export type Verified = ConfirmAnswer<"auditVerify">;
export type Status = Confirmation["status"];
export type Details = Confirmation["details"];

const CHANGES = { on: ["confirmation"] } as const;
const PAGE = 50;
/** More than these wait for nobody: the server takes a thousand an hour. */
const MOST_WAITING = 500;

export function useWaitingQuestions() {
	return useQuery({
		queryKey: ["confirm", "waiting"],
		queryFn: async ({ signal }) => {
			const query = { status: "pending", limit: MOST_WAITING };
			const { confirmations } = await request<ConfirmAnswer<"confirmList">>("GET", "/confirm", {
				query,
				signal,
			});
			// Oldest first, so that a new one moves nothing while you read.
			return confirmations.toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));
		},
		meta: CHANGES,
	});
}

export function useConfirmation(id: string | undefined) {
	return useQuery({
		queryKey: ["confirm", "one", id],
		queryFn: ({ signal }) =>
			request<ConfirmAnswer<"confirmRead">>("GET", `/confirm/${encodeURIComponent(id ?? "")}`, { signal }),
		meta: CHANGES,
		enabled: id !== undefined,
	});
}

export function useDecided() {
	return useInfiniteQuery({
		queryKey: ["confirm", "decided"],
		queryFn: ({ pageParam, signal }) =>
			request<ConfirmAnswer<"confirmList">>("GET", "/confirm", {
				query: { limit: PAGE, ...(pageParam !== "" && { before: pageParam }) },
				signal,
			}),
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
				await request<ConfirmAnswer<"grantList">>("GET", "/grants", {
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
				await request<ConfirmAnswer<"auditLog">>("GET", "/audit/log", {
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

export function revokeGrant(id: string): Promise<ConfirmAnswer<"grantRevoke">> {
	return request("DELETE", `/grants/${encodeURIComponent(id)}`);
}

export interface Decision {
	readonly id: string;
	readonly verb: "approve" | "deny";
	readonly reason: string;
	readonly scope: GrantScope | null;
}

export function decide({ id, verb, reason, scope }: Decision): Promise<ConfirmAnswer<"confirmApprove">> {
	const said = reason.trim();
	return request("POST", `/confirm/${encodeURIComponent(id)}/${verb}`, {
		body: { ...(said !== "" && { reason: said }), ...(verb === "approve" && scope && { grant: { scope } }) },
	});
}

/** How far the server's clock is ahead: deadlines are the server's. */
export function useClockAhead(): number {
	const { data, dataUpdatedAt } = useApi("health", {}, CHANGES);
	return data ? data.timestamp * 1000 - dataUpdatedAt : 0;
}
