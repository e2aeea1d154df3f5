// What a person other than the operator may see of live events.
import { type ConversationId, conversationId } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import type { Scope, Store } from "../../store/index.ts";
import { type Shown, ShownEvent } from "./frame.ts";

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

	/** Everything new, whatever their filter: some events change what they may see. Null: it is not known what was passed over. */
	hear(all: readonly Shown[] | null): void {
		const isChanged = all?.some((one) => one instanceof ShownEvent && CHANGES_SIGHT.test(one.type)) ?? true;
		if (isChanged) this.#known.clear();
	}

	async seenOf(all: readonly Shown[]): Promise<Shown[]> {
		const seen: Shown[] = [];
		for (const one of all) {
			const { kind, conversation: of } = one;
			const isTheirs =
				of === null ? kind === "hello" || kind === "resync" : await this.sees(conversationId(of));
			if (isTheirs) seen.push(one);
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
