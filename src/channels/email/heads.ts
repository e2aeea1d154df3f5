// Earlier mails by their id: those of this run are remembered, older ones are asked for.
import type { Desk, Head } from "./desk.ts";

const MOST = 500;

export class Heads {
	readonly #desk: Pick<Desk, "find" | "firstOf">;
	readonly #known = new Map<string, Head>();

	constructor(desk: Pick<Desk, "find" | "firstOf">) {
		this.#desk = desk;
	}

	/** The first one with an id counts. */
	add(id: string, head: Head): void {
		const known = this.#known.get(id) ?? head;
		this.#known.delete(id);
		this.#known.set(id, known);
		const [oldest] = this.#known.keys();
		if (this.#known.size > MOST && oldest !== undefined) this.#known.delete(oldest);
	}

	async find(id: string): Promise<Head | null> {
		const known = this.#known.get(id);
		if (known) return known;
		const found = await this.#desk.find(id);
		if (found) this.add(id, found);
		return found;
	}

	firstOf(root: string): Promise<Head | null> {
		return this.#desk.firstOf(root);
	}
}
