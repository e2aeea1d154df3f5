// Reading through TanStack Query. Data stays valid until an event says otherwise, so a query names the kinds of events that change it:
// `useApi("tokens", {}, { on: ["token"] })` is read again after token.created and token.revoked.
import { keepPreviousData, QueryClient, type UseQueryResult, useQuery } from "@tanstack/react-query";
import type { Answer, CallInput, EndpointName } from "../../../src/http/endpoints.ts";
import { call } from "./api.ts";
import { ApiError, UNREACHABLE } from "./error.ts";
import type { EventKind } from "./types.ts";

declare module "@tanstack/react-query" {
	interface Register {
		defaultError: ApiError;
		queryMeta: { readonly on?: readonly EventKind[]; readonly of?: string | undefined };
	}
}

export const queryClient = new QueryClient({
	defaultOptions: {
		queries: {
			// Events report changes; nothing expires with time.
			staleTime: Number.POSITIVE_INFINITY,
			gcTime: 600_000,
			// Keryx runs on this machine or nearby, so the browser's internet state does not matter.
			networkMode: "always",
			refetchOnWindowFocus: false,
			retry: (failures, error) => failures < 3 && isPassing(error),
			retryDelay: (attempt) => Math.min(2000, 200 * 2 ** attempt),
		},
		mutations: { networkMode: "always" },
	},
});

export interface ApiQueryOptions {
	/** The query is read again after events of these kinds. A kind is the first word of a type: `process` for process.started. */
	readonly on?: readonly EventKind[];
	/** Only after events of this conversation. */
	readonly of?: string;
	readonly enabled?: boolean;
	/** Shows the previous arguments' data until the new answer arrives. */
	readonly keep?: boolean;
}

export function useApi<Name extends EndpointName>(
	name: Name,
	input: CallInput<Name>,
	{ on = [], of, enabled = true, keep = false }: ApiQueryOptions = {},
): UseQueryResult<Answer<Name>> {
	return useQuery<Answer<Name>>({
		queryKey: apiKey(name, input),
		queryFn: ({ signal }) => call(name, input as Record<string, unknown>, signal) as Promise<Answer<Name>>,
		meta: { on, of },
		enabled,
		...(keep && { placeholderData: keepPreviousData }),
	});
}

export function apiKey<Name extends EndpointName>(name: Name, input: CallInput<Name>) {
	return [name, input] as const;
}

function isPassing(error: unknown): boolean {
	if (!(error instanceof ApiError)) return false;
	return error.code === UNREACHABLE || error.status === 503 || error.status === 429;
}
