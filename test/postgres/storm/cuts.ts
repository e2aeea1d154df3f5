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
	#underWay = 0;

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
			write: async (name, args, drawn) => {
				const calls = this.#calls.get(name) ?? 0;
				// Others at the same time share its transaction.
				const isCut = this.#underWay++ === 0 && calls < CALLS;
				if (isCut) proxy.sweep(WRITER);
				try {
					return await engine.write(name, args, drawn);
				} finally {
					if (isCut && this.#underWay === 1) this.#calls.set(name, calls + 1);
					if (isCut) {
						this.#made += proxy.swept;
						proxy.sweep(null);
					}
					this.#underWay--;
				}
			},
		};
	}
}
