// How fast a bot may speak: about 30 messages a second in all, one a second in a private chat, 20 a minute in a group. Changing a message
// counts as much as a new one. New ones are never held back here: Telegram says itself when it is too much, and nothing is lost by asking.
// Changes are, because they are previews for the most part, and a pause that they cause would hold up everybody's answers.
import type { Clock } from "../../time/index.ts";

interface Allowance {
	/** How many at once. */
	readonly burst: number;
	/** How long until there is one more. */
	readonly everyMs: number;
}

/** A little below what Telegram allows. */
const ALL: Allowance = { burst: 20, everyMs: 50 };
const PRIVATE: Allowance = { burst: 5, everyMs: 1000 };
const GROUP: Allowance = { burst: 20, everyMs: 3000 };
/** Chats that have not been written to for long are forgotten when there are so many. */
const REMEMBERED = 1000;

export class Pace {
	readonly #clock: Pick<Clock, "monotonic">;
	/** When each chat's allowance will be whole again; '' is all of them. */
	readonly #wholeAt = new Map<string, number>();

	constructor(clock: Pick<Clock, "monotonic">) {
		this.#clock = clock;
	}

	/** How long a change must wait; 0: not at all, and it counts. */
	change(chatId: string): number {
		const wait = Math.ceil(Math.max(this.#waitOf("", ALL), this.#waitOf(chatId, allowanceOf(chatId))));
		if (wait === 0) this.sent(chatId);
		return wait;
	}

	/** A message goes out, whatever the allowance. */
	sent(chatId: string): void {
		this.#use("", ALL);
		this.#use(chatId, allowanceOf(chatId));
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

function allowanceOf(chatId: string): Allowance {
	return chatId.startsWith("-") ? GROUP : PRIVATE;
}
