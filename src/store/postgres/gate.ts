// Many at once, or one alone; in the order in which they came.

export class Gate {
	readonly #waiting: { readonly isAlone: boolean; readonly enter: () => void }[] = [];
	#inside = 0;
	#isHeld = false;

	/** Beside others. */
	beside<Result>(work: () => Promise<Result>): Promise<Result> {
		return this.#pass(false, work);
	}

	/** When everybody else has left, and until it is done nobody else enters. */
	alone<Result>(work: () => Promise<Result>): Promise<Result> {
		return this.#pass(true, work);
	}

	async #pass<Result>(isAlone: boolean, work: () => Promise<Result>): Promise<Result> {
		if (this.#waiting.length > 0 || !this.#admits(isAlone))
			await new Promise<void>((enter) => this.#waiting.push({ isAlone, enter }));
		else this.#enter(isAlone);
		try {
			return await work();
		} finally {
			this.#inside--;
			if (isAlone) this.#isHeld = false;
			this.#admitNext();
		}
	}

	#admits(isAlone: boolean): boolean {
		return !this.#isHeld && (!isAlone || this.#inside === 0);
	}

	#enter(isAlone: boolean): void {
		this.#inside++;
		this.#isHeld = isAlone;
	}

	#admitNext(): void {
		for (let next = this.#waiting[0]; next && this.#admits(next.isAlone); next = this.#waiting[0]) {
			this.#waiting.shift();
			this.#enter(next.isAlone);
			next.enter();
		}
	}
}
