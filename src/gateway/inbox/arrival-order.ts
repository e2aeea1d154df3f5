// Preserves the arrival order of concurrent work: messages are prepared in parallel and continue one by one.

export class ArrivalOrder {
	/** Returns void on purpose: a result that referenced the previous one would keep every message in memory. */
	#last: Promise<void> = Promise.resolve();

	/** Resolves with the value after all earlier ones. A failure blocks nobody. */
	async pass<Value>(prepared: Promise<Value>): Promise<Value> {
		const before = this.#last;
		this.#last = Promise.allSettled([before, prepared]).then(() => {});
		await before;
		return prepared;
	}
}
