// Cuts the connection of the writer in each operation: at its first statement, before the server has it and after, then at the next one, and
// so on with every call of that operation, until it has been cut everywhere.
import type { Engine, WriteName } from "../../../src/store/index.ts";
import type { StatementProxy } from "../../support/statement-proxy.ts";

const WRITER = "keryx writer";

interface Next {
	readonly at: number;
	readonly when: "before" | "after";
	/** The last call had fewer statements; another may have more. */
	readonly isBeyond: boolean;
}

export class Cuts {
	readonly #next = new Map<WriteName, Next>();
	#made = 0;
	#underWay = 0;

	/** How many operations there were, how many were cut at every statement, and how many cuts were made. */
	counts(): { readonly operations: number; readonly everywhere: number; readonly cuts: number } {
		const all = [...this.#next.values()];
		return {
			operations: all.length,
			everywhere: all.filter(({ isBeyond }) => isBeyond).length,
			cuts: this.#made,
		};
	}

	on(engine: Engine, proxy: StatementProxy): Engine {
		return {
			epoch: engine.epoch,
			cluster: engine.cluster,
			read: (name, args) => engine.read(name, args),
			onCommit: (listener) => engine.onCommit(listener),
			close: () => engine.close(),
			write: async (name, args, drawn) => {
				const next = this.#next.get(name) ?? { at: 1, when: "before", isBeyond: false };
				const isAlone = this.#underWay++ === 0;
				if (isAlone) proxy.cutAt(next.at, next.when, WRITER);
				try {
					return await engine.write(name, args, drawn);
				} finally {
					this.#underWay--;
					if (isAlone) {
						this.#next.set(name, after(next, proxy));
						if (proxy.isCut) this.#made++;
						proxy.cutAt(0, "before");
					}
				}
			},
		};
	}
}

function after({ at, when }: Next, { isCut }: StatementProxy): Next {
	if (!isCut) return { at, when, isBeyond: true };
	return when === "before"
		? { at, when: "after", isBeyond: false }
		: { at: at + 1, when: "before", isBeyond: false };
}
