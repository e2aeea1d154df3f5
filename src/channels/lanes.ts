// Work of one chat is done one after the other, chats side by side, so that a large file holds up its own chat alone.

export class Lanes {
	readonly #tails = new Map<string, Promise<void>>();
	/** What waits until it is let go, in order; null: nothing waits. */
	#held: (() => void)[] | null = null;

	/** Nothing that is given to `run` after this is begun before `letGo`. */
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

	/** Before everything of this chat that is held. The job never rejects. */
	runAhead(chat: string, job: () => Promise<void>): Promise<void> {
		const tail = (this.#tails.get(chat) ?? Promise.resolve()).then(job);
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
