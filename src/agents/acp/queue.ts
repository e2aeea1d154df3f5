// Events from a program to one reader. Events after the end are dropped, and a reader that left blocks nobody.

/** With this many waiting, the program is no longer read. */
const ENOUGH = 256;

export class EventQueue<Event> {
	readonly #waiting: Event[] = [];
	#ended = false;
	#wakeReader = () => {};
	#wakeWriter = () => {};
	/** Resolved while nothing waits and the reader does. */
	#taken = Promise.withResolvers<void>();
	#isTaken = false;

	push(event: Event): void {
		if (this.#ended) return;
		if (this.#isTaken) this.#taken = Promise.withResolvers<void>();
		this.#isTaken = false;
		this.#waiting.push(event);
		this.#wakeReader();
	}

	/** Earlier events are still read. */
	end(): void {
		this.#ended = true;
		this.#wakeReader();
		this.#wakeWriter();
		this.#taken.resolve();
	}

	/** The same, without what waits. */
	abandon(): void {
		this.#waiting.length = 0;
		this.end();
	}

	async room(): Promise<void> {
		while (!this.#ended && this.#waiting.length >= ENOUGH)
			await new Promise<void>((resolve) => {
				this.#wakeWriter = resolve;
			});
	}

	/** Resolves when the reader asks for more: it has handled everything pushed before. Or when this has ended. */
	taken(): Promise<void> {
		return this.#taken.promise;
	}

	async *[Symbol.asyncIterator](): AsyncGenerator<Event> {
		for (;;) {
			const event = this.#waiting.shift();
			if (event !== undefined) {
				this.#wakeWriter();
				yield event;
			} else if (this.#ended) return;
			else {
				this.#isTaken = true;
				this.#taken.resolve();
				await new Promise<void>((resolve) => {
					this.#wakeReader = resolve;
				});
			}
		}
	}
}
