// Cuts the connection of the writer in each operation: at its first statement, before the server has it and after, then at the next one, and
// so on, until it has been cut everywhere. The operation is made in the end, once.
import type { Engine, WriteName } from "../../../src/store/index.ts";
import type { StatementProxy } from "../../support/statement-proxy.ts";

const WRITER = "keryx writer";
/** Calls of an operation that are cut everywhere: later ones have other statements, where there is more in the store. */
const CALLS = 3;

export class Cuts {
	readonly #calls = new Map<WriteName, number>();
	#made = 0;
	#last: Promise<unknown> = Promise.resolve();

	/** Operations that were cut at every statement. */
	get everywhere(): readonly WriteName[] {
		return [...this.#calls.keys()];
	}

	get made(): number {
		return this.#made;
	}

	on(engine: Engine, proxy: StatementProxy): Engine {
		return {
			epoch: engine.epoch,
			cluster: engine.cluster,
			read: (name, args) => engine.read(name, args),
			onCommit: (listener) => engine.onCommit(listener),
			close: () => engine.close(),
			// One after the other: those that come together would share a transaction.
			write: (name, args, drawn) => {
				const made = this.#last.then(() => this.#cut(name, () => engine.write(name, args, drawn), proxy));
				this.#last = made.catch(() => {});
				return made;
			},
		};
	}

	async #cut(name: WriteName, write: () => Promise<unknown>, proxy: StatementProxy): Promise<unknown> {
		const calls = this.#calls.get(name) ?? 0;
		if (calls >= CALLS) return await write();
		proxy.sweep(WRITER);
		try {
			return await write();
		} finally {
			this.#calls.set(name, calls + 1);
			this.#made += proxy.swept;
			proxy.sweep(null);
		}
	}
}
