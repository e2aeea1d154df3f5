// What was said while nobody listened and Discord has forgotten the session: read from the history of each channel with news, oldest first.
// Bounded, and what is left out is said. A message that was taken before is known by its id (I4).
import type { REST } from "@discordjs/rest";
import type { Clock } from "../../time/index.ts";
import type { Message } from "./events.ts";
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

export interface BackfillOptions {
	readonly clock: Clock;
	readonly log: (message: string, error?: unknown) => void;
	readonly isStopping: () => boolean;
}

/** From where a history is read, after the newest message that is known. */
export function gapAfter(newest: string, now: number): string {
	const from = snowflakeAt(timeOf(newest) - OVERLAP_MS);
	const oldest = snowflakeAt(now - OLDEST_MS);
	return isAfter(oldest, from) ? oldest : from;
}

export class Backfill {
	readonly #options: BackfillOptions;
	readonly #waiting: (() => void)[] = [];
	/** Authors in this gap, by server and id. */
	readonly #members = new Map<string, Promise<MemberFacts | undefined>>();
	#running = 0;

	constructor(options: BackfillOptions) {
		this.#options = options;
	}

	/** A new gap: what is known of its authors is read anew. */
	begin(): void {
		this.#members.clear();
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

	/** Resolves when everything of this channel after that id is handed in; rejects where Discord cannot be asked or the host takes nothing. */
	async channel(
		id: string,
		after: string,
		rest: REST,
		take: (message: Message) => Promise<void>,
	): Promise<void> {
		await this.#slot();
		try {
			await this.#read(id, after, rest, take);
		} finally {
			this.#running--;
			this.#waiting.shift()?.();
		}
	}

	async #read(
		id: string,
		after: string,
		rest: REST,
		take: (message: Message) => Promise<void>,
	): Promise<void> {
		const { log } = this.#options;
		let from = after;
		for (let count = 0; ; ) {
			const page = await this.#page(id, from, rest);
			if (page === null) return;
			for (const message of page) {
				this.#goOn();
				await take(message);
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

	/** Waits out the pauses that Discord asks for. */
	async #asked(ask: () => Promise<unknown>): Promise<unknown> {
		const { clock } = this.#options;
		for (;;)
			try {
				return await ask();
			} catch (error) {
				this.#goOn();
				if (!isRateLimit(error)) throw error;
				const ms = pauseOf(error) + 1;
				await new Promise<void>((resolve) => void clock.after(ms, resolve));
				this.#goOn();
			}
	}

	#goOn(): void {
		if (this.#options.isStopping()) throw new Error("stopped");
	}

	async #slot(): Promise<void> {
		if (this.#running >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
		this.#running++;
	}
}
