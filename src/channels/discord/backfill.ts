// What was said while nobody listened and Discord has forgotten the session: read from the history of each channel with news, oldest first.
// Bounded, and what is left out is said. A message that was taken before is known by its id (I4).
import type { REST } from "@discordjs/rest";
import type { Clock } from "../../time/index.ts";
import type { Message } from "./events.ts";
import { isApiError, isRateLimit, isTokenRefused, pauseOf, reasonOf } from "./outcome.ts";
import { isAfter, snowflakeAt, timeOf } from "./snowflake.ts";

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
	#running = 0;

	constructor(options: BackfillOptions) {
		this.#options = options;
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
		const { clock, log } = this.#options;
		const query = new URLSearchParams({ after, limit: String(PAGE) });
		for (;;)
			try {
				const page = (await rest.get(`/channels/${id}/messages`, { query })) as Message[];
				return page.toSorted((a, b) => (isAfter(a.id, b.id) ? 1 : -1));
			} catch (error) {
				this.#goOn();
				if (isRateLimit(error)) {
					const ms = pauseOf(error) + 1;
					await new Promise<void>((resolve) => void clock.after(ms, resolve));
					this.#goOn();
					continue;
				}
				// At the next session Discord would say the same: thrown, it would end each of them.
				if (!isApiError(error) || isTokenRefused(error)) throw error;
				log(
					`the history of channel ${id} cannot be read, so messages sent there in the meantime are unknown`,
					reasonOf(error),
				);
				return null;
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
