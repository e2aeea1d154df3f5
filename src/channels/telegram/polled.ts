// Updates that are asked for. One is confirmed by asking for those after it, which happens only when the host has committed it (I3).
import type { Update } from "grammy/types";
import type { Clock } from "../../time/index.ts";
import type { Connection } from "./connection.ts";
import { Intake } from "./intake.ts";
import type { Taking } from "./taking.ts";
import { ALLOWED_UPDATES } from "./updates.ts";

const LIMIT = 100;
/** While an update takes longer, others are asked for all the same, so often. */
const LOOK_MS = 1000;

export interface PolledOptions {
	readonly clock: Clock;
	readonly pollSeconds: number;
	readonly taking: Taking;
	readonly isStopping: () => boolean;
	/** As an earlier life committed it. */
	readonly cursor: () => string | null;
	/** Rejects with the error where no webhook of ours is in the way. */
	readonly removeWebhook: (connection: Connection, error: unknown) => Promise<void>;
	readonly onAnswered: (connection: Connection) => void;
}

export class Polled {
	readonly #options: PolledOptions;
	/** Committed and not confirmed yet, so that it may come again. */
	readonly #committed = new Set<number>();
	#offset: number | undefined;
	/** Made anew after a failure. */
	#intake: Intake | undefined;
	/** An update takes long: it is handed out again and again until it is confirmed, so that a poll does not wait. */
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

	/** What one bot has confirmed says nothing about another's updates: they would be confirmed unseen. */
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
		// Said once: after a week of silence Telegram numbers updates anew, and an old offset would confirm them unseen.
		this.#offset = undefined;
		this.#forgetConfirmed(updates);
		await this.#take(updates, connection);
	}

	/** What was handed in is waited for; what was not committed comes again. */
	async end(): Promise<void> {
		const intake = this.#intake;
		this.#intake = undefined;
		this.#isBusy = false;
		await intake?.settled().catch(() => undefined);
		if (intake?.firstOpen !== undefined) this.#offset = intake.firstOpen;
	}

	/** Tells Telegram of the last that was committed. Without it, that comes again at the next start, and is known then by its cursor. */
	async goodbye({ api }: Connection, within: (call: string) => () => void): Promise<void> {
		if (this.#offset === undefined) return;
		const cancel = within("getUpdates");
		await api
			.getUpdates({ offset: this.#offset, limit: 1, timeout: 0, allowed_updates: ALLOWED_UPDATES })
			.catch(() => undefined);
		cancel();
		this.#offset = undefined;
	}

	/** Resolves when everything is committed, or after a moment: what takes long is waited for while others are asked for. */
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
		const isSettled = await this.#withinMoment(intake.settled()).catch(async (error: unknown) => {
			await this.end();
			throw error;
		});
		if (isSettled) taking.forget();
		this.#isBusy = !isSettled;
		const next = (updates.at(-1)?.update_id ?? Number.NaN) + 1;
		const offset = intake.firstOpen ?? next;
		if (updates.length > 0) this.#offset = offset;
	}

	/** False where it takes longer; a failure is one in any case. */
	async #withinMoment(settled: Promise<void>): Promise<boolean> {
		let cancel = () => {};
		const moment = new Promise<boolean>((resolve) => {
			cancel = this.#options.clock.after(LOOK_MS, () => resolve(false));
		});
		try {
			return await Promise.race([settled.then(() => true), moment]);
		} finally {
			cancel();
		}
	}

	/**
	 * The cursor of an earlier life counts for the one batch that could have been left unconfirmed: ids may start anew. That of another bot
	 * counts for nothing.
	 */
	#isCommitted(id: number, bot: number): boolean {
		const [of, at] = this.#options.cursor()?.split(":") ?? [];
		const to = of === String(bot) ? Number(at) : Number.NEGATIVE_INFINITY;
		return this.#committed.has(id) || (id <= to && id > to - LIMIT);
	}

	/** What comes before the first that Telegram still has is confirmed. */
	#forgetConfirmed(updates: readonly Update[]): void {
		if (updates.length === 0) {
			this.#committed.clear();
			return;
		}
		const ids = new Set(updates.map(({ update_id: id }) => id));
		for (const id of this.#committed) if (!ids.has(id)) this.#committed.delete(id);
	}
}
