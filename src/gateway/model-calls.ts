// What a turn's model calls were and cost, one row each, also of those that failed.
import type { Usage } from "../agents/index.ts";
import type { Store } from "../store/index.ts";
import type { TurnStart } from "./turn-start.ts";

type ModelCall = Parameters<Store["recordModelCall"]>[0];

export class ModelCalls {
	readonly #store: Store;
	readonly #start: TurnStart;
	readonly #calls: { readonly args: ModelCall; written: Promise<unknown> | null }[] = [];

	constructor(store: Store, start: TurnStart) {
		this.#store = store;
		this.#start = start;
	}

	/** Not awaited here: it shares the commit of what follows, and the end of the turn waits for it. */
	record(usage: Usage, status: "ok" | "error", { aside = false }: { readonly aside?: boolean } = {}): void {
		const { turn, token, attempt } = this.#start;
		const n = (attempt - 1) * 100_000 + this.#calls.length + 1;
		const args = { turn, token, n, ...usage, status, ...(aside && { aside }) };
		const written = this.#store.recordModelCall(args);
		written.catch(() => undefined);
		this.#calls.push({ args, written });
	}

	recordFailure(provider: string, how: { readonly aside?: boolean } = {}): void {
		const nothing = { model: "", inputTokens: 0, outputTokens: 0, costMicros: 0, currency: "USD" };
		this.record({ provider, ...nothing }, "error", how);
	}

	/** Written with the end of the turn at the latest; a second attempt writes everything again, which changes nothing. */
	write(): Promise<unknown>[] {
		const writing = this.#calls.map((call) => call.written ?? this.#store.recordModelCall(call.args));
		for (const call of this.#calls) call.written = null;
		return writing;
	}
}
