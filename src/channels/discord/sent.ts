// What was sent from here, by the nonce of its delivery. Discord tells everybody of each new message, its author too, with the nonce: that
// settles a request whose answer was lost.
import { createHash } from "node:crypto";

/** How many of its own messages a channel remembers. */
const REMEMBERED = 5000;
/** The longest that Discord takes. */
const NONCE_LENGTH = 25;

export class SentMessages {
	readonly #byNonce = new Map<string, string>();
	readonly #nonceOf = new Map<string, string>();
	readonly #waiting = new Set<() => void>();

	/** Deliveries whose message was deleted: what is sent after that is another one. */
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

	/** Whether it is known which delivery this message is. */
	isKnown(message: string): boolean {
		return this.#nonceOf.has(message);
	}

	/** Calls at each message that becomes known; answers how to end that. */
	onAdded(look: () => void): () => void {
		this.#waiting.add(look);
		return () => void this.#waiting.delete(look);
	}
}
