// What a turn's model calls were and cost, one row each, also of those that failed.
import type { Usage } from "../../agents/index.ts";
import type { Store } from "../../store/index.ts";
import type { TurnStart } from "./start.ts";

type ModelCall = NonNullable<Parameters<Store["endTurn"]>[0]["calls"]>[number];

export class ModelCalls {
	readonly #store: Store;
	readonly #start: TurnStart;
	/** Of which nobody has heard yet that they are written. */
	readonly #unwritten = new Set<ModelCall>();
	#count = 0;

	constructor(store: Store, start: TurnStart) {
		this.#store = store;
		this.#start = start;
	}

	/** Not awaited here: it shares the commit of what follows, and the end of the turn brings it along where it has not been. */
	record(usage: Usage, status: "ok" | "error", { aside = false }: { readonly aside?: boolean } = {}): void {
		const { turn, token, attempt } = this.#start;
		const call = {
			n: (attempt - 1) * 100_000 + ++this.#count,
			...usage,
			status,
			...(aside && { aside }),
		};
		this.#unwritten.add(call);
		void this.#store.recordModelCall({ turn, token, ...call }).then(
			() => this.#unwritten.delete(call),
			() => undefined,
		);
	}

	recordFailure(provider: string, how: { readonly aside?: boolean } = {}): void {
		const nothing = { model: "", inputTokens: 0, outputTokens: 0, costMicros: 0, currency: "USD" };
		this.record({ provider, ...nothing }, "error", how);
	}

	/** For the end of the turn: one that is written twice is there once. */
	unwritten(): readonly ModelCall[] {
		return [...this.#unwritten];
	}
}
