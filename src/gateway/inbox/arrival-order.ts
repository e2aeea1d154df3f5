// Preserves the arrival order of concurrent work: messages are prepared at the same time and go on one after another.

export class ArrivalOrder {
	/** Holds nothing: a result that held the one before it would hold every message there ever was. */
	#last: Promise<void> = Promise.resolve();

	/** The value, after everything that came before has been let through too. A failure keeps nobody waiting. */
	async pass<Value>(prepared: Promise<Value>): Promise<Value> {
		const before = this.#last;
		this.#last = Promise.allSettled([before, prepared]).then(() => {});
		await before;
		return prepared;
	}
}
