// Reads missed messages from the history when Discord has forgotten the session: each channel with news, oldest first. The amount is
// limited, and anything left out is reported. Known messages are recognised by id (I4).
import type { REST } from "@discordjs/rest";
import { KeryxError } from "../../errors.ts";
import { Pauses, type PausesOptions } from "../pauses.ts";
import type { CursorNow, Message } from "./events.ts";
import { isApiError, isRateLimit, isTokenRefused, pauseOf, reasonOf } from "./outcome.ts";
import { isAfter, snowflakeAt, timeOf } from "./snowflake.ts";
import type { MemberFacts } from "./source.ts";

const PAGE = 100;
/** The most messages per channel. */
const MOST = 1000;
/** Older ones no longer need an answer. */
const OLDEST_MS = 24 * 60 * 60_000;
/** Discord's events are not exactly in id order: one shortly before the newest may be missing. */
const OVERLAP_MS = 60_000;
/** Channels read at once. */
const AT_ONCE = 4;
/** Failures in a row before the session is given up. With the pauses, this stays below Discord's limit on new sessions. */
const MOST_FAILURES = 8;

export interface BackfillOptions extends PausesOptions {
	readonly log: (message: string, error?: unknown) => void;
	readonly isStopping: () => boolean;
}

/**
 * The gap in which nobody listened, and the progress of reading it. Each message is committed with its position, so that it is read once.
 */
export interface Gap {
	/** The message after which a channel's history is read. */
	readonly after: (channel: string) => string;
	/** The cursor to commit a history message with. */
	readonly cursorFor: (channel: string, message: string) => string | undefined;
	/** It is committed. */
	readonly taken: (channel: string, message: string) => void;
}

/** Where reading a history starts: after the newest known message. */
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
	/** Counts connections. A history is read over one of them. */
	#connection = 0;

	constructor(options: BackfillOptions) {
		this.#options = options;
		this.#pauses = new Pauses(options);
	}

	/** A new gap: authors are looked up again. */
	begin(): void {
		this.#members.clear();
	}

	/** The connection is over, and so is all reading. */
	end(): void {
		this.#connection++;
		this.#pauses.wake();
	}

	/** The author's current name and roles in the server, which the history lacks. Undefined if they left. */
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
				// The next session asks again.
				this.#members.delete(`${guild} ${user}`);
				throw error;
			}
			return undefined;
		}
	}

	/** Resolves when this channel's gap is fully passed on; rejects if Discord cannot be asked or the host refuses. */
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

	/** Oldest first; null if the bot has no access, or the channel has no messages, such as a forum. */
	async #page(id: string, after: string, rest: REST): Promise<readonly Message[] | null> {
		const { log } = this.#options;
		const query = new URLSearchParams({ after, limit: String(PAGE) });
		try {
			const page = (await this.#asked(() => rest.get(`/channels/${id}/messages`, { query }))) as Message[];
			return page.toSorted((a, b) => (isAfter(a.id, b.id) ? 1 : -1));
		} catch (error) {
			// Discord would say the same at the next session: throwing would end every session.
			if (!isApiError(error) || isTokenRefused(error)) throw error;
			log(
				`the history of channel ${id} cannot be read, so messages sent there in the meantime are unknown`,
				reasonOf(error),
			);
			return null;
		}
	}

	/** Waits for requested pauses, and retries while Discord cannot be reached. */
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

/** Discord is unreachable or in trouble. It has refused nothing, and Keryx has not failed. */
function isPassing(error: unknown): boolean {
	return !isApiError(error) && !isTokenRefused(error) && !(error instanceof KeryxError);
}
