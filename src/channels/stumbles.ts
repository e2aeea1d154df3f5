// Events that can never be accepted. A repeated one would be the same: it must not block later ones.
import { KeryxError } from "../errors.ts";

/** An event that fails this often is skipped. */
const MOST = 3;
const HOPELESS: ReadonlySet<string> = new Set(["source.invalid", "address.incomplete", "profile.invalid"]);

export class Stumbles {
	readonly #counts = new Map<string, number>();

	/** Whether to give it up; counts the failure. Store trouble does not count. */
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

/** The store is in trouble, or Keryx stops: it will be accepted later. */
function mayPass({ code }: KeryxError): boolean {
	return /^(?:store|gateway)\./.test(code) && code !== "store.conflict" && code !== "store.not_found";
}
