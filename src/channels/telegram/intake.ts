// Passes updates to the host: serially per chat, chats in parallel, so that a large file delays only its own chat. The cursor moves only
// past updates committed together with everything before them (I3).
import type { Message, Update } from "grammy/types";
import { chatOf, editedOf, messageOf } from "./updates.ts";

/** Commits one update of a batch, with the cursor if one is given. */
export type HandIn = (update: Update, cursor: string | undefined, batch: readonly Update[]) => Promise<void>;

export class Intake {
	readonly #handIn: HandIn;
	readonly #onCommitted: (update: Update) => void;
	/** From the first uncommitted one on, in the platform's order. */
	readonly #open: Update[] = [];
	readonly #committed = new Set<Update>();
	/** The last of each chat. */
	readonly #tails = new Map<number, Promise<void>>();
	/** Groups by the supergroups they became. */
	readonly #same = new Map<number, number>();
	#last: number | undefined;
	#cursor: number | undefined;
	#failed: { readonly error: unknown } | undefined;
	#settling: Promise<void> | undefined;

	constructor(handIn: HandIn, onCommitted: (update: Update) => void) {
		this.#handIn = handIn;
		this.#onCommitted = onCommitted;
	}

	/** Everything before it is committed, but not it. */
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
		for (const update of withEditsBehind(updates)) {
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

	/** Resolves when everything is committed. Rejects with the first failure, after running work has ended. */
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
		// The last one committed was not the last of all.
		if (last !== undefined && this.#cursor !== last)
			await this.#handIn({ update_id: last }, String(last), []);
		this.#cursor = last;
	}

	/** After a failure nothing more is started: it comes again, in order. */
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

/** After a long silence Telegram may deliver an edit before its message: then nobody would know what was edited. */
function withEditsBehind(updates: readonly Update[]): readonly Update[] {
	const last = new Map(
		updates.flatMap((update) => (messageOf(update) ? [[nameOf(messageOf(update)), update] as const] : [])),
	);
	const early = Map.groupBy(
		updates.filter((update, n) => {
			const message = last.get(nameOf(editedOf(update)));
			return message !== undefined && updates.indexOf(message) > n;
		}),
		(update) => last.get(nameOf(editedOf(update))),
	);
	const moved = new Set([...early.values()].flat());
	return updates
		.filter((update) => !moved.has(update))
		.flatMap((update) => [update, ...(early.get(update) ?? [])]);
}

function nameOf(message: Message | undefined): string {
	return message ? `${message.chat?.id}/${message.message_id}` : "";
}
