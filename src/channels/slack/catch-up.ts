// After a start or a long silence: reads the chats' history from where everything was committed. Slack itself redelivers only for some
// minutes.
import type { ChannelHost, Clock } from "../../gateway/index.ts";
import { type EventContext, handInMessage, isSaying } from "./events.ts";
import { MISSED_MOST, missedIn, type Read } from "./history.ts";
import type { Connection, Gap, Line } from "./line.ts";
import { outcomeOf, reasonOf, wordOf } from "./outcome.ts";
import { isOwn } from "./source.ts";

/** Slack redelivers for five minutes: an event this old can still arrive after a newer one was committed. */
const OVERLAP_S = 600;
/** Older messages are ignored: nobody waits for an answer. */
const LONGEST_S = 86_400;
/** How often reading a history is tried before the chat's events continue; the rest is tried later. */
const TRIES = 5;
const PAGE = 200;
const PAGES = 10;

export interface CatchUpOptions {
	readonly clock: Clock;
	readonly host: ChannelHost;
	readonly read: Read;
	readonly contextOf: (connection: Connection) => EventContext;
	readonly log: (message: string, error?: unknown) => void;
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
	{ through }: Gap,
	options: CatchUpOptions,
): Promise<void> {
	const { clock, host, read, log } = options;
	const now = clock.now() / 1000;
	const first = line.takeFirst();
	if (first !== null) {
		line.intake.lanes.letGo();
		return host.passed(first);
	}
	const oldest = Math.max(line.intake.marks.from(OVERLAP_S), now - LONGEST_S).toFixed(6);
	const work: Promise<void>[] = [];
	const failures: unknown[] = [];
	try {
		for (const { id, is_im: im, is_mpim: mpim } of await chatsOf(connection, read)) {
			const chat = { chat: id as string, kind: im ? "im" : mpim ? "mpim" : undefined };
			if (through.has(chat.chat)) continue;
			work.push(
				line.intake.lanes.runAhead(chat.chat, () =>
					readChat(chat, oldest, connection, line, options).then(
						() => void through.add(chat.chat),
						(error: unknown) => void failures.push(error),
					),
				),
			);
		}
	} catch (error) {
		if (wordOf(error) !== "missing_scope") throw error;
		log(
			"missed messages cannot be read: the app lacks the scopes channels:read, groups:read, im:read and mpim:read",
		);
	} finally {
		line.intake.lanes.letGo();
	}
	await Promise.all(work);
	if (failures.length > 0) throw failures[0];
}

async function chatsOf({ directory }: Connection, read: Read): Promise<readonly WireChat[]> {
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
	return chats.filter(({ id }) => id !== undefined);
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

async function readChat(
	place: { readonly chat: string; readonly kind: string | undefined },
	oldest: string,
	connection: Connection,
	line: Line,
	{ host, read, contextOf, log }: CatchUpOptions,
): Promise<void> {
	const { chat } = place;
	if (line.isStopping) return;
	try {
		const { messages, isCut } = await patiently(() => missedIn(chat, oldest, read), line);
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
				handInMessage(message, place, {}, contextOf(connection)),
			);
			if (done === "stopped") return;
			line.intake.tookFromHistory(chat, ts);
		}
	} catch (error) {
		if (line.isStopping) return;
		if (mayPass(error)) throw error;
		log(`the history of ${chat} could not be read: ${reasonOf(error)}`);
	}
}
