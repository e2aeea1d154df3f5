// Read receipts: people see that Keryx has stored their message. Only the newest of a room is sent; one that fails is replaced by the next.
import { type Api, path } from "./api.ts";

export class Receipts {
	readonly #onError: (error: unknown) => void;
	/** The newest not sent yet, by room; null: one is on its way. */
	readonly #next = new Map<string, string | null>();

	constructor(onError: (error: unknown) => void) {
		this.#onError = onError;
	}

	read(room: string, event: string, api: Api): void {
		const isSending = this.#next.has(room);
		this.#next.set(room, event);
		if (!isSending) void this.#send(room, api);
	}

	async #send(room: string, api: Api): Promise<void> {
		for (let event = this.#next.get(room); typeof event === "string"; event = this.#next.get(room)) {
			this.#next.set(room, null);
			try {
				await api.post(path`/_matrix/client/v3/rooms/${room}/receipt/m.read/${event}`, {});
			} catch (error) {
				this.#onError(error);
			}
		}
		this.#next.delete(room);
	}
}
