// Work without a message: sessions that are due to end, their finalising, housekeeping. Each is idempotent and asks the store for due
// work, by index.
import type { Config } from "../../config/index.ts";
import type { ChatType, ResetPolicy } from "../../domain/index.ts";
import { Duty, OPERATOR, type Store } from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";
import type { Hooks } from "./hooks.ts";

const LOOK_EVERY_MS = 30_000;
const HOUSEKEEPING_EVERY_MS = 3_600_000;
const AT_ONCE = 100;
/** Sessions finalised in one commit. With hooks they are finalised one by one. */
const TOGETHER = 10;
/** Rows deleted per transaction, while others wait. A blob may be large. */
const ROWS = 1000;
const BLOBS = 20;

type Due = Awaited<ReturnType<Store["dueSessions"]>>[number];

export interface WatcherOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly hooks: Hooks;
	readonly policyFor: (platform: string, chatType: ChatType) => ResetPolicy;
	/** Read per call: it may change. */
	readonly config: () => Config;
	readonly log: (message: string, error: unknown) => void;
}

export class Watchers {
	readonly #options: WatcherOptions;
	#cancels: (() => void)[] = [];
	#running: Promise<void> = Promise.resolve();
	#stopped = false;
	readonly #duty: Duty;

	constructor(options: WatcherOptions) {
		this.#options = options;
		this.#duty = new Duty(options.store, options.clock, "sessions");
	}

	start(): void {
		this.#every(LOOK_EVERY_MS, () => this.#sessions());
		this.#every(HOUSEKEEPING_EVERY_MS, () => this.#housekeeping());
	}

	async stop(): Promise<void> {
		this.#stopped = true;
		for (const cancel of this.#cancels) cancel();
		await this.#running;
	}

	/** Serialised, so that two rounds never overlap. */
	#every(ms: number, look: () => Promise<void>): void {
		const slot = this.#cancels.length;
		const again = () => {
			this.#running = this.#running
				.then(() => (this.#stopped ? undefined : look()))
				.catch((error: unknown) => this.#options.log("a watcher failed", error));
			this.#cancels[slot] = this.#options.clock.after(ms, again);
		};
		this.#cancels.push(() => {});
		again();
	}

	async #sessions(): Promise<void> {
		if (!(await this.#duty.isMine())) return;
		const { store, clock, hooks } = this.#options;
		for (;;) {
			const due = await store.dueSessions({
				scope: OPERATOR,
				now: clock.now(),
				limit: AT_ONCE,
			});
			const together = hooks.listens ? 1 : TOGETHER;
			for (let n = 0; n < due.length; n += together) {
				await Promise.all(due.slice(n, n + together).map((one) => this.#settle(one)));
				if (this.#stopped) return;
			}
			if (due.length < AT_ONCE) return;
		}
	}

	async #settle({ session, conversation, platform, chatType, work, endReason, endedAt }: Due): Promise<void> {
		const { store, hooks, policyFor } = this.#options;
		if (work === "expire") {
			await store.expireSession({ session, policy: policyFor(platform, chatType) });
			return;
		}
		await hooks.tell("session:end", { session, conversation, reason: endReason });
		await store.finaliseSession({ session, endedAt });
	}

	/** Everything that is due, however much that is. */
	async #housekeeping(): Promise<void> {
		const { store, config, clock } = this.#options;
		const keepDays = config().events.keep_days;
		const keptFrom = clock.now() - config().schedule.keep_days * 86_400_000;
		await this.#untilDone(async () => (await store.expireBlobs({ limit: BLOBS })).dropped === BLOBS);
		await this.#untilDone(async () => (await store.pruneEvents({ keepDays, limit: ROWS })).more);
		await this.#untilDone(async () => (await store.pruneRefused({ limit: ROWS })).more);
		await this.#untilDone(async () => (await store.pruneRuns({ before: keptFrom, limit: ROWS })) === ROWS);
	}

	/** `step` returns whether more is due. */
	async #untilDone(step: () => Promise<boolean>): Promise<void> {
		while (!this.#stopped && (await step()));
	}
}
