// How long callers may stay: a signal for each token and login, aborted when it is revoked, expires or changes its role. Streaming
// answers end with it.
import { type Clock, systemClock } from "../../time/index.ts";

/** The wall clock may change while a timer runs. */
const LONGEST_LOOK_MS = 60_000;
/** How soon open streams end after another gateway has revoked their token or login. */
const RECHECK_MS = 500;

interface Stay {
	readonly signal: AbortSignal;
	readonly end: () => void;
	/** Whether the token or login is still valid, from its row. */
	readonly holds: () => Promise<boolean>;
}

export interface StaysOptions {
	readonly now: () => number;
	/** Default: the machine's. */
	readonly after?: Clock["after"];
}

export class Stays {
	readonly #now: () => number;
	readonly #after: Clock["after"];
	/** Tokens by name, logins by name and id. */
	readonly #all = new Map<string, Stay>();
	#rechecks = false;

	constructor({ now, after = systemClock.after }: StaysOptions) {
		this.#now = now;
		this.#after = after;
	}

	/** Taken in the same step as the validity check, so that no revocation falls in between. */
	take(key: string, expiresAt: number | null, holds: Stay["holds"]): AbortSignal {
		const known = this.#all.get(key);
		if (known) return known.signal;
		const controller = new AbortController();
		let cancel = () => {};
		const end = () => {
			cancel();
			this.#all.delete(key);
			controller.abort();
		};
		const look = (until: number) => {
			const left = until - this.#now();
			if (left <= 0) return end();
			cancel = this.#after(Math.min(left, LONGEST_LOOK_MS), () => look(until));
		};
		this.#all.set(key, { signal: controller.signal, end, holds });
		if (expiresAt !== null) look(expiresAt);
		return controller.signal;
	}

	end(key: string): void {
		this.#all.get(key)?.end();
	}

	endAll(prefix: string): void {
		for (const [key, { end }] of [...this.#all]) if (key.startsWith(prefix)) end();
	}

	/** Ends those of tokens and logins that another gateway has revoked. */
	recheckSoon(): void {
		if (this.#rechecks || this.#all.size === 0) return;
		this.#rechecks = true;
		this.#after(RECHECK_MS, () => {
			this.#rechecks = false;
			for (const stay of this.#all.values()) void this.#recheck(stay);
		});
	}

	async #recheck({ holds, end }: Stay): Promise<void> {
		try {
			if (!(await holds())) end();
		} catch {
			// Unknown for now: the next check will tell.
			this.recheckSoon();
		}
	}
}
