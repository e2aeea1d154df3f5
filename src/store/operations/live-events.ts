// Events together with the rows they are about, in one read: a follower is sent both, and asking for each row costs more than the row.
import { KeryxError } from "../../errors.ts";
import type { StoreEvent } from "../events.ts";
import type { Op } from "../query.ts";
import type { Delivery, Message } from "../types.ts";
import { delivery, type EventsResult, events } from "./read-work.ts";
import { message } from "./sessions/read-conversations.ts";

export interface LiveEvent {
	readonly event: StoreEvent;
	/** Of message.appended. Left out where the row is gone by now. */
	readonly message?: Message;
	/** Of each delivery.* event, as the delivery is now. */
	readonly delivery?: Delivery;
}

export type LiveEventsResult =
	| Extract<EventsResult, { readonly kind: "resync" }>
	| { readonly kind: "events"; readonly events: readonly LiveEvent[]; readonly cursor: string };

/** Takes what `events` takes. */
export function* liveEvents(args: Parameters<typeof events>[0]): Op<LiveEventsResult> {
	const page = yield* events(args);
	if (page.kind === "resync") return page;
	const found: LiveEvent[] = [];
	const deliveries = new Map<string, Delivery | undefined>();
	for (const event of page.events) {
		const { type, subject } = event;
		if (type === "message.appended" && subject !== null) {
			const row = yield* orGone(message({ scope: args.scope, id: Number(subject) }));
			found.push({ event, ...(row && { message: row }) });
		} else if (type.startsWith("delivery.") && subject !== null) {
			// Several events of one delivery tell of the same row.
			if (!deliveries.has(subject))
				deliveries.set(subject, yield* orGone(delivery({ scope: args.scope, id: subject })));
			const row = deliveries.get(subject);
			found.push({ event, ...(row && { delivery: row }) });
		} else found.push({ event });
	}
	return { ...page, events: found };
}

function* orGone<Row>(read: Op<Row>): Op<Row | undefined> {
	try {
		return yield* read;
	} catch (error) {
		if (error instanceof KeryxError && error.code === "store.not_found") return undefined;
		throw error;
	}
}
