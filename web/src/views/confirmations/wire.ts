// Reads and decides confirmations. Their calls are a separate family, with flat errors and times in seconds.
import { keepPreviousData, queryOptions, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type {
	ConfirmAnswer,
	WireAuditEntry,
	WireConfirmation,
	WireGrant,
	WireGrantScope,
} from "../../../../src/http/confirm/schemas.ts";
import { api, useApi } from "../../api/index.ts";

export type Confirmation = WireConfirmation;
export type Grant = WireGrant;
export type GrantScope = WireGrantScope;
export type AuditEntry = WireAuditEntry;
export type Verified = ConfirmAnswer<"auditVerify">;
export type Status = Confirmation["status"];
export type Details = Confirmation["details"];

const CHANGES = { on: ["confirmation"] } as const;
const PAGE = 50;
/** In practice fewer wait: the server accepts a thousand an hour. */
const MOST_WAITING = 500;

export function useWaitingQuestions() {
	return useQuery({
		queryKey: ["confirm", "waiting"],
		queryFn: async ({ signal }) => {
			const { confirmations } = await api.confirmList({ status: "pending", limit: MOST_WAITING }, signal);
			// Oldest first, so that a new question moves nothing while you read.
			return confirmations.toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));
		},
		meta: CHANGES,
	});
}

export function useConfirmation(id: string | undefined) {
	return useQuery({ ...confirmationQuery(id ?? ""), enabled: id !== undefined });
}

export function confirmationQuery(id: string) {
	return queryOptions({
		queryKey: ["confirm", "one", id],
		queryFn: ({ signal }) => api.confirmRead({ id }, signal),
		meta: CHANGES,
	});
}

export function useDecided() {
	return useInfiniteQuery({
		queryKey: ["confirm", "decided"],
		queryFn: ({ pageParam, signal }) =>
			api.confirmList({ limit: PAGE, ...(pageParam !== "" && { before: pageParam }) }, signal),
		initialPageParam: "",
		getNextPageParam: ({ next }) => next,
		meta: CHANGES,
	});
}

export function useGrants() {
	return useQuery({
		queryKey: ["grants"],
		queryFn: async ({ signal }) => (await api.grantList({ limit: 500 }, signal)).grants,
		meta: { on: ["grant", "confirmation"] },
	});
}

/** The newest `count` entries, newest first. Refused attempts enter the audit without an event, so it is read on each opening. */
export function useAudit(count: number) {
	return useQuery({
		queryKey: ["audit", count],
		queryFn: async ({ signal }) =>
			(await api.auditLog({ newest: true, limit: count }, signal)).entries.toReversed(),
		meta: { on: ["grant", "confirmation"] },
		staleTime: 0,
		placeholderData: keepPreviousData,
	});
}

export function verifyAudit(): Promise<Verified> {
	return api.auditVerify();
}

export function revokeGrant(id: string): Promise<ConfirmAnswer<"grantRevoke">> {
	return api.grantRevoke({ id });
}

export interface Decision {
	readonly id: string;
	readonly verb: "approve" | "deny";
	readonly reason: string;
	readonly scope: GrantScope | null;
}

export function decide({
	id,
	verb,
	reason,
	scope,
}: Decision): Promise<ConfirmAnswer<"confirmApprove" | "confirmDeny">> {
	const said = reason.trim();
	const input = { id, ...(said !== "" && { reason: said }) };
	if (verb === "deny") return api.confirmDeny(input);
	return api.confirmApprove({ ...input, ...(scope && { grant: { scope } }) });
}

/** How far the server's clock is ahead of this browser's. Deadlines use the server's clock. */
export function useClockAhead(): number {
	const { data, dataUpdatedAt } = useApi("health", {}, CHANGES);
	return data ? data.timestamp * 1000 - dataUpdatedAt : 0;
}
