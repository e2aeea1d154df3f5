// After a start or a long silence: reads the chats' history from where everything was committed. Slack itself redelivers only for some
// minutes.
import type { ChannelHost, Clock } from "../../gateway/index.ts";
import { type ChatLocation, type EventContext, handInMessage, isSaying } from "./events.ts";
import type { Gap } from "./gap.ts";
import { MISSED_MOST, missedIn, type Read } from "./history.ts";
import type { Connection, Line } from "./line.ts";
import { outcomeOf, reasonOf, wordOf } from "./outcome.ts";
import { isOwn } from "./source.ts";

/** Slack redelivers for five minutes: an event this old can still arrive after a newer one was committed. */
const OVERLAP_S = 600;
/** Older messages are ignored: nobody waits for an answer. */
const LONGEST_S = 86_400;
/** How often reading a history is tried before the chat's events continue; the rest is tried later. */
const TRIES = 5;
/** Slack's page size, and how many pages of the list of chats are read. */
const PAGE = 200;
const PAGES = 50;
/** Chats read at once. Few, so that a chat with new messages does not wait for all others: Slack counts each read. */
const AT_ONCE = 4;

export interface CatchUpOptions {
	readonly clock: Clock;
	readonly host: ChannelHost;
	readonly read: Read;
	readonly contextOf: (connection: Connection) => EventContext;
	readonly log: (message: string, error?: unknown) => void;
	/** The history is there; its messages are passed on next. */
	readonly onAsked?: () => void;
}

/** This many at once; the others wait in order. */
class Slots {
	readonly #waiting: (() => void)[] = [];
	#free: number;

	constructor(count: number) {
		this.#free = count;
	}

	async use<Answer>(work: () => Promise<Answer>): Promise<Answer> {
		if (this.#free > 0) this.#free--;
		else await new Promise<void>((resolve) => void this.#waiting.push(resolve));
		try {
			return await work();
		} finally {
			const next = this.#waiting.shift();
			if (next) next();
			else this.#free++;
		}
	}
}

interface WireChat {
	readonly id?: string;
	readonly is_im?: boolean;
	readonly is_mpim?: boolean;
}

/** Resolves when every chat's history was passed on, chat by chat, or can never be read. Rejects if one cannot be read now. */
export async function catchUp(
	connection: Connection,
	line: Line,
	gap: Gap,
	options: CatchUpOptions,
): Promise<void> {
	const { host, log } = options;
	const { first } = line;
	if (first !== null) {
		await host.passed(first);
		return line.keptFirst();
	}
	let chats: readonly ChatLocation[] = [];
	try {
		chats = await chatsOf(connection, options);
	} catch (error) {
		if (wordOf(error) !== "missing_scope") throw error;
		log(
			"missed messages cannot be read: the app lacks the scopes channels:read, groups:read, im:read and mpim:read",
		);
	}
	gap.again();
	const slots = new Slots(AT_ONCE);
	await Promise.all(
		chats.map((location) => slots.use(() => readInLane(location, connection, line, gap, options))),
	);
	await Promise.all(chats.map(({ chat }) => gap.tried(chat)));
	gap.throwFailure();
}

/** Only the first ones that Slack names; logs if some are left out. */
async function chatsOf(
	{ directory }: Connection,
	{ read, log }: CatchUpOptions,
): Promise<readonly ChatLocation[]> {
	const chats: WireChat[] = [];
	let cursor: string | undefined;
	for (let page = 0; page < PAGES; page++) {
		const answer = await read<{
			channels?: readonly WireChat[];
			response_metadata?: { readonly next_cursor?: string };
		}>("users.conversations", {
			types: "im,mpim,public_channel,private_channel",
			exclude_archived: true,
			limit: PAGE,
			...(cursor !== undefined && { cursor }),
		});
		for (const chat of answer.channels ?? []) {
			chats.push(chat);
			directory.learn(chat);
		}
		cursor = answer.response_metadata?.next_cursor || undefined;
		if (cursor === undefined) break;
	}
	if (cursor !== undefined)
		log(
			`the app is in more than ${PAGES * PAGE} chats: what was written meanwhile in the others is not read`,
		);
	return chats.flatMap(({ id, is_im: im, is_mpim: mpim }) =>
		id === undefined ? [] : [{ chat: id, kind: im ? "im" : mpim ? "mpim" : undefined }],
	);
}

function mayPass(error: unknown): boolean {
	return ["retry", "unknown"].includes(outcomeOf(error).kind);
}

/** Temporary failures are retried. The chat's events wait meanwhile, but not forever: Slack would give them up. */
async function patiently<Answer>(work: () => Promise<Answer>, line: Line): Promise<Answer> {
	for (let tries = 1; ; tries++)
		try {
			return await work();
		} catch (error) {
			if (!mayPass(error) || tries >= TRIES || line.isStopping) throw error;
			await line.pauses.afterFailures(tries);
		}
}

/** Resolves when Slack was asked, so that the next chat can be. The lane may have events, the first of which has the chat read. */
function readInLane(
	location: ChatLocation,
	connection: Connection,
	line: Line,
	gap: Gap,
	options: CatchUpOptions,
): Promise<void> {
	if (gap.isTried(location.chat)) return Promise.resolve();
	return new Promise((resolve) => {
		void gap.tried(location.chat).then(resolve);
		void line.intake.lanes.run(location.chat, () =>
			readChat(location, connection, line, gap, { ...options, onAsked: resolve }),
		);
	});
}

/** In the chat's lane, once per gap. Never rejects: a chat that cannot be read now is named in the gap. */
export async function readChat(
	location: ChatLocation,
	connection: Connection,
	line: Line,
	gap: Gap,
	options: CatchUpOptions,
): Promise<void> {
	const { chat } = location;
	if (gap.isThrough(chat)) return;
	try {
		if (!line.isStopping) await handInMissed(location, connection, line, options);
		gap.read(chat);
	} catch (error) {
		if (mayPass(error)) return gap.failed(chat, error);
		gap.read(chat);
		if (!line.isStopping) options.log(`the history of ${chat} could not be read: ${reasonOf(error)}`);
	}
}

async function handInMissed(
	location: ChatLocation,
	connection: Connection,
	line: Line,
	{ clock, host, read, contextOf, log, onAsked }: CatchUpOptions,
): Promise<void> {
	const { chat } = location;
	const oldest = Math.max(line.intake.marks.from(OVERLAP_S), clock.now() / 1000 - LONGEST_S).toFixed(6);
	const { messages, isCut } = await patiently(() => missedIn(chat, oldest, read), line);
	onAsked?.();
	if (isCut)
		log(
			`more was written in ${chat} while Keryx was offline than was read: at most ${MISSED_MOST} messages of a chat and of each thread`,
		);
	const said = messages.filter((message) => isSaying(message) && !isOwn(message, connection.me));
	const ids = said.map(({ ts }) => ts as string);
	let known: ReadonlySet<string> = new Set();
	// After a kill the last minutes are read again. Handing in a message costs calls and bytes, so it is done for new ones only.
	const asked = await line.intake.commit(`the history of ${chat}`, async () => {
		known = new Set(await host.known(chat, ids));
	});
	if (asked === "stopped") return;
	for (const message of said) {
		const ts = message.ts as string;
		if (known.has(ts) || line.intake.wasTaken(chat, ts)) continue;
		const done = await line.intake.commit(`message ${ts} of ${chat}`, () =>
			handInMessage(message, location, {}, contextOf(connection)),
		);
		if (done === "stopped") return;
		line.intake.tookFromHistory(chat, ts);
	}
}
