// Reports loudly when the store accepts nothing any more, and when it does again. Recorded as an event afterwards: before, none could be
// written.
import type { KeryxError } from "../../errors.ts";
import type { Store } from "../../store/index.ts";
import type { Report } from "./report.ts";

export interface StoreTrouble {
	/** The current trouble, for the API's health. */
	current(): KeryxError | null;
	/** Resolves when another gateway has taken over: nothing can be done here any more. */
	readonly lost: Promise<void>;
	/** For openStore. */
	hear(trouble: KeryxError | null): void;
	/** Once the store is open. */
	record(store: Pick<Store, "noteStoreBack">): void;
}

export function hearTrouble(output: Pick<Report, "warn">, now: () => number): StoreTrouble {
	let current: KeryxError | null = null;
	let lostAt = 0;
	let store: Pick<Store, "noteStoreBack"> | null = null;
	const { promise: lost, resolve: lose } = Promise.withResolvers<void>();
	return {
		lost,
		current: () => current,
		record: (opened) => {
			store = opened;
		},
		hear: (trouble) => {
			const before = current;
			current = trouble;
			if (trouble) {
				if (!before) lostAt = now();
				if (trouble.code === "store.owner_lost") lose();
				output.warn(`Keryx cannot accept anything: ${trouble.message}; ${trouble.hint}`);
				return;
			}
			if (!before) return;
			output.warn("the store works again: Keryx continues");
			store?.noteStoreBack({ code: before.code, lostAt }).catch((error: Error) => {
				output.warn(`the store's recovery could not be recorded: ${error.message}`);
			});
		},
	};
}
