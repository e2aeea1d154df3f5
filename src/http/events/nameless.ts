// Streaming text for followers who must not see names of secrets (I12). A name may come in pieces, so the start of one is held back until
// it is known what it becomes, and released at the end of its message. Positions count the text as it is shown.
import { conversationId } from "../../domain/index.ts";
import type { Delta, Gateway } from "../../gateway/index.ts";
import { NameStream } from "../../secrets/index.ts";

interface Message {
	readonly turn: string;
	readonly index: number;
	readonly hiding: NameStream;
	/** Where the text ends as it was written, and as it was shown. */
	written: number;
	shown: number;
}

export class Nameless {
	readonly #partial: Gateway["partial"];
	/** The message being written, by conversation. */
	readonly #messages = new Map<string, Message>();

	constructor(partial: Gateway["partial"]) {
		this.#partial = partial;
	}

	/** What can be shown now, in order: the rest of the message before, and a part of this one. */
	take(delta: Delta): Delta[] {
		const { conversation, turn, index, offset, text } = delta;
		const before = this.#messages.get(conversation);
		const isSame = before?.turn === turn && before.index === index;
		const rest = before && !isSame ? this.finish({ conversation, ...before }) : [];
		const message = isSame && before.written === offset ? before : this.#begun(delta);
		if (!message) return rest;
		this.#messages.set(conversation, message);
		const shown = message.hiding.push(text);
		const at = message.shown;
		message.written += text.length;
		message.shown += shown.length;
		if (shown === "") return rest;
		// The same object is serialised once for all followers.
		return [...rest, shown === text && at === offset ? delta : { ...delta, offset: at, text: shown }];
	}

	/** Ends a message: its held text is released. */
	finish({ conversation, turn, index }: Pick<Delta, "conversation" | "turn" | "index">): Delta[] {
		const message = this.#messages.get(conversation);
		if (message?.turn !== turn || message.index !== index) return [];
		this.#messages.delete(conversation);
		const text = message.hiding.end();
		return text === "" ? [] : [{ conversation, turn, index, offset: message.shown, text }];
	}

	/** A turn has ended: what it held back of a message without a row is void. */
	forget(conversation: string, turn: string): void {
		if (this.#messages.get(conversation)?.turn === turn) this.#messages.delete(conversation);
	}

	clear(): void {
		this.#messages.clear();
	}

	/** A message that was not followed from its start, or starts again. Null if its start is unknown: then its row shows it. */
	#begun({ conversation, turn, index, offset }: Delta): Message | null {
		const hiding = new NameStream();
		if (offset === 0) return { turn, index, hiding, written: 0, shown: 0 };
		const partial = this.#partial(conversationId(conversation));
		if (partial?.turn !== turn || partial.index !== index) return null;
		return {
			turn,
			index,
			hiding,
			written: offset,
			shown: hiding.push(partial.text.slice(0, offset)).length,
		};
	}
}

/** The text so far, without an end that may still become a name. */
export function namelessSoFar(text: string): string {
	return new NameStream().push(text);
}
