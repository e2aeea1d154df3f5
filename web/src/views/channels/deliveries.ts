import { useInfiniteQuery } from "@tanstack/react-query";
import { api } from "../../api/index.ts";

const PAGE = 50;

/** Deliveries are undefined until read. `more` reads the next page, if there is one. */
export function useDeliveries(which: "waiting" | "unsettled") {
	const { data, error, hasNextPage, fetchNextPage } = useInfiniteQuery({
		queryKey: ["deliveries", which],
		queryFn: ({ pageParam, signal }) =>
			api.deliveries({ which, limit: PAGE, ...(pageParam !== null && { after: pageParam }) }, signal),
		initialPageParam: null as number | null,
		getNextPageParam: ({ deliveries }) => (deliveries.length < PAGE ? null : (deliveries.at(-1)?.n ?? null)),
		meta: { on: ["delivery"] },
	});
	return {
		deliveries: data?.pages.flatMap((page) => page.deliveries),
		error,
		more: hasNextPage ? () => void fetchNextPage() : null,
	};
}
