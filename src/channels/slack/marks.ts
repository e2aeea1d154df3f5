// How far everything is committed. Slack has no cursor: Keryx keeps the ts up to which nothing is missing, and reads the history from
// there when it comes back. What is under way holds it back, and so does a history that has not been read to its end (I3).

export class Marks {
	#reached: string | null = null;
	readonly #open = new Map<object, number>();

	start(cursor: string | null): void {
		this.#reached = cursor;
		this.#open.clear();
	}

	get reached(): string | null {
		return this.#reached;
	}

	/** From now on this ts is under way. */
	begin(holder: object, ts: string): void {
		this.#open.set(holder, Number(ts));
	}

	/** The cursor to commit together with what this holder brings; undefined where something before it is still under way. */
	cursorOf(holder: object, ts: string): string | undefined {
		const own = this.#open.get(holder);
		if (own === undefined || Number(ts) <= Number(this.#reached ?? 0)) return undefined;
		for (const [other, at] of this.#open) if (other !== holder && at <= own) return undefined;
		return ts;
	}

	/** It is committed, and the cursor with it where it had one. */
	end(holder: object, cursor?: string): void {
		this.#open.delete(holder);
		if (cursor !== undefined && Number(cursor) > Number(this.#reached ?? 0)) this.#reached = cursor;
	}
}
