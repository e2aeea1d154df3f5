// How fast a bot may speak: about 30 messages a second in all, one a second in a private chat, 20 a minute in a group. Changing a message
// counts as much as a new one. Everybody waits in the order in which they came, so that many answers at once get slower together. What a
// single chat is allowed holds back changes alone: those are previews for the most part, while a new message says something.
import type { Clock } from "../../time/index.ts";

interface Allowance {
	/** How many at once. */
	readonly burst: number;
	/** How long until there is one more. */
	readonly everyMs: number;
}

/** At most 27 in any second: on the way some catch up with others. */
const ALL: Allowance = { burst: 5, everyMs: 45 };
const PRIVATE: Allowance = { burst: 5, everyMs: 1000 };
const GROUP: Allowance = { burst: 20, everyMs: 3000 };
/** Whoever would wait longer is sent away. */
const LONGEST_WAIT_MS = 5000;
/** Chats that have not been written to for long are forgotten when there are so many. */
const REMEMBERED = 1000;

export type Place =
	/** It has its place: it may go after so long. */
	| { readonly afterMs: number }
	/** It has none: it may ask again after so long. */
	| { readonly askAfterMs: number };

export class Pace {
	readonly #clock: Pick<Clock, "monotonic">;
	/** When each chat's allowance will be whole again; '' is all of them. */
	readonly #wholeAt = new Map<string, number>();

	constructor(clock: Pick<Clock, "monotonic">) {
		this.#clock = clock;
	}

	take(chatId: string, what: "message" | "change"): Place {
		const ofChat = chatId.startsWith("-") ? GROUP : PRIVATE;
		const wait = Math.max(this.#waitOf("", ALL), what === "change" ? this.#waitOf(chatId, ofChat) : 0);
		if (wait > LONGEST_WAIT_MS) return { askAfterMs: Math.ceil(wait - LONGEST_WAIT_MS / 2) };
		this.#use("", ALL);
		this.#use(chatId, ofChat);
		return { afterMs: Math.ceil(wait) };
	}

	#waitOf(chat: string, { burst, everyMs }: Allowance): number {
		const missing = (this.#wholeAt.get(chat) ?? 0) - this.#clock.monotonic();
		return Math.max(0, missing - (burst - 1) * everyMs);
	}

	#use(chat: string, { everyMs }: Allowance): void {
		const now = this.#clock.monotonic();
		this.#wholeAt.set(chat, Math.max(now, this.#wholeAt.get(chat) ?? 0) + everyMs);
		if (this.#wholeAt.size <= REMEMBERED) return;
		for (const [known, at] of this.#wholeAt) if (at <= now) this.#wholeAt.delete(known);
	}
}
