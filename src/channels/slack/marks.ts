// How far everything is committed. Slack has no cursor: Keryx stores the ts up to which nothing is missing, and reads the history from
// there. Running work and an unfinished history hold it back (I3).

export class Marks {
	/** When this channel first listened: earlier messages are not for Keryx. */
	#since = 0;
	#reached = 0;
	readonly #open = new Map<object, number>();
	#isHeld = false;

	/** Null: it listens for the first time. Returns the cursor to store then. */
	start(cursor: string | null, now: string): string | null {
		this.#open.clear();
		this.#isHeld = false;
		const [since = now, reached = since] = cursor === null ? [] : cursor.split(" ");
		this.#since = Number(since);
		this.#reached = Number(reached);
		return cursor === null ? this.#cursorAt(now) : null;
	}

	/** Where reading the history starts; `overlap` in seconds. */
	from(overlap: number): number {
		return Math.max(this.#since, this.#reached - overlap);
	}

	/** Something may be missing: until `release` the cursor stays. */
	hold(): void {
		this.#isHeld = true;
	}

	release(): void {
		this.#isHeld = false;
	}

	/** This ts is now in progress. */
	begin(holder: object, ts: string): void {
		this.#open.set(holder, Number(ts));
	}

	/** The cursor to commit with this holder's work; undefined if earlier work is still running. */
	cursorOf(holder: object, ts: string): string | undefined {
		const own = this.#open.get(holder);
		if (this.#isHeld || own === undefined || own <= this.#reached) return undefined;
		for (const [other, at] of this.#open) if (other !== holder && at <= own) return undefined;
		return this.#cursorAt(ts);
	}

	/** It is committed, with the cursor if it had one. */
	end(holder: object, cursor?: string): void {
		const own = this.#open.get(holder);
		this.#open.delete(holder);
		if (cursor !== undefined && own !== undefined) this.#reached = Math.max(this.#reached, own);
	}

	#cursorAt(ts: string): string {
		return `${this.#since.toFixed(6)} ${ts}`;
	}
}
