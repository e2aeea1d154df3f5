// What was said while nobody listened and Discord has forgotten the session: read from the history of each channel with news, oldest first.
// Bounded, and what is left out is said. A message that was taken before is known by its id (I4).
import type { REST } from "@discordjs/rest";
import { KeryxError } from "../../errors.ts";
import { Pauses, type PausesOptions } from "../pauses.ts";
import type { CursorNow, Message } from "./events.ts";
import { isApiError, isRateLimit, isTokenRefused, pauseOf, reasonOf } from "./outcome.ts";
import { isAfter, snowflakeAt, timeOf } from "./snowflake.ts";
import type { MemberFacts } from "./source.ts";

const PAGE = 100;
/** The most messages of one channel. */
const MOST = 1000;
/** Older ones are nobody's question any more. */
const OLDEST_MS = 24 * 60 * 60_000;
/** Discord's events do not come exactly in the order of their ids: what came shortly before the newest may be missing. */
const OVERLAP_MS = 60_000;
/** Channels that are read at once. */
const AT_ONCE = 4;
/** Failures in a row before the session is given up. With their pauses this is rarer than Discord lets a bot begin sessions. */
const MOST_FAILURES = 8;

export interface BackfillOptions extends PausesOptions {
	readonly log: (message: string, error?: unknown) => void;
	readonly isStopping: () => boolean;
}

/** The time that nobody listened, and how far it has been read. What was read is committed with its place, so that it is read once. */
export interface Gap {
	/** The message after which the history of a channel is read. */
	readonly after: (channel: string) => string;
	/** The cursor to commit a message of a history with. */
	readonly cursorFor: (channel: string, message: string) => string | undefined;
	/** It is committed. */
	readonly taken: (channel: string, message: string) => void;
}

/** From where a history is read, after the newest message that is known. */
export function gapAfter(newest: string, now: number): string {
	const from = snowflakeAt(timeOf(newest) - OVERLAP_MS);
	const oldest = snowflakeAt(now - OLDEST_MS);
	return isAfter(oldest, from) ? oldest : from;
}

export class Backfill {
	readonly #options: BackfillOptions;
	readonly #pauses: Pauses;
	readonly #waiting: (() => void)[] = [];
	/** Authors in this gap, by server and id. */
	readonly #members = new Map<string, Promise<MemberFacts | undefined>>();
	#running = 0;
	/** Counts the connections. A history is read over one of them. */
	#connection = 0;

	constructor(options: BackfillOptions) {
		this.#options = options;
		this.#pauses = new Pauses(options);
	}

	/** A new gap: what is known of its authors is read anew. */
	begin(): void {
		this.#members.clear();
	}

	/** The connection is over, and with it whatever is being read. */
	end(): void {
		this.#connection++;
		this.#pauses.wake();
	}

	/** The author's name and roles in the server as they are now: the history does not tell them. Undefined for one who has left. */
	member(guild: string, user: string, rest: REST): Promise<MemberFacts | undefined> {
		const name = `${guild} ${user}`;
		const known = this.#members.get(name) ?? this.#askMember(guild, user, rest);
		this.#members.set(name, known);
		return known;
	}

	async #askMember(guild: string, user: string, rest: REST): Promise<MemberFacts | undefined> {
		try {
			return (await this.#asked(() => rest.get(`/guilds/${guild}/members/${user}`))) as MemberFacts;
		} catch (error) {
			if (!isApiError(error) || isTokenRefused(error)) {
				// Asked again by the next session.
				this.#members.delete(`${guild} ${user}`);
				throw error;
			}
			return undefined;
		}
	}

	/** Resolves when everything of this channel's gap is handed in; rejects where Discord cannot be asked or the host takes nothing. */
	async channel(
		id: string,
		gap: Gap,
		rest: REST,
		take: (message: Message, cursor: CursorNow) => Promise<void>,
	): Promise<void> {
		const connection = this.#connection;
		await this.#slot();
		try {
			this.#goOn(connection);
			await this.#read(id, gap, rest, take, connection);
		} finally {
			this.#running--;
			this.#waiting.shift()?.();
		}
	}

	async #read(
		id: string,
		gap: Gap,
		rest: REST,
		take: (message: Message, cursor: CursorNow) => Promise<void>,
		connection: number,
	): Promise<void> {
		const { log } = this.#options;
		let from = gap.after(id);
		for (let count = 0; ; ) {
			const page = await this.#page(id, from, rest);
			if (page === null) return;
			for (const message of page) {
				this.#goOn(connection);
				await this.#asked(() => take(message, () => gap.cursorFor(id, message.id)));
				gap.taken(id, message.id);
				from = message.id;
			}
			count += page.length;
			if (page.length < PAGE) return;
			if (count < MOST) continue;
			return log(`in channel ${id}, messages after the first ${MOST} of the gap were not read`);
		}
	}

	/** Oldest first; null where there is none for the bot: it may not look, or the channel is of a kind without messages, as forums are. */
	async #page(id: string, after: string, rest: REST): Promise<readonly Message[] | null> {
		const { log } = this.#options;
		const query = new URLSearchParams({ after, limit: String(PAGE) });
		try {
			const page = (await this.#asked(() => rest.get(`/channels/${id}/messages`, { query }))) as Message[];
			return page.toSorted((a, b) => (isAfter(a.id, b.id) ? 1 : -1));
		} catch (error) {
			// At the next session Discord would say the same: thrown, it would end each of them.
			if (!isApiError(error) || isTokenRefused(error)) throw error;
			log(
				`the history of channel ${id} cannot be read, so messages sent there in the meantime are unknown`,
				reasonOf(error),
			);
			return null;
		}
	}

	/** Waits out the pauses that Discord asks for, and tries again where it cannot be reached. */
	async #asked<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
		const connection = this.#connection;
		for (let failures = 0; ; )
			try {
				return await ask();
			} catch (error) {
				this.#goOn(connection);
				if (isRateLimit(error)) await this.#pauses.sleep(pauseOf(error) + 1);
				else if (isPassing(error) && ++failures < MOST_FAILURES) await this.#pauses.afterFailures(failures);
				else throw error;
				this.#goOn(connection);
			}
	}

	#goOn(connection: number): void {
		if (this.#options.isStopping() || connection !== this.#connection) throw new Error("stopped");
	}

	async #slot(): Promise<void> {
		if (this.#running >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
		this.#running++;
	}
}

/** Discord cannot be reached or is in trouble. It has refused nothing, and nothing of Keryx has failed. */
function isPassing(error: unknown): boolean {
	return !isApiError(error) && !isTokenRefused(error) && !(error instanceof KeryxError);
}
