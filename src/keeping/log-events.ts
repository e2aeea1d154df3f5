// The store's events in the log: what happened, with its ids and small facts. They are read some time after a commit, many at once, so
// that a busy gateway does not pay for each.
import { logLevelOf, OPERATOR, type Store, type StoreEvent } from "../store/index.ts";
import type { Clock } from "../time/index.ts";
import type { GatewayLog } from "./log.ts";

const GATHER_MS = 500;
const PAGE = 500;

/** Ends with the signal, after everything committed so far. */
export function logEvents(
	store: Pick<Store, "events" | "onCommit">,
	log: GatewayLog,
	clock: Pick<Clock, "after">,
): { readonly end: () => Promise<void> } {
	let cursor = "now";
	let waiting: (() => void) | null = null;
	let reading: Promise<void> = Promise.resolve();
	const read = async (): Promise<void> => {
		for (;;) {
			const page = await store.events({ scope: OPERATOR, after: cursor, limit: PAGE });
			cursor = page.cursor;
			if (page.kind === "resync") return;
			for (const event of page.events) write(log, event);
			if (page.events.length < PAGE) return;
		}
	};
	const look = (): Promise<void> => {
		waiting = null;
		reading = reading.then(read).catch((error: unknown) => {
			log.write("warn", "log", "events_not_read", { error: (error as Error).message });
		});
		return reading;
	};
	// The current end of the event log: later events are written.
	void look();
	const unlisten = store.onCommit(() => {
		if (log.isOn("info")) waiting ??= clock.after(GATHER_MS, () => void look());
	});
	return {
		end: async () => {
			unlisten();
			waiting?.();
			await look();
		},
	};
}

function write(log: GatewayLog, { type, at, conversation, session, turn, subject, facts }: StoreEvent): void {
	const level = logLevelOf(type);
	if (!log.isOn(level)) return;
	const [area = type] = type.split(".");
	log.write(level, area, type, {
		at: new Date(at).toISOString(),
		...(conversation !== null && { conversation }),
		...(session !== null && { session }),
		...(turn !== null && { turn }),
		...(subject !== null && { subject }),
		...(facts && { facts }),
	});
}
