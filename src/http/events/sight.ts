// What a person other than the operator may see of live events.
import { type ConversationId, conversationId } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import type { Scope, Store } from "../../store/index.ts";
import type { Frame } from "./frame.ts";

/** A person's view of the log: only events and texts of their own conversations. */
export class Sight {
	readonly #store: Pick<Store, "conversation">;
	readonly #scope: Scope;
	/** Cleared by events that may change the answer. */
	readonly #known = new Map<string, boolean>();

	constructor(store: Pick<Store, "conversation">, scope: Scope) {
		this.#store = store;
		this.#scope = scope;
	}

	async seenOf(frames: readonly Frame[]): Promise<Frame[]> {
		const seen: Frame[] = [];
		for (const frame of frames) {
			if (frame.kind === "event" && CHANGES_SIGHT.test(frame.event.type)) this.#known.clear();
			const of =
				frame.kind === "event"
					? frame.event.conversation
					: frame.kind === "delta"
						? frame.delta.conversation
						: null;
			const isTheirs =
				of === null ? frame.kind === "hello" || frame.kind === "resync" : await this.sees(conversationId(of));
			if (isTheirs) seen.push(frame);
		}
		return seen;
	}

	async sees(id: ConversationId): Promise<boolean> {
		const known = this.#known.get(id);
		if (known !== undefined) return known;
		const sees = await this.#store.conversation({ scope: this.#scope, ref: { id } }).then(
			() => true,
			(error: unknown) => {
				if (error instanceof KeryxError && error.code === "store.not_found") return false;
				throw error;
			},
		);
		if (this.#known.size >= MOST_KNOWN) this.#known.clear();
		this.#known.set(id, sees);
		return sees;
	}
}

const CHANGES_SIGHT = /^(?:principal\.|conversation\.(?:state|deleted|created|imported)$)/;
const MOST_KNOWN = 10_000;
