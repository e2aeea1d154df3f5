import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { api } from "../../api/index.ts";

/** The search parameters in the address. */
export interface Asked {
	readonly q?: string;
	readonly platform?: string;
	readonly role?: string;
	/** Days in the reader's time zone, both inclusive. */
	readonly from?: string;
	readonly to?: string;
	readonly conversation?: string;
}

const ROLES = ["user", "assistant", "tool", "title"] as const;
const PAGE = 20;
/** A repeated search reads again, because there may be more hits. Results on the screen do not change, or the lines would move. */
const FRESH_MS = 5000;

export function useSearchPages(asked: Asked) {
	const { q = "", platform, conversation } = asked;
	const role = ROLES.find((one) => one === asked.role);
	const from = startOfDay(asked.from, 0);
	const to = startOfDay(asked.to, 1);
	const input = {
		q,
		limit: PAGE,
		...(platform !== undefined && { platform }),
		...(conversation !== undefined && { conversation }),
		...(role !== undefined && { role }),
		...(from !== undefined && { from }),
		...(to !== undefined && { to }),
	};
	return useInfiniteQuery({
		queryKey: ["search", input],
		queryFn: ({ pageParam, signal }) =>
			api.search({ ...input, ...(pageParam !== null && { cursor: pageParam }) }, signal),
		initialPageParam: null as string | null,
		getNextPageParam: ({ next }) => next,
		placeholderData: keepPreviousData,
		staleTime: FRESH_MS,
	});
}

/** Undefined if the text is not a day. */
function startOfDay(day: string | undefined, later: number): string | undefined {
	const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day ?? "") ?? [];
	if (year === undefined) return undefined;
	const start = new Date(Number(year), Number(month) - 1, Number(date) + later);
	return Number.isNaN(start.getTime()) ? undefined : start.toISOString();
}
