// Passes one update to the host, and handles one that cannot be accepted.
import type { Update } from "grammy/types";
import { Stumbles } from "../stumbles.ts";
import type { Connection } from "./connection.ts";
import { FileUnreached } from "./files.ts";

export interface TakingOptions {
	/** Commits one update of a batch. */
	readonly handIn: (
		update: Update,
		cursor: string | undefined,
		connection: Connection,
		batch: readonly Update[],
		/** Tried before: parts that are still unavailable are left out, with a sentence. */
		isLastTry: boolean,
	) => Promise<void>;
	readonly isStopping: () => boolean;
	readonly log: (message: string, error?: unknown) => void;
}

export class Taking {
	readonly #options: TakingOptions;
	/** How often each update could not be read. */
	readonly #stumbles = new Stumbles();

	constructor(options: TakingOptions) {
		this.#options = options;
	}

	/** Resolves when it is committed or skipped; `at` is committed with it. */
	async take(
		update: Update,
		at: string | undefined,
		connection: Connection,
		batch: readonly Update[],
	): Promise<void> {
		const { handIn, isStopping, log } = this.#options;
		if (isStopping()) throw new Error("stopped");
		const { update_id: id } = update;
		const cursor = at === undefined ? undefined : `${connection.me.id}:${at}`;
		try {
			await handIn(update, cursor, connection, batch, this.#stumbles.areMany(String(id)));
		} catch (error) {
			if (!this.#isHopeless(id, error)) throw error;
			// A repeated delivery would be the same: it must not block later ones.
			log(`update ${id} cannot be processed`, error);
			await handIn({ update_id: id }, cursor, connection, batch, true);
		}
	}

	/** It was accepted, or all of them were. */
	forget(id?: number): void {
		if (id === undefined) this.#stumbles.clear();
		else this.#stumbles.forget(String(id));
	}

	#isHopeless(id: number, error: unknown): boolean {
		if (!(error instanceof FileUnreached)) return this.#stumbles.isHopeless(String(id), error);
		this.#stumbles.count(String(id));
		return false;
	}
}
