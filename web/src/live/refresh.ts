// Events invalidate queries: each query lists the kinds of its events in `meta.on`. A query that is being read when an event arrives is
// read again afterwards, because its answer may be older.
import type { InfiniteData, Query, QueryClient } from "@tanstack/react-query";
import type { EventKind, EventType } from "../api/types.ts";
import { onFrames } from "./stream.ts";

/** Minimum time between two reads of one query. */
const LEAST_MS = 150;

export function refreshByEvents(client: QueryClient): () => void {
	const waiting = new Set<string>();
	const refresh = (query: Query): void => {
		if (waiting.has(query.queryHash)) return;
		const since = Date.now() - query.state.dataUpdatedAt;
		if (query.state.fetchStatus === "idle" && since >= LEAST_MS) {
			void client.invalidateQueries({ queryKey: query.queryKey, exact: true });
			return;
		}
		waiting.add(query.queryHash);
		setTimeout(() => {
			waiting.delete(query.queryHash);
			refresh(query);
		}, LEAST_MS);
	};
	return onFrames((frames) => {
		if (frames.some(({ kind }) => kind === "resync")) return readAllAnew(client);
		const events = frames.flatMap((frame) => (frame.kind === "event" ? [frame.event] : []));
		if (events.length === 0) return;
		const kinds = new Set(events.map(({ type }) => kindOf(type)));
		for (const query of client.getQueryCache().getAll()) {
			const { on, of } = query.meta ?? {};
			if (!on?.some((kind) => kinds.has(kind))) continue;
			if (
				of === undefined ||
				events.some((event) => event.conversation === of && on.includes(kindOf(event.type)))
			)
				refresh(query);
		}
	});
}

/** Paged lists keep only their first page: reading hundreds of pages again would take long. */
function readAllAnew(client: QueryClient): void {
	client.setQueriesData({ predicate: ({ state }) => isPaged(state.data) }, (data: unknown) =>
		isPaged(data) ? { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) } : data,
	);
	void client.invalidateQueries();
}

function isPaged(data: unknown): data is InfiniteData<unknown> {
	return typeof data === "object" && data !== null && "pages" in data && "pageParams" in data;
}

/** The first word of an event's type. */
function kindOf(type: EventType): EventKind {
	return type.slice(0, type.indexOf(".")) as EventKind;
}
