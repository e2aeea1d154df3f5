// Sent messages by the nonce of their delivery. Discord reports each new message to everyone, including its author, with the nonce: that
// settles a request whose answer was lost.
import { createHash } from "node:crypto";

/** How many of its own messages a channel remembers. */
const REMEMBERED = 5000;
/** Discord's longest nonce. */
const NONCE_LENGTH = 25;

export class SentMessages {
	readonly #byNonce = new Map<string, string>();
	readonly #nonceOf = new Map<string, string>();
	readonly #waiting = new Set<() => void>();

	/** Deliveries whose message was deleted: a later send is another message. */
	readonly #lost = new Map<string, string>();

	/** The same at every attempt, and after a restart. A delivery of several messages has several. */
	nonceOf(delivery: string, part = 0): string {
		const name = [delivery, this.#lost.get(delivery) ?? "", ...(part === 0 ? [] : [part])].join("#");
		return createHash("sha256").update(name).digest("base64url").slice(0, NONCE_LENGTH);
	}

	lost(delivery: string, receipt: string): void {
		this.#lost.set(delivery, receipt);
		for (const oldest of this.#lost.keys()) {
			if (this.#lost.size <= REMEMBERED) return;
			this.#lost.delete(oldest);
		}
	}

	add(nonce: string, message: string): void {
		this.#byNonce.set(nonce, message);
		this.#nonceOf.set(message, nonce);
		for (const [oldest, of] of this.#byNonce) {
			if (this.#byNonce.size <= REMEMBERED) break;
			this.#byNonce.delete(oldest);
			this.#nonceOf.delete(of);
		}
		for (const look of [...this.#waiting]) look();
	}

	find(nonce: string): string | undefined {
		return this.#byNonce.get(nonce);
	}

	/** Whether this message's delivery is known. */
	isKnown(message: string): boolean {
		return this.#nonceOf.has(message);
	}

	/** Calls back for each message that becomes known; returns the unsubscribe function. */
	onAdded(look: () => void): () => void {
		this.#waiting.add(look);
		return () => void this.#waiting.delete(look);
	}
}
