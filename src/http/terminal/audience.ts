// All viewers of a terminal share its size; the program gets its own back when the last viewer who changed it leaves.
import { fitTerminal, type ProcessBackend, type PtySize, resizeTerminal } from "../../processes/index.ts";

interface Looking {
	tellSize(size: PtySize): void;
}

export class Audiences {
	readonly #audiences = new Map<string, Audience>();

	/** `size`: from its host. */
	enter(id: string, size: PtySize, who: Looking): Audience {
		const audience = this.#audiences.get(id) ?? new Audience(id, size);
		this.#audiences.set(id, audience);
		audience.enter(who);
		return audience;
	}

	/** The size to restore, or null. */
	leave(id: string, who: Looking): PtySize | null {
		const audience = this.#audiences.get(id);
		const back = audience?.leave(who) ?? null;
		if (audience?.isEmpty) this.#audiences.delete(id);
		return back;
	}
}

export class Audience {
	readonly #id: string;
	readonly #before: PtySize;
	readonly #looking = new Set<Looking>();
	readonly #sizing = new Set<Looking>();
	#size: PtySize;

	constructor(id: string, size: PtySize) {
		this.#id = id;
		this.#before = size;
		this.#size = size;
	}

	get size(): PtySize {
		return this.#size;
	}

	get isEmpty(): boolean {
		return this.#looking.size === 0;
	}

	enter(who: Looking): void {
		this.#looking.add(who);
	}

	/** A new viewer gets a redraw, even if the size stays the same. */
	async resize(backend: ProcessBackend, who: Looking, size: PtySize): Promise<void> {
		const change = this.#sizing.has(who)
			? resizeTerminal(backend, this.#id, size)
			: fitTerminal(backend, this.#id, this.#size, size);
		this.#sizing.add(who);
		await change;
		this.#size = size;
		for (const one of this.#looking) one.tellSize(size);
	}

	leave(who: Looking): PtySize | null {
		this.#looking.delete(who);
		const isLast = this.#sizing.delete(who) && this.#sizing.size === 0;
		if (!isLast) return null;
		this.#size = this.#before;
		for (const one of this.#looking) one.tellSize(this.#before);
		return this.#before;
	}
}
