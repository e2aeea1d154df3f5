// Stores the position in Discord's events with the host if no commit carries it.
import type { Clock } from "../../time/index.ts";
import type { Intake } from "./intake.ts";

/** How often a position without a commit is stored. */
const STORE_MS = 1000;

export interface PositionKeeperOptions {
	readonly clock: Clock;
	readonly intake: () => Intake;
	readonly store: (cursor: string) => Promise<void>;
	readonly log: (message: string, error?: unknown) => void;
}

export class PositionKeeper {
	readonly #options: PositionKeeperOptions;
	/** The session whose position the host has. */
	#session: string | null = null;
	#storing: Promise<void> = Promise.resolve();
	#cancel: (() => void) | null = null;

	constructor(options: PositionKeeperOptions) {
		this.#options = options;
	}

	/** The host has a position of this session. */
	begin(session: string | null): void {
		this.#session = session;
	}

	/** The first position of a session is stored at once: otherwise a later start knows no session. */
	soon(): void {
		if (this.#cancel) return;
		const session = this.#options.intake().position?.session.id ?? null;
		const isNew = this.#session !== session;
		this.#session = session;
		const store = () => {
			this.#cancel = null;
			this.#storing = this.#storing.then(() => this.now());
		};
		if (isNew) store();
		else this.#cancel = this.#options.clock.after(STORE_MS, store);
	}

	async now(): Promise<void> {
		this.#cancel?.();
		this.#cancel = null;
		const { intake, store, log } = this.#options;
		const text = intake().unstored;
		if (text === null) return;
		try {
			await store(text);
			intake().stored(text);
		} catch (error) {
			// Kept for the next commit: repeated events are recognised by id.
			log("the position in Discord's events was not stored", error);
		}
	}
}
