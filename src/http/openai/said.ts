// What a client has received of an answer. Streaming text comes first, and may be missed or restarted; the rows and the reply have the
// last word: missing text is added, and nothing is repeated.
import type { Delta } from "../../gateway/index.ts";

export class Said {
	readonly #parts = new Map<number, string>();
	/** Messages that started again with other text: the row has the final one. */
	readonly #rewritten = new Set<number>();
	#all = "";

	*delta({ index, offset, text }: Pick<Delta, "index" | "offset" | "text">): Generator<string> {
		const known = this.#parts.get(index) ?? "";
		if (offset > known.length || this.#rewritten.has(index)) return;
		const again = text.slice(0, known.length - offset);
		if (known.startsWith(again, offset)) yield* this.#add(index, text.slice(again.length));
		else this.#rewritten.add(index);
	}

	/** A message of the turn as recorded. */
	*row(index: number, text: string): Generator<string> {
		const known = this.#parts.get(index) ?? "";
		yield* this.#add(index, text.startsWith(known) ? text.slice(known.length) : `\n\n${text}`);
	}

	/** The reply consists of the messages: if one was sent, nothing is missing; it stands for all if none has text. */
	*rest(reply: string): Generator<string> {
		if (this.#all.trim() !== "" || reply === "") return;
		this.#all += reply;
		yield reply;
	}

	get all(): string {
		return this.#all;
	}

	*#add(index: number, text: string): Generator<string> {
		if (text === "") return;
		const isNew = !this.#parts.has(index) && this.#all.trim() !== "";
		const piece = isNew ? `\n\n${text}` : text;
		this.#parts.set(index, (this.#parts.get(index) ?? "") + text);
		this.#all += piece;
		yield piece;
	}
}
