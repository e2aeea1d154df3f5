// Earlier mails by their id: those of this run are remembered, older ones are asked for.
import type { Desk, Head } from "./desk.ts";

const MOST = 500;

export class Heads {
	readonly #desk: Pick<Desk, "find" | "newestOf">;
	readonly #known = new Map<string, Head>();

	constructor(desk: Pick<Desk, "find" | "newestOf">) {
		this.#desk = desk;
	}

	add(id: string, head: Head): void {
		this.#known.delete(id);
		this.#known.set(id, head);
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

	newestOf(root: string): Promise<Head | null> {
		return this.#desk.newestOf(root);
	}
}
