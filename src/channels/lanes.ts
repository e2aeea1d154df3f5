// Serial per chat, chats in parallel, so that a large file delays only its own chat.

export class Lanes {
	readonly #tails = new Map<string, Promise<void>>();
	/** Held work, in order; null: nothing is held. */
	#held: (() => void)[] | null = null;

	/** Work passed to `run` after this starts only after `letGo`. */
	hold(): void {
		this.#held ??= [];
	}

	letGo(): void {
		const held = this.#held ?? [];
		this.#held = null;
		for (const go of held) go();
	}

	/** The job never rejects. */
	run(chat: string, job: () => Promise<void>): Promise<void> {
		const held = this.#held;
		if (!held) return this.runAhead(chat, job);
		return new Promise((resolve) => void held.push(() => void this.runAhead(chat, job).then(resolve)));
	}

	/** Before all held work of this chat. The job never rejects. */
	runAhead(chat: string, job: () => Promise<void>): Promise<void> {
		const tail = (this.#tails.get(chat) ?? Promise.resolve()).then(job);
		this.#tails.set(chat, tail);
		void tail.then(() => {
			if (this.#tails.get(chat) === tail) this.#tails.delete(chat);
		});
		return tail;
	}

	/** Resolves when nothing is running. */
	async idle(): Promise<void> {
		while (this.#tails.size > 0) await Promise.all(this.#tails.values());
	}
}
