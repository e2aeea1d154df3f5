// Somebody who presses the buttons of questions: one of them, sometimes twice at once, sometimes both.

export class Presser {
	readonly #random: () => number;
	readonly #pressed = new Set<string>();
	/** How many presses there were. */
	count = 0;

	constructor(random: () => number) {
		this.#random = random;
	}

	/** Forgets what was pressed: a press may have been lost with the gateway, and people press again. */
	again(): void {
		this.#pressed.clear();
	}

	/** Presses the buttons of a question once; does nothing for a message without both. */
	press(
		question: string,
		[yes, no]: readonly { readonly id: string }[],
		press: (button: string) => unknown,
	): void {
		if (!yes || !no || this.#pressed.has(question)) return;
		this.#pressed.add(question);
		const pressed = this.#random() < 0.7 ? [yes] : [no];
		if (this.#random() < 0.3) pressed.push(this.#random() < 0.5 ? yes : no);
		for (const { id } of pressed) {
			this.count++;
			// The answer to a press may be lost with a kill, so nobody waits for it.
			void press(id);
		}
	}
}
