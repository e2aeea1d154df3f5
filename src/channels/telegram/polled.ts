// Polled updates. One is confirmed by asking for the next, which happens only after the host has committed it (I3).
import type { Update } from "grammy/types";
import type { Clock } from "../../time/index.ts";
import { settlesWithin } from "../pauses.ts";
import type { Connection } from "./connection.ts";
import { Intake } from "./intake.ts";
import type { Taking } from "./taking.ts";
import { ALLOWED_UPDATES } from "./updates.ts";

const LIMIT = 100;
/** While an update takes longer, others are polled this often. */
const LOOK_MS = 1000;

export interface PolledOptions {
	readonly clock: Clock;
	readonly pollSeconds: number;
	readonly taking: Taking;
	readonly isStopping: () => boolean;
	/** Committed by an earlier run. */
	readonly cursor: () => string | null;
	/** Rejects with the error if our own webhook is not the cause. */
	readonly removeWebhook: (connection: Connection, error: unknown) => Promise<void>;
	readonly onAnswered: (connection: Connection) => void;
}

export class Polled {
	readonly #options: PolledOptions;
	/** Committed but not confirmed yet, so it may come again. */
	readonly #committed = new Set<number>();
	#offset: number | undefined;
	/** Recreated after a failure. */
	#intake: Intake | undefined;
	/** An update takes long: it is delivered again until confirmed, so polls do not wait. */
	#isBusy = false;
	/** The next poll is answered at once: it proves that the line works. */
	#isFirst = true;

	constructor(options: PolledOptions) {
		this.#options = options;
	}

	start(): void {
		this.#isFirst = true;
		this.#committed.clear();
	}

	/** After trouble the next poll is a proof again. */
	proveNext(): void {
		this.#isFirst = true;
	}

	/** One bot's confirmations say nothing about another's updates: they would be confirmed unseen. */
	anotherBot(): void {
		this.#offset = undefined;
		this.#committed.clear();
	}

	async poll(connection: Connection): Promise<void> {
		const { pollSeconds, removeWebhook, isStopping, onAnswered } = this.#options;
		const updates = await connection.api
			.getUpdates({
				...(this.#offset !== undefined && { offset: this.#offset }),
				limit: LIMIT,
				timeout: this.#isFirst || this.#isBusy ? 0 : pollSeconds,
				allowed_updates: ALLOWED_UPDATES,
			})
			.catch((error: unknown) => removeWebhook(connection, error));
		if (updates === undefined || isStopping()) return;
		this.#isFirst = false;
		onAnswered(connection);
		// Said once: after a week of silence Telegram restarts numbering, and an old offset would confirm updates unseen.
		this.#offset = undefined;
		this.#forgetConfirmed(updates);
		await this.#take(updates, connection);
	}

	/** Running work is waited for; uncommitted updates come again. */
	async end(): Promise<void> {
		const intake = this.#intake;
		this.#intake = undefined;
		this.#isBusy = false;
		await intake?.settled().catch(() => undefined);
		if (intake?.firstOpen !== undefined) this.#offset = intake.firstOpen;
	}

	/** Tells Telegram the last committed one. Otherwise it comes again at the next start, and the cursor recognises it. */
	async goodbye({ api }: Connection, within: (call: string) => () => void): Promise<void> {
		if (this.#offset === undefined) return;
		const cancel = within("getUpdates");
		await api
			.getUpdates({ offset: this.#offset, limit: 1, timeout: 0, allowed_updates: ALLOWED_UPDATES })
			.catch(() => undefined);
		cancel();
		this.#offset = undefined;
	}

	/** Resolves when everything is committed, or after a moment: slow ones are waited for while others are polled. */
	async #take(updates: readonly Update[], connection: Connection): Promise<void> {
		const { taking } = this.#options;
		this.#intake ??= new Intake(
			(update, at, batch) => taking.take(update, at, connection, batch),
			({ update_id: id }) => this.#committed.add(id),
		);
		const intake = this.#intake;
		const unseen = updates.filter(
			({ update_id: id }) => !this.#isCommitted(id, connection.me.id) && !intake.holds(id),
		);
		intake.add(unseen, updates);
		const isSettled = await settlesWithin(LOOK_MS, intake.settled(), this.#options.clock).catch(
			async (error: unknown) => {
				await this.end();
				throw error;
			},
		);
		if (isSettled) taking.forget();
		this.#isBusy = !isSettled;
		const next = (updates.at(-1)?.update_id ?? Number.NaN) + 1;
		const offset = intake.firstOpen ?? next;
		if (updates.length > 0) this.#offset = offset;
	}

	/** An earlier run's cursor counts for the one batch that could be unconfirmed: ids may restart. Another bot's counts for nothing. */
	#isCommitted(id: number, bot: number): boolean {
		const [of, at] = this.#options.cursor()?.split(":") ?? [];
		const to = of === String(bot) ? Number(at) : Number.NEGATIVE_INFINITY;
		return this.#committed.has(id) || (id <= to && id > to - LIMIT);
	}

	/** Everything before the first that Telegram still has is confirmed. */
	#forgetConfirmed(updates: readonly Update[]): void {
		if (updates.length === 0) {
			this.#committed.clear();
			return;
		}
		const ids = new Set(updates.map(({ update_id: id }) => id));
		for (const id of this.#committed) if (!ids.has(id)) this.#committed.delete(id);
	}
}
