// Updates on their way to the host: those of one chat one after the other, chats side by side, so that a large file holds up its own chat
// alone, also when others write later. The cursor moves only past what is committed together with everything before it (I3).
import type { Update } from "grammy/types";
import { chatOf } from "./updates.ts";

/** Commits one update of those that came together, and the cursor with it where one is given. */
export type HandIn = (update: Update, cursor: string | undefined, batch: readonly Update[]) => Promise<void>;

export class Intake {
	readonly #handIn: HandIn;
	readonly #onCommitted: (update: Update) => void;
	/** From the first that is not committed on, in the order of the platform. */
	readonly #open: Update[] = [];
	readonly #committed = new Set<Update>();
	/** The last of each chat. */
	readonly #tails = new Map<number, Promise<void>>();
	/** Groups by the supergroups that they became. */
	readonly #same = new Map<number, number>();
	#last: number | undefined;
	#cursor: number | undefined;
	#failed: { readonly error: unknown } | undefined;
	#settling: Promise<void> | undefined;

	constructor(handIn: HandIn, onCommitted: (update: Update) => void) {
		this.#handIn = handIn;
		this.#onCommitted = onCommitted;
	}

	/** Everything before it is committed, and not it. */
	get firstOpen(): number | undefined {
		return this.#open[0]?.update_id;
	}

	holds(id: number): boolean {
		return this.#open.some((update) => update.update_id === id);
	}

	add(updates: readonly Update[], batch: readonly Update[]): void {
		this.#open.push(...updates);
		for (const { message } of updates) {
			const { chat, migrate_to_chat_id: to, migrate_from_chat_id: from } = message ?? {};
			if (chat && to !== undefined) this.#same.set(to, chat.id);
			if (chat && from !== undefined) this.#same.set(chat.id, from);
		}
		for (const update of updates) {
			const id = chatOf(update)?.id ?? 0;
			const key = this.#same.get(id) ?? id;
			const before = this.#tails.get(key) ?? Promise.resolve();
			const tail: Promise<void> = before
				.then(() => this.#commit(update, batch))
				.then(() => {
					if (this.#tails.get(key) === tail) this.#tails.delete(key);
				});
			this.#tails.set(key, tail);
		}
	}

	/** Resolves when everything is committed. Rejects with the first failure, after what was under way has ended. */
	settled(): Promise<void> {
		this.#settling ??= this.#settle().finally(() => {
			this.#settling = undefined;
		});
		return this.#settling;
	}

	async #settle(): Promise<void> {
		while (this.#tails.size > 0) await Promise.all(this.#tails.values());
		if (this.#failed) throw this.#failed.error;
		this.#same.clear();
		const last = this.#last;
		// The last one to be committed was not the last of all.
		if (last !== undefined && this.#cursor !== last)
			await this.#handIn({ update_id: last }, String(last), []);
		this.#cursor = last;
	}

	/** After a failure nothing more is begun: it comes again, in its order. */
	async #commit(update: Update, batch: readonly Update[]): Promise<void> {
		if (this.#failed) return;
		const isNext = this.#open[0] === update;
		try {
			await this.#handIn(update, isNext ? String(update.update_id) : undefined, batch);
		} catch (error) {
			this.#failed ??= { error };
			return;
		}
		if (isNext) this.#cursor = update.update_id;
		this.#committed.add(update);
		this.#onCommitted(update);
		for (let first = this.#open[0]; first && this.#committed.delete(first); first = this.#open[0]) {
			this.#last = first.update_id;
			this.#open.shift();
		}
	}
}
