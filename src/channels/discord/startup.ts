// A new session after a gap: Discord names its servers first, then describes each. The gap is closed when all are read. A server that
// Discord does not describe is not waited for long; one that is being read is, however long its histories are: a session that is resumed
// after a kill does not read them.
import type { Clock } from "../../time/index.ts";

/** How long a server that is down is waited for. */
const SERVER_MS = 15_000;

export class Startup {
	readonly #clock: Clock;
	#session = "";
	#missing = new Set<string>();
	/** Described, and not yet read. */
	readonly #reading = new Set<string>();
	/** What Discord has not described by now is down. */
	#isLate = false;
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

	/** It is described: its histories are being read. */
	begin(server: string): void {
		this.#reading.add(server);
	}

	read(server: string): void {
		this.#missing.delete(server);
		this.#reading.delete(server);
		if (this.#isOver) this.#settle?.();
	}

	/** Resolves when all are read, or none is being read and the time is up; rejects when the connection is over. */
	wait(): Promise<void> {
		this.#isLate = false;
		if (this.#isOver) return Promise.resolve();
		return new Promise((resolve, reject) => {
			const cancel = this.#clock.after(SERVER_MS, () => {
				this.#isLate = true;
				if (this.#isOver) this.#settle?.();
			});
			this.#settle = (error) => {
				this.#settle = null;
				cancel();
				if (error) reject(error);
				else resolve();
			};
		});
	}

	end(): void {
		this.#reading.clear();
		this.#settle?.(new Error("the connection is closed"));
	}

	get #isOver(): boolean {
		return this.#missing.size === 0 || (this.#isLate && this.#reading.size === 0);
	}
}
