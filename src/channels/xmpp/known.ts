// The newest messages, by the ids used to refer to them: corrections use the sender's id; replies and reactions in a room use the room's.

/** Of all chats together. */
const MOST = 3000;

export interface KnownMessage {
	/** The gateway's id; for our own messages, the receipt. */
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
