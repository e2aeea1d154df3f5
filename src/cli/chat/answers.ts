// Prints streaming answers. Printed text is never taken back: a piece is printed only when finished, one message after another, and a
// final text that does not continue what was printed is printed whole, after a mark that says so.
import type { EventOf } from "./events.ts";
import { type Piece, PieceSplitter } from "./split.ts";

export type Print =
	| { readonly kind: "piece"; readonly source: string; readonly apart: boolean }
	/** Replaces what was printed before: the final text differs, or the turn restarted. */
	| { readonly kind: "correction" | "restart" };

interface Message {
	readonly turn: string;
	readonly splitter: PieceSplitter;
	received: string;
	/** Part of it was printed. */
	isBegun: boolean;
}

/** How many finished messages are remembered, so that none is printed twice. */
const REMEMBERED = 500;

export class Answers {
	/** In order of their first words. Only the first is printed; the others wait for its end. */
	readonly #running = new Map<string, Message>();
	readonly #finished = new Map<string, string>();

	/** The known but unprinted part of the current message. */
	get open(): Piece & { readonly isInFence: boolean } {
		const [head] = this.#running.values();
		if (!head) return { source: "", apart: false, isInFence: false };
		const { open, isInFence } = head.splitter;
		return { source: open.source, apart: !head.isBegun || open.apart, isInFence };
	}

	/** Known text is ignored; after a gap the message waits for the missing text, or for its end. */
	delta({ turn, index, offset, text }: EventOf<"delta">): Print[] {
		const key = keyOf(turn, index);
		if (this.#finished.has(key)) return [];
		const message = this.#running.get(key) ?? {
			turn,
			splitter: new PieceSplitter(),
			received: "",
			isBegun: false,
		};
		if (offset > message.received.length) return [];
		this.#running.set(key, message);
		message.received += text.slice(message.received.length - offset);
		return this.#feed();
	}

	answer({ turn, index, text }: EventOf<"answer">): Print[] {
		const key = index === null ? this.#keyFor(turn, text) : keyOf(turn, index);
		if (key === undefined) return whole(text);
		const before = this.#finished.get(key);
		if (before !== undefined) {
			this.#remember(key, text);
			return before === text ? [] : corrected(text);
		}
		const message = this.#running.get(key);
		if (!message) {
			this.#remember(key, text);
			return whole(text);
		}
		const prints = this.#closeUntil(key);
		this.#running.delete(key);
		this.#remember(key, text);
		return [...prints, ...rest(message, text), ...this.#feed()];
	}

	/** The turn restarts from its last finished message: streamed text of the next one is void. */
	restart(turn: string): Print[] {
		const prints: Print[] = [];
		for (const [key, message] of [...this.#running]) {
			if (message.turn !== turn) continue;
			this.#running.delete(key);
			if (message.isBegun) prints.push(...rest(message, message.received), { kind: "restart" });
		}
		return [...prints, ...this.#feed()];
	}

	/** Nothing more comes from this turn: unfinished streamed text stays. */
	end(turn: string): Print[] {
		const keys = [...this.#running].filter(([, message]) => message.turn === turn).map(([key]) => key);
		return [...keys.flatMap((key) => this.#close(key)), ...this.#feed()];
	}

	/** The same for everything. */
	endAll(): Print[] {
		return [...this.#running.keys()].flatMap((key) => this.#close(key));
	}

	#feed(): Print[] {
		const [head] = this.#running.values();
		if (!head) return [];
		return head.splitter.add(head.received.slice(head.splitter.source.length)).map((piece) => {
			const apart = !head.isBegun || piece.apart;
			head.isBegun = true;
			return { kind: "piece", source: piece.source, apart };
		});
	}

	#closeUntil(key: string): Print[] {
		const prints: Print[] = [];
		for (const other of [...this.#running.keys()]) {
			if (other === key) break;
			prints.push(...this.#close(other));
		}
		return prints;
	}

	#close(key: string): Print[] {
		const message = this.#running.get(key);
		if (!message) return [];
		this.#running.delete(key);
		this.#remember(key, message.received);
		return rest(message, message.received);
	}

	/** A message without a known position is the one streamed with these words. */
	#keyFor(turn: string, text: string): string | undefined {
		for (const [key, message] of this.#running)
			if (message.turn === turn && text.startsWith(message.received)) return key;
		return undefined;
	}

	#remember(key: string, text: string): void {
		this.#finished.delete(key);
		this.#finished.set(key, text);
		const [oldest] = this.#finished.keys();
		if (this.#finished.size > REMEMBERED && oldest !== undefined) this.#finished.delete(oldest);
	}
}

/** The unprinted rest of a message whose final text is known. */
function rest({ splitter, isBegun }: Message, text: string): Print[] {
	const printed = splitter.source.slice(0, splitter.given);
	// Leading white space may be missing from the stored text.
	const start = [printed, printed.trimStart()].find((one) => text.startsWith(one));
	if (start === undefined) return corrected(text);
	const source = text.slice(start.length);
	if (source.trim() === "") return [];
	return [{ kind: "piece", source, apart: !isBegun || splitter.open.apart }];
}

function whole(text: string): Print[] {
	return text.trim() === "" ? [] : [{ kind: "piece", source: text, apart: true }];
}

function corrected(text: string): Print[] {
	return [{ kind: "correction" }, ...whole(text)];
}

function keyOf(turn: string, index: number): string {
	return `${index} ${turn}`;
}
