// Events that can never be taken. Whenever such an event comes again it is the same: it must not block what comes after it.
import { KeryxError } from "../errors.ts";

/** What fails so often is passed over. */
const MOST = 3;
const HOPELESS: ReadonlySet<string> = new Set(["source.invalid", "address.incomplete", "profile.invalid"]);

export class Stumbles {
	readonly #counts = new Map<string, number>();

	/** Whether to give it up; counts the failure. What fails for the store's trouble is taken later. */
	isHopeless(event: string, error: unknown): boolean {
		if (error instanceof KeryxError && HOPELESS.has(error.code)) return true;
		if (error instanceof KeryxError ? mayPass(error) : !(error instanceof TypeError)) return false;
		this.count(event);
		return this.areMany(event);
	}

	count(event: string): void {
		this.#counts.set(event, (this.#counts.get(event) ?? 0) + 1);
	}

	areMany(event: string): boolean {
		return (this.#counts.get(event) ?? 0) >= MOST;
	}

	/** It was taken, or given up. */
	forget(event: string): void {
		this.#counts.delete(event);
	}

	clear(): void {
		this.#counts.clear();
	}
}

/** The store is in trouble, or Keryx stops: later the same is taken. */
function mayPass({ code }: KeryxError): boolean {
	return /^(?:store|gateway)\./.test(code) && code !== "store.conflict" && code !== "store.not_found";
}
