// The newest of many names.

export class Remembered {
	readonly #most: number;
	readonly #names = new Set<string>();

	constructor(most: number) {
		this.#most = most;
	}

	add(name: string): void {
		this.#names.add(name);
		const [oldest] = this.#names;
		if (this.#names.size > this.#most && oldest !== undefined) this.#names.delete(oldest);
	}

	has(name: string): boolean {
		return this.#names.has(name);
	}
}
