// Work of one chat is done one after the other, chats side by side, so that a large file holds up its own chat alone.

export class Lanes {
	readonly #tails = new Map<string, Promise<void>>();
	/** What every lane waits for that is empty now. */
	#gate: Promise<void> = Promise.resolve();

	/** Nothing that comes after this is begun before the gate opens. */
	holdUntil(gate: Promise<void>): void {
		this.#gate = gate;
	}

	/** The job never rejects. */
	run(chat: string, job: () => Promise<void>): Promise<void> {
		const tail = (this.#tails.get(chat) ?? this.#gate).then(job);
		this.#tails.set(chat, tail);
		void tail.then(() => {
			if (this.#tails.get(chat) === tail) this.#tails.delete(chat);
		});
		return tail;
	}

	/** Resolves when nothing is under way. */
	async idle(): Promise<void> {
		while (this.#tails.size > 0) await Promise.all(this.#tails.values());
	}
}
