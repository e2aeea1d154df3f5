// Open questions in a terminal's conversation, oldest first. y or n answers the first.

import type { Client, WireConfirmation } from "../http/index.ts";
import { ask, PAGE } from "./commands/confirm/calls.ts";
import { texts } from "./texts.ts";

export class OpenQuestions {
	readonly #client: Client;
	readonly #changed: (words: string | null) => void;
	#waiting: readonly WireConfirmation[] = [];
	#reading: Promise<void> = Promise.resolve();

	/** `changed` gets what the next y or n would answer; null: nothing waits. */
	constructor(client: Client, changed: (words: string | null) => void) {
		this.#client = client;
		this.#changed = changed;
	}

	/** Reads the open questions; serialised, so that an older answer never replaces a newer one. */
	read(conversation: string): Promise<void> {
		this.#reading = this.#reading.then(() => this.#read(conversation));
		return this.#reading;
	}

	/** What was done, in a sentence; null if the text answers nothing and is an ordinary message. */
	async answer(text: string): Promise<string | null> {
		const verb = decisionOf(text);
		const [first] = this.#waiting;
		if (verb === null || !first) return null;
		const { id, action, status } = await ask(this.#client, verb, { id: first.id, body: {} });
		this.#set(this.#waiting.filter((one) => one.id !== id));
		return status === "denied" ? texts.chat.denied(action) : texts.chat.approved(action);
	}

	async #read(conversation: string): Promise<void> {
		const { confirmations } = await ask(this.#client, "confirmList", {
			query: { status: "pending", limit: PAGE },
		});
		this.#set(confirmations.filter((one) => one.conversation === conversation).toReversed());
	}

	#set(waiting: readonly WireConfirmation[]): void {
		this.#waiting = waiting;
		const [first] = waiting;
		const others = waiting.length > 1 ? texts.chat.moreWaiting(waiting.length - 1) : "";
		this.#changed(first ? texts.chat.waiting(first.action, others) : null);
	}
}

function decisionOf(text: string): "confirmApprove" | "confirmDeny" | null {
	if (/^\s*y(?:es)?\s*$/i.test(text)) return "confirmApprove";
	return /^\s*no?\s*$/i.test(text) ? "confirmDeny" : null;
}
