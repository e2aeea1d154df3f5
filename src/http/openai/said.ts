// What of an answer a client has been told. Text on its way comes first, and may be missed or begun anew; the rows and the reply
// that follow have the last word: what is missing is made up for, and nothing is told twice.
import type { Delta } from "../../gateway/index.ts";

export class Said {
	readonly #parts = new Map<number, string>();
	#all = "";

	*delta({ index, offset, text }: Pick<Delta, "index" | "offset" | "text">): Generator<string> {
		const known = this.#parts.get(index)?.length ?? 0;
		if (offset <= known) yield* this.#add(index, text.slice(known - offset));
	}

	/** A message of the turn as it stands in the record. */
	*row(index: number, text: string): Generator<string> {
		const known = this.#parts.get(index) ?? "";
		yield* this.#add(index, text.startsWith(known) ? text.slice(known.length) : `\n\n${text}`);
	}

	/** The reply is made of the messages: where one was told, nothing is missing; it may stand for all where none has any text. */
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
