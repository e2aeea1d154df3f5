// A period in which nobody listened: the chats whose history was read since, and those that could not be read yet.

export class Gap {
	readonly #through = new Set<string>();
	/** With the reason: their events continue. */
	readonly #failed = new Map<string, unknown>();
	readonly #waiting = new Map<string, (() => void)[]>();

	isThrough(chat: string): boolean {
		return this.#through.has(chat);
	}

	/** Whether the chat's events need not wait: it was read, or cannot be read now. */
	isTried(chat: string): boolean {
		return this.#through.has(chat) || this.#failed.has(chat);
	}

	/** Resolves when the chat was read, by whomever, or could not be read. */
	tried(chat: string): Promise<void> {
		if (this.isTried(chat)) return Promise.resolve();
		return new Promise((resolve) => {
			const waiting = this.#waiting.get(chat) ?? [];
			waiting.push(resolve);
			this.#waiting.set(chat, waiting);
		});
	}

	read(chat: string): void {
		this.#through.add(chat);
		this.#settle(chat);
	}

	failed(chat: string, error: unknown): void {
		this.#failed.set(chat, error);
		this.#settle(chat);
	}

	/** Chats that could not be read are tried again. */
	again(): void {
		this.#failed.clear();
	}

	throwFailure(): void {
		for (const error of this.#failed.values()) throw error;
	}

	#settle(chat: string): void {
		for (const resolve of this.#waiting.get(chat) ?? []) resolve();
		this.#waiting.delete(chat);
	}
}
