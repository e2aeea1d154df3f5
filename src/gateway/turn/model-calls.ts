// A turn's model calls and their cost, one row each, including failed ones.
import type { Usage } from "../../agents/index.ts";
import type { Store } from "../../store/index.ts";
import type { TurnStart } from "./start.ts";

type ModelCall = NonNullable<Parameters<Store["endTurn"]>[0]["calls"]>[number];

export class ModelCalls {
	readonly #store: Store;
	readonly #start: TurnStart;
	/** Not yet known to be written. */
	readonly #unwritten = new Set<ModelCall>();
	/** On their way with the end of the turn. */
	readonly #ending = new Set<ModelCall>();
	#count = 0;

	constructor(store: Store, start: TurnStart) {
		this.#store = store;
		this.#start = start;
	}

	/**
	 * Not awaited here: it shares the next commit, and the end of the turn includes it if it is still missing. A turn that ends at once
	 * needs no other write.
	 */
	record(usage: Usage, status: "ok" | "error", { aside = false }: { readonly aside?: boolean } = {}): void {
		const { turn, token, attempt } = this.#start;
		const call = {
			n: (attempt - 1) * 100_000 + ++this.#count,
			...usage,
			status,
			...(aside && { aside }),
		};
		this.#unwritten.add(call);
		setImmediate(() => {
			if (this.#ending.has(call)) return;
			void this.#store.recordModelCall({ turn, token, ...call }).then(
				() => this.#unwritten.delete(call),
				() => undefined,
			);
		});
	}

	recordFailure(provider: string, how: { readonly aside?: boolean } = {}): void {
		const nothing = { model: "", inputTokens: 0, outputTokens: 0, costMicros: 0, currency: "USD" };
		this.record({ provider, ...nothing }, "error", how);
	}

	/** For the end of the turn: writing one twice stores it once. */
	unwritten(): readonly ModelCall[] {
		for (const call of this.#unwritten) this.#ending.add(call);
		return [...this.#unwritten];
	}
}
