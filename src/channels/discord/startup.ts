// A new session after a gap: Discord names its servers first, then describes each. The gap is closed when all are read, or when missing
// ones have been waited for long enough.
import type { Clock } from "../../time/index.ts";

/** A server that is down is not waited for longer. */
const SERVER_MS = 15_000;

export class Startup {
	readonly #clock: Clock;
	#session = "";
	#missing = new Set<string>();
	#settle: ((error?: Error) => void) | null = null;

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	/** These servers are read before the gap is closed. Those read over an earlier connection of the session stay read. */
	expect(session: string, servers: readonly string[]): void {
		if (session === this.#session) return;
		this.#session = session;
		this.#missing = new Set(servers);
	}

	isMissing(server: string): boolean {
		return this.#missing.has(server);
	}

	read(server: string): void {
		this.#missing.delete(server);
		if (this.#missing.size === 0) this.#settle?.();
	}

	/** Resolves when all are read or the time is up; rejects when the connection is over. */
	wait(): Promise<void> {
		if (this.#missing.size === 0) return Promise.resolve();
		return new Promise((resolve, reject) => {
			const cancel = this.#clock.after(SERVER_MS, () => this.#settle?.());
			this.#settle = (error) => {
				this.#settle = null;
				cancel();
				if (error) reject(error);
				else resolve();
			};
		});
	}

	end(): void {
		this.#settle?.(new Error("the connection is closed"));
	}
}
