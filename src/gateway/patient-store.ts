// The store for work that nobody else retries.
import type { Store } from "../store/index.ts";
import { type Patience, untilWritten } from "../time/index.ts";

/** The store with every operation retried until it succeeds or the signal aborts, for work that nobody else retries. */
export function patientStore(store: Store, patience: Patience): Store {
	return new Proxy(store, {
		get: (target, name) => {
			const operation = Reflect.get(target, name) as unknown;
			if (typeof operation !== "function" || DIRECT.has(String(name))) return operation;
			return (...args: unknown[]) =>
				untilWritten(() => Reflect.apply(operation, target, args) as Promise<unknown>, patience);
		},
	});
}

const DIRECT: ReadonlySet<string> = new Set<keyof Store>(["onCommit", "onFault", "close"]);
