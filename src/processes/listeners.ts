/** Subscribers of an event. */
export class Listeners<Args extends readonly unknown[]> {
	readonly #all = new Set<(...args: Args) => void>();

	/** Returns the unsubscribe function. */
	readonly add = (listener: (...args: Args) => void): (() => void) => {
		this.#all.add(listener);
		return () => void this.#all.delete(listener);
	};

	tell(...args: Args): void {
		for (const listener of this.#all) listener(...args);
	}
}
