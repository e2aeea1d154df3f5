// How far everything is committed. Slack has no cursor: Keryx keeps the ts up to which nothing is missing, and reads the history from
// there when it comes back. What is under way holds it back, and so does a history that has not been read to its end (I3).

export class Marks {
	/** When this channel first listened: what was said before is not for Keryx. */
	#since = 0;
	#reached = 0;
	readonly #open = new Map<object, number>();
	#isHeld = false;

	/** Null: it listens for the first time. Answers the cursor to keep then. */
	start(cursor: string | null, now: string): string | null {
		this.#open.clear();
		this.#isHeld = false;
		const [since = now, reached = since] = cursor === null ? [] : cursor.split(" ");
		this.#since = Number(since);
		this.#reached = Number(reached);
		return cursor === null ? this.#cursorAt(now) : null;
	}

	/** Where the history is read from; `overlap` in seconds. */
	from(overlap: number): number {
		return Math.max(this.#since, this.#reached - overlap);
	}

	/** Something may be missing: until `release` the cursor stays where it is. */
	hold(): void {
		this.#isHeld = true;
	}

	release(): void {
		this.#isHeld = false;
	}

	/** From now on this ts is under way. */
	begin(holder: object, ts: string): void {
		this.#open.set(holder, Number(ts));
	}

	/** The cursor to commit together with what this holder brings; undefined where something before it is still under way. */
	cursorOf(holder: object, ts: string): string | undefined {
		const own = this.#open.get(holder);
		if (this.#isHeld || own === undefined || own <= this.#reached) return undefined;
		for (const [other, at] of this.#open) if (other !== holder && at <= own) return undefined;
		return this.#cursorAt(ts);
	}

	/** It is committed, and the cursor with it where it had one. */
	end(holder: object, cursor?: string): void {
		const own = this.#open.get(holder);
		this.#open.delete(holder);
		if (cursor !== undefined && own !== undefined) this.#reached = Math.max(this.#reached, own);
	}

	#cursorAt(ts: string): string {
		return `${this.#since.toFixed(6)} ${ts}`;
	}
}
