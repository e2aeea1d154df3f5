// Passes events to the host: serially per room, rooms in parallel, so that a large file delays only its own room. The cursor moves only
// when everything from a sync is committed (I3), if possible together with its last event.
import { Lanes } from "../lanes.ts";
import type { CursorNow } from "./events.ts";

export interface Item {
	readonly room: string;
	/** Unique within the room. */
	readonly id: string;
	/** Commits it, with the cursor if there is one at that moment. Rejects if nothing was committed. */
	readonly run: (cursor: CursorNow) => Promise<void>;
}

export interface IntakeOptions {
	/** Committed by an earlier sync. */
	readonly since: string | null;
	/** A position in the sync, in the form that is committed. */
	readonly cursorOf: (since: string) => string;
	/** Commits a cursor alone. */
	readonly keep: (cursor: string) => Promise<void>;
}

export class Intake {
	readonly #options: IntakeOptions;
	readonly #lanes = new Lanes();
	/** Not committed yet. */
	readonly #open = new Set<string>();
	/** Committed, but a sync from the stored cursor brings them again. */
	readonly #done = new Set<string>();
	/** Of the last sync. */
	#latest: string | null;
	#stored: string | null;
	#failed: { readonly error: unknown } | undefined;

	constructor(options: IntakeOptions) {
		this.#options = options;
		this.#stored = options.since;
		this.#latest = options.since;
	}

	/** Everything up to here is committed. */
	get since(): string | null {
		return this.#stored;
	}

	/** Takes the events of a sync, except those that are running or committed. */
	add(items: readonly Item[], cursor: string): void {
		this.#latest = cursor;
		const news = items.filter(
			({ room, id }) => !this.#open.has(`${room}/${id}`) && !this.#done.has(`${room}/${id}`),
		);
		for (const { room, id } of news) this.#open.add(`${room}/${id}`);
		for (const item of news) void this.#lanes.run(item.room, () => this.#commit(item));
	}

	/** Work that no sync repeats; its failure affects nothing else. */
	async extra(room: string, job: () => Promise<void>): Promise<void> {
		let failed: { readonly error: unknown } | undefined;
		await this.#lanes.run(room, async () => {
			await job().catch((error: unknown) => {
				failed = { error };
			});
		});
		if (failed) throw failed.error;
	}

	/** Resolves when everything is committed, with the cursor. Rejects with the first failure, after running work has ended. */
	async settled(): Promise<void> {
		await this.#lanes.idle();
		if (this.#failed) throw this.#failed.error;
		if (this.#latest === null || this.#open.size > 0) return;
		const latest = this.#latest;
		if (this.#stored !== latest) await this.#options.keep(this.#options.cursorOf(latest));
		this.#stored = latest;
		this.#done.clear();
	}

	/** After a failure: the next sync repeats what was not committed. */
	async recover(): Promise<void> {
		await this.#lanes.idle();
		this.#failed = undefined;
		this.#latest = this.#stored;
	}

	/** After a failure nothing more is started: it comes again, in order. */
	async #commit({ room, id, run }: Item): Promise<void> {
		const key = `${room}/${id}`;
		let given: string | null = null;
		if (!this.#failed)
			try {
				await run(() => {
					// A failed event is no longer open; only a sync from the stored position repeats it.
					given = !this.#failed && this.#open.size === 1 ? this.#latest : null;
					return given === null ? undefined : this.#options.cursorOf(given);
				});
				this.#done.add(key);
				this.#stored = given ?? this.#stored;
			} catch (error) {
				this.#failed ??= { error };
			}
		this.#open.delete(key);
	}
}
