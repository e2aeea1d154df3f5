// Looks up a delivery: the server shows its sender the transaction id of each event in the history.
import type { Channel } from "../../gateway/index.ts";
import { type Api, path } from "./api.ts";
import { eventsOf } from "./deliver.ts";
import { messagesSchema, readEvents } from "./wire.ts";

/** By how much the server's clock may differ. */
const CLOCKS_MS = 5 * 60_000;
const PAGE = 100;
const PAGES = 10;

/** `madeAt`: no attempt was earlier. Of several files some may be there: then sending it again completes it. */
export async function lookUp(
	id: string,
	room: string,
	madeAt: number | undefined,
	api: Api,
): ReturnType<NonNullable<Channel["lookup"]>> {
	const found = new Map<string, string>();
	let from: string | undefined;
	for (let page = 0; page < PAGES; page++) {
		const answer = await api.get(path`/_matrix/client/v3/rooms/${room}/messages`, {
			dir: "b",
			from,
			limit: PAGE,
		});
		const { chunk, end } = messagesSchema.parse(answer);
		const events = readEvents(chunk);
		for (const { event_id: event, unsigned } of events)
			if (unsigned?.transaction_id !== undefined) found.set(unsigned.transaction_id, event);
		const isPast = madeAt !== undefined && events.some(({ origin_server_ts: at }) => at < madeAt - CLOCKS_MS);
		if (end === undefined || chunk.length === 0 || isPast) {
			const all = eventsOf(id, found);
			return all ? { kind: "sent", receipt: all.join(",") } : { kind: "absent" };
		}
		from = end;
	}
	// Too many messages to be sure.
	return { kind: "unknown" };
}
