// The newest messages by the ids that others call them by: a correction names the sender's id, a reply or a reaction in a room the room's.

/** Of all chats together. */
const MOST = 3000;

export interface KnownMessage {
	/** As the gateway knows it; of our own messages, the receipt. */
	readonly platformMessage: string;
	/** The person's id; undefined: Keryx. */
	readonly sender: string | undefined;
	/** The name to quote them by. */
	readonly author: string;
	readonly text: string;
}

export class Known {
	readonly #messages = new Map<string, KnownMessage>();

	note(chat: string, ids: readonly (string | undefined)[], message: KnownMessage): void {
		for (const id of ids) {
			if (id === undefined || id === "") continue;
			const key = keyOf(chat, id);
			this.#messages.delete(key);
			this.#messages.set(key, message);
		}
		for (const [oldest] of this.#messages) {
			if (this.#messages.size <= MOST) break;
			this.#messages.delete(oldest);
		}
	}

	find(chat: string, id: string): KnownMessage | undefined {
		return this.#messages.get(keyOf(chat, id));
	}
}

function keyOf(chat: string, id: string): string {
	return `${chat}\0${id}`;
}
