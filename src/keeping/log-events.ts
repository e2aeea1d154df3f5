// The store's events in the log: what happened, with its ids and small facts. They are read some time after a commit, many at once, so
// that a busy gateway does not pay for each.
import { type EventType, OPERATOR, type Store, type StoreEvent } from "../store/index.ts";
import type { Clock } from "../time/index.ts";
import type { GatewayLog, LogLevel } from "./log.ts";

const GATHER_MS = 500;
const PAGE = 500;

/** The rest is written at debug: it happens several times with each message. */
const LEVELS: Readonly<Partial<Record<EventType, LogLevel>>> = {
	"inbound.accepted": "info",
	"inbound.refused": "info",
	"inbound.expired": "warn",
	"turn.ended": "info",
	"turn.interrupted": "warn",
	"turn.resumed": "info",
	"session.opened": "info",
	"session.ended": "info",
	"delivery.sent": "info",
	"delivery.retry": "info",
	"delivery.unknown": "warn",
	"delivery.dead": "warn",
	"process.started": "info",
	"process.ended": "info",
	"confirmation.requested": "info",
	"confirmation.approved": "info",
	"confirmation.denied": "info",
	"confirmation.expired": "info",
	"schedule.fired": "info",
	"schedule.missed": "warn",
	"schedule.run_ended": "info",
	"checkpoint.failed": "warn",
	"restore.ended": "info",
	"channel.changed": "info",
	"pairing.approved": "info",
	"pairing.locked": "warn",
	"principal.linked": "info",
	"token.created": "info",
	"token.revoked": "info",
	"login.made": "info",
	"login.revoked": "info",
	"config.changed": "info",
	"config.refused": "warn",
	"store.back": "warn",
};

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
	const level = LEVELS[type] ?? "debug";
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
