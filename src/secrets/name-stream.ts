// Removes names of secrets from text that comes in pieces, as if it had come whole. Holds back a dozen characters at most: the longest start
// of a name that may still become something else.
import { HIDDEN } from "./hider.ts";

/** The start of a name, also escaped by markup, once or twice; `SECRET_NAME` has the rest. */
const OPENING = /\\{0,2}\$\\{0,2}\{secret:/;
/** The first part of that, at the end of a text. */
const BEGUN = /(?:\\{0,2}\$\\{0,2}(?:\{(?:s(?:e(?:c(?:r(?:et?)?)?)?)?)?)?|\\{1,2})$/;
const LONGEST_BEGUN = "\\\\$\\\\{secret".length;
/** Inside a name: its characters, then its end. Backslashes at the end of a text may belong to either. */
const INSIDE = /^(?:\w|\\{1,2}_)*/;
const CLOSING = /^\\{0,2}\}/;
const MAY_CLOSE = /^\\{0,2}$/;

export class NameStream {
	#held = "";
	/** A name has begun, and was replaced; its end has not come. */
	#isInside = false;

	push(text: string): string {
		// Most text has nothing to do with a name.
		if (this.#held === "" && !this.#isInside && !/[$\\]/.test(text)) return text;
		let rest = this.#held + text;
		let shown = "";
		this.#held = "";
		for (;;) {
			if (this.#isInside) {
				rest = rest.slice(INSIDE.exec(rest)?.[0].length ?? 0);
				if (MAY_CLOSE.test(rest)) {
					this.#held = rest;
					return shown;
				}
				rest = rest.slice(CLOSING.exec(rest)?.[0].length ?? 0);
				this.#isInside = false;
			}
			const opening = OPENING.exec(rest);
			if (!opening) break;
			shown += rest.slice(0, opening.index) + HIDDEN;
			rest = rest.slice(opening.index + opening[0].length);
			this.#isInside = true;
		}
		this.#held = BEGUN.exec(rest.slice(-LONGEST_BEGUN))?.[0] ?? "";
		return shown + rest.slice(0, rest.length - this.#held.length);
	}

	/** The held rest is no name. */
	end(): string {
		const held = this.#held;
		this.#held = "";
		this.#isInside = false;
		return held;
	}
}
