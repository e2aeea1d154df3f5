// A bot's updates: kept for a day, handed out by long polling or posted to a webhook; gone once an offset above them was asked for, or the
// post was answered.
import type { Update } from "grammy/types";
import type { Clock } from "../../../src/time/index.ts";
import { ApiError } from "./errors.ts";
import { Pusher } from "./webhook.ts";

const DAY_MS = 86_400_000;
/** Sent without being asked for by name; reactions and members are not among them. */
const USUAL: ReadonlySet<string> = new Set([
	"message",
	"edited_message",
	"channel_post",
	"edited_channel_post",
	"callback_query",
	"my_chat_member",
]);

export type NewUpdate = Omit<Update, "update_id">;

interface Kept {
	readonly at: number;
	readonly update: Update;
}

interface Poll {
	answer(updates: readonly Update[]): void;
	fail(error: ApiError): void;
	readonly limit: number;
}

export interface PollArgs {
	readonly offset?: number;
	readonly limit?: number;
	readonly timeout?: number;
	readonly allowed_updates?: readonly string[];
}

export class UpdateQueue {
	/** The next update's id. May be set anywhere, as Telegram does after a week of silence. */
	nextId = 100_000;
	/** Whether the answer to a posted update is lost: it is posted again. */
	isAnswerLost: (update: Update) => boolean = () => false;
	readonly pusher: Pusher;
	readonly #clock: Clock;
	#kept: Kept[] = [];
	/** Handed out at least once. */
	readonly #seen = new WeakSet<Update>();
	#allowed: ReadonlySet<string> = USUAL;
	#poll: Poll | undefined;
	readonly #confirmed: Update[] = [];
	#onChange: () => void = () => {};

	constructor(clock: Clock) {
		this.#clock = clock;
		this.pusher = new Pusher({
			clock,
			retryMs: 20,
			waiting: () => this.waiting,
			isAnswerLost: (update) => this.isAnswerLost(update),
			posting: (update) => this.#seen.add(update),
			confirm: (update) => {
				this.#kept = this.#kept.filter((kept) => kept.update !== update);
				this.#confirmed.push(update);
				this.#onChange();
			},
		});
	}

	/** Which kinds of updates are kept from now on. */
	allow(kinds: readonly string[]): void {
		this.#allowed = kinds.length > 0 ? new Set(kinds) : USUAL;
	}

	/** What bots were told is theirs, in the order in which they said so. */
	get confirmed(): readonly Update[] {
		return this.#confirmed;
	}

	get waiting(): readonly Update[] {
		return this.#kept.map(({ update }) => update);
	}

	get isPolled(): boolean {
		return this.#poll !== undefined;
	}

	onChange(listener: () => void): void {
		this.#onChange = listener;
	}

	add(update: NewUpdate): void {
		const kind = Object.keys(update)[0] ?? "";
		if (!this.#allowed.has(kind)) return;
		this.#kept.push({ at: this.#clock.now(), update: { update_id: this.nextId++, ...update } });
		this.#handOut();
	}

	/** Puts what nobody has seen yet into another order; ids follow the order. */
	reorder(change: (waiting: readonly NewUpdate[]) => readonly NewUpdate[]): void {
		const unseen = this.#kept.filter(({ update }) => !this.#seen.has(update));
		const ids = unseen.map(({ update }) => update.update_id);
		const bare = unseen.map(({ update: { update_id: _, ...rest } }) => rest);
		const now = this.#clock.now();
		const changed = change(bare).map((update, n) => ({
			at: now,
			update: { update_id: ids[n] ?? this.nextId++, ...update },
		}));
		this.#kept = [...this.#kept.filter(({ update }) => this.#seen.has(update)), ...changed];
	}

	/** Resolves with what there is, or when there is something, or empty when the time is up. */
	poll({ offset = 0, limit = 100, timeout = 0, allowed_updates: allowed }: PollArgs): {
		readonly updates: Promise<readonly Update[]>;
		readonly leave: () => void;
	} {
		if (this.pusher.webhook)
			throw new ApiError(
				409,
				"Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
			);
		this.#poll?.fail(
			new ApiError(
				409,
				"Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
			),
		);
		if (allowed) this.allow(allowed);
		this.#confirm(offset);
		let leave = () => {};
		const updates = new Promise<readonly Update[]>((resolve, reject) => {
			const end = () => {
				cancel();
				if (this.#poll === poll) this.#poll = undefined;
			};
			const poll: Poll = {
				limit: Math.min(100, Math.max(1, limit)),
				answer: (found) => {
					end();
					resolve(found);
				},
				fail: (error) => {
					end();
					reject(error);
				},
			};
			const cancel = this.#clock.after(timeout * 1000, () => poll.answer([]));
			leave = end;
			this.#poll = poll;
			this.#handOut();
		});
		this.#onChange();
		return { updates, leave };
	}

	#confirm(offset: number): void {
		const now = this.#clock.now();
		const kept = this.#kept.filter(({ at }) => now - at < DAY_MS);
		const from = offset < 0 ? (kept.at(offset)?.update.update_id ?? 0) : offset;
		this.#confirmed.push(...kept.filter(({ update }) => update.update_id < from).map(({ update }) => update));
		this.#kept = kept.filter(({ update }) => update.update_id >= from);
	}

	#handOut(): void {
		this.#onChange();
		if (this.#kept.length === 0) return;
		// A moment later, so that what is said in one breath can still be reordered.
		queueMicrotask(() => {
			this.pusher.push();
			const poll = this.#poll;
			if (!poll || this.#kept.length === 0) return;
			const updates = this.waiting.slice(0, poll.limit);
			for (const update of updates) this.#seen.add(update);
			poll.answer(updates);
		});
	}
}
