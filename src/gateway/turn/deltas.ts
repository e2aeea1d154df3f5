// Text on its way: what live views see of a running answer. Nothing here is stored; a view that connects late asks for the
// text so far.

export interface Delta {
	readonly conversation: string;
	readonly turn: string;
	/** Which of the turn's messages it belongs to. */
	readonly index: number;
	/** Where in that message it stands, in UTF-16 units. */
	readonly offset: number;
	readonly text: string;
}

export interface PartialAnswer {
	readonly turn: string;
	readonly index: number;
	readonly text: string;
}

export class Deltas {
	readonly #partial = new Map<string, PartialAnswer>();
	readonly #listeners = new Set<(delta: Delta) => void>();

	add(conversation: string, turn: string, index: number, text: string): void {
		const before = this.#partial.get(conversation);
		const soFar = before?.turn === turn && before.index === index ? before.text : "";
		this.#partial.set(conversation, { turn, index, text: soFar + text });
		for (const listener of this.#listeners)
			listener({ conversation, turn, index, offset: soFar.length, text });
	}

	end(conversation: string): void {
		this.#partial.delete(conversation);
	}

	partial(conversation: string): PartialAnswer | null {
		return this.#partial.get(conversation) ?? null;
	}

	listen(listener: (delta: Delta) => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}
}
