// The events of one room in a sync, oldest first. If the sync left some out, they are read from the history, up to a limit.
import { type Api, path } from "./api.ts";
import { type MatrixEvent, messagesSchema, readEvents, type SyncAnswer, textIn } from "./wire.ts";

const PAGE = 100;
/** The most pages read; older messages are reported as missing. */
const PAGES = 10;

type JoinedRoom = SyncAnswer["rooms"]["join"][string];

export interface TimelineOptions {
	readonly api: Api;
	readonly me: string;
	/** The last sync ended here. */
	readonly since: string;
	readonly log: (message: string) => void;
}

export async function timelineOf(
	id: string,
	{ timeline }: JoinedRoom,
	options: TimelineOptions,
): Promise<readonly MatrixEvent[]> {
	const events = readEvents(timeline.events);
	const welcome = welcomeIn(events, options.me);
	if (welcome !== null) return events.slice(welcome);
	if (!timeline.limited || timeline.prev_batch === undefined) return events;
	const { missed, isWhole } = await missedIn(id, timeline.prev_batch, options);
	if (!isWhole)
		options.log(
			`more than ${PAGE * PAGES} events of ${id} were missed while Keryx was away; the older ones are not read`,
		);
	const joined = welcomeIn(missed, options.me);
	return [...(joined === null ? missed : missed.slice(joined)), ...events];
}

/** In a newly joined room, messages before the invitation are not for Keryx. Null: it was there before. */
function welcomeIn(events: readonly MatrixEvent[], me: string): number | null {
	const own = events.flatMap((event, n) =>
		event.type === "m.room.member" && event.state_key === me ? [{ event, n }] : [],
	);
	const joined = own.findLast(
		({ event }) =>
			textIn(event.content, "membership") === "join" &&
			textIn(event.unsigned?.prev_content, "membership") !== "join",
	);
	if (!joined) return null;
	const invited = own.findLast(
		({ event, n }) => n < joined.n && textIn(event.content, "membership") === "invite",
	);
	return (invited ?? joined).n + 1;
}

async function missedIn(
	id: string,
	from: string,
	{ api, since }: TimelineOptions,
): Promise<{ readonly missed: readonly MatrixEvent[]; readonly isWhole: boolean }> {
	const newestFirst: MatrixEvent[] = [];
	let at = from;
	for (let page = 0; page < PAGES; page++) {
		const answer = await api.get(path`/_matrix/client/v3/rooms/${id}/messages`, {
			dir: "b",
			from: at,
			to: since,
			limit: PAGE,
		});
		const { chunk, end } = messagesSchema.parse(answer);
		newestFirst.push(...readEvents(chunk));
		if (end === undefined || chunk.length === 0) return { missed: newestFirst.toReversed(), isWhole: true };
		at = end;
	}
	return { missed: newestFirst.toReversed(), isWhole: false };
}
