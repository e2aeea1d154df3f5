// Which gateway answered each conversation last: its files, programs and warm caches are there. Only a
// preference, so it is kept in memory, for recently active conversations.
import type { ConversationId } from "../../domain/index.ts";

const MOST = 10_000;

export class LastAnswered {
	/** The last turn of each conversation, on any gateway. */
	readonly #turns = new Map<ConversationId, string>();
	/** Turns that ran here. */
	readonly #own = new Set<string>();

	/** A turn begins here. */
	ran(conversation: ConversationId, turn: string): void {
		this.#own.delete(turn);
		this.#own.add(turn);
		dropOldest(this.#own);
		this.heard(conversation, turn);
	}

	/** A turn has begun, here or elsewhere. */
	heard(conversation: ConversationId, turn: string): void {
		this.#turns.delete(conversation);
		this.#turns.set(conversation, turn);
		dropOldest(this.#turns);
	}

	/** A gateway has died: nobody waits for it. */
	forgetOthers(): void {
		for (const [conversation, turn] of this.#turns)
			if (!this.#own.has(turn)) this.#turns.delete(conversation);
	}

	isHere(conversation: ConversationId): boolean {
		const turn = this.#turns.get(conversation);
		return turn !== undefined && this.#own.has(turn);
	}

	isElsewhere(conversation: ConversationId): boolean {
		const turn = this.#turns.get(conversation);
		return turn !== undefined && !this.#own.has(turn);
	}
}

function dropOldest(kept: Map<unknown, unknown> | Set<unknown>): void {
	if (kept.size <= MOST) return;
	const { value } = kept.keys().next();
	kept.delete(value);
}
