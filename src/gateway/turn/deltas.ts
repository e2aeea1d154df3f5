// Streaming text of a running answer for live views. Nothing here is stored; a late view asks for the text so far.

export interface Delta {
	readonly conversation: string;
	readonly turn: string;
	/** The index of the message within the turn. */
	readonly index: number;
	/** The position within that message, in UTF-16 units. */
	readonly offset: number;
	readonly text: string;
}

/** For other gateways. A turn that was taken over has a higher token, and its text starts again. */
export interface RelayedDelta extends Delta {
	readonly token: number;
}

export interface PartialAnswer {
	readonly turn: string;
	readonly index: number;
	readonly text: string;
}

interface Written extends PartialAnswer {
	readonly token: number;
}

/** The text so far is kept for this many answers of other gateways. */
const MOST_HEARD = 500;

export class Deltas {
	readonly #partial = new Map<string, Written>();
	/** The same for answers on other gateways, least recently updated first. */
	readonly #heard = new Map<string, Written>();
	/** Recently ended turns. */
	readonly #ended = new Set<string>();
	readonly #listeners = new Set<(delta: Delta) => void>();
	readonly #own = new Set<(delta: RelayedDelta) => void>();
	readonly #ending = new Set<(turn: string) => void>();
	readonly #followed = new Set<(isFollowed: boolean) => void>();

	add(
		conversation: string,
		{ turn, token }: { readonly turn: string; readonly token: number },
		index: number,
		text: string,
	): void {
		// Text from the turn's previous gateway is void.
		if (this.#heard.get(conversation)?.turn === turn) this.#heard.delete(conversation);
		const soFar = textSoFar(this.#partial.get(conversation), { turn, token, index });
		this.#partial.set(conversation, { turn, token, index, text: soFar + text });
		const delta = { conversation, turn, index, offset: soFar.length, text };
		for (const listener of this.#own) listener({ ...delta, token });
		for (const listener of this.#listeners) listener(delta);
	}

	end(conversation: string): void {
		const turn = this.#partial.get(conversation)?.turn;
		if (turn !== undefined) for (const listener of this.#ending) listener(turn);
		this.#partial.delete(conversation);
	}

	/** A piece of an answer that another gateway writes. A piece after a gap is dropped: pieces may be lost. */
	hear({ conversation, turn, token, index, offset, text }: RelayedDelta): void {
		const before = this.#heard.get(conversation);
		if (this.#ended.has(turn) || (before?.turn === turn && before.token > token)) return;
		const soFar = textSoFar(before, { turn, token, index });
		if (offset > soFar.length || offset + text.length <= soFar.length) return;
		const more = text.slice(soFar.length - offset);
		this.#heard.delete(conversation);
		this.#heard.set(conversation, { turn, token, index, text: soFar + more });
		const [oldest] = this.#heard.keys();
		if (this.#heard.size > MOST_HEARD && oldest !== undefined) this.#heard.delete(oldest);
		for (const listener of this.#listeners)
			listener({ conversation, turn, index, offset: soFar.length, text: more });
	}

	/** A turn has ended, on any gateway: later pieces are ignored. */
	endHeard(conversation: string, turn: string): void {
		if (this.#heard.get(conversation)?.turn === turn) this.#heard.delete(conversation);
		this.#ended.add(turn);
		const [oldest] = this.#ended;
		if (this.#ended.size > MOST_HEARD && oldest !== undefined) this.#ended.delete(oldest);
	}

	partial(conversation: string): PartialAnswer | null {
		const written = this.#partial.get(conversation) ?? this.#heard.get(conversation);
		return written ? { turn: written.turn, index: written.index, text: written.text } : null;
	}

	/** Answers written on this gateway, by conversation. */
	own(): ReadonlyMap<string, Written> {
		return this.#partial;
	}

	listen(listener: (delta: Delta) => void): () => void {
		this.#listeners.add(listener);
		if (this.#listeners.size === 1) this.#tellFollowed();
		return () => {
			this.#listeners.delete(listener);
			if (this.#listeners.size === 0) this.#tellFollowed();
		};
	}

	/** Only text written on this gateway. */
	onOwn(listener: (delta: RelayedDelta) => void): () => void {
		this.#own.add(listener);
		return () => this.#own.delete(listener);
	}

	/** A turn on this gateway ends: no more of its text follows. */
	onEnding(listener: (turn: string) => void): () => void {
		this.#ending.add(listener);
		return () => this.#ending.delete(listener);
	}

	/** Whether anyone listens here: now, and on every change. */
	onFollowed(listener: (isFollowed: boolean) => void): () => void {
		this.#followed.add(listener);
		listener(this.#listeners.size > 0);
		return () => this.#followed.delete(listener);
	}

	#tellFollowed(): void {
		for (const listener of this.#followed) listener(this.#listeners.size > 0);
	}
}

function textSoFar(before: Written | undefined, { turn, token, index }: Omit<Written, "text">): string {
	const isSame = before?.turn === turn && before.token === token && before.index === index;
	return isSame ? before.text : "";
}
