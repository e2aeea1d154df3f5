// Events with their rows in one read: followers get both, and single reads would cost more than the rows.
import { KeryxError } from "../../errors.ts";
import type { StoreEvent } from "../events.ts";
import type { Op } from "../query.ts";
import type { Delivery, Message } from "../types.ts";
import { type EventsResult, events } from "./read-events.ts";
import { delivery } from "./read-work.ts";
import { message } from "./sessions/read-conversations.ts";

export interface LiveEvent {
	readonly event: StoreEvent;
	/** For message.appended. Absent if the row is gone. */
	readonly message?: Message;
	/** For each delivery.* event, the current delivery. */
	readonly delivery?: Delivery;
}

export type LiveEventsResult =
	| Extract<EventsResult, { readonly kind: "resync" }>
	| { readonly kind: "events"; readonly events: readonly LiveEvent[]; readonly cursor: string };

/** Takes the arguments of `events`. */
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
			// Several events may be about the same delivery.
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
