// Background work for confirmations: deadlines and webhooks. Idempotent; asks the store for due work, and sleeps until the next.
import { ASK_EVERY_MS, Duty, OPERATOR, type Store, type Woken } from "../store/index.ts";
import { type Clock, Rounds } from "../time/index.ts";
import { LONGEST_PAUSE_MS, tellWebhook, type Webhook } from "./webhook.ts";

const AT_ONCE = 100;
const AFTER_FAULT_MS = 1000;
/** How soon after another gateway's commit the deadlines are read. */
const ELSEWHERE_MS = 1000;

export interface WatchOptions {
	readonly store: Store;
	readonly clock: Clock;
	/** Undefined for one that is no longer configured. */
	webhook(url: string): Webhook | undefined;
	woken(woken: Woken): void;
	log(message: string, error: unknown): void;
}

export class Watch {
	readonly #options: WatchOptions;
	readonly #rounds: Rounds;
	/** Requests at other gateways have deadlines, too; the gateway with this duty calls their webhooks. */
	readonly #elsewhere: Rounds;
	readonly #duty: Duty;
	#unlisten = () => {};

	constructor(options: WatchOptions) {
		this.#options = options;
		this.#duty = new Duty(options.store, options.clock, "webhooks");
		this.#rounds = new Rounds({
			clock: options.clock,
			round: () => this.#round(),
			failed: (error) => options.log("confirmations cannot be checked right now", error),
		});
		this.#elsewhere = new Rounds({
			clock: options.clock,
			round: async () => {
				const { nextDueAt, nextNoticeAt } = await this.#work();
				for (const at of [nextDueAt, nextNoticeAt]) if (at !== null) this.expects(at);
				return null;
			},
			failed: (error) => options.log("confirmations of other gateways cannot be read right now", error),
		});
	}

	start(): void {
		const { store, clock } = this.#options;
		this.#rounds.start();
		// Unreported requests and decisions have a deadline, too.
		const unlisten = [
			store.onFault(() => this.expects(clock.now() + AFTER_FAULT_MS)),
			store.cluster?.onCommitElsewhere(() => this.#elsewhere.expects(clock.now() + ELSEWHERE_MS)),
			store.cluster?.onNodeDead(() => this.look()),
		];
		this.#elsewhere.wait();
		this.#unlisten = () => {
			for (const end of unlisten) end?.();
		};
	}

	async stop(): Promise<void> {
		this.#unlisten();
		await Promise.all([this.#rounds.stop(), this.#elsewhere.stop()]);
	}

	expects(at: number): void {
		this.#rounds.expects(at);
	}

	look(): void {
		this.#rounds.look();
	}

	async #round(): Promise<number | null> {
		const { store, clock, woken } = this.#options;
		for (;;) {
			const ended = await store.expireConfirmations({ limit: AT_ONCE });
			for (const each of ended.woken) woken(each);
			if (ended.expired < AT_ONCE) break;
		}
		const isMine = await this.#duty.isMine();
		if (isMine) await this.#tell();
		const { nextDueAt, nextNoticeAt } = await this.#work();
		// A webhook's sender may die.
		const lookAt = nextNoticeAt === null || isMine ? nextNoticeAt : clock.now() + ASK_EVERY_MS;
		const next = [nextDueAt, lookAt].filter((at) => at !== null);
		return next.length === 0 ? null : Math.min(...next);
	}

	#work() {
		const { store, clock } = this.#options;
		return store.confirmationWork({ scope: OPERATOR, now: clock.now() });
	}

	async #tell(): Promise<void> {
		const { store, clock, webhook } = this.#options;
		const now = clock.now();
		const latest = now + LONGEST_PAUSE_MS;
		const due = await store.dueConfirmationNotices({ scope: OPERATOR, now, latest, limit: AT_ONCE });
		for (const { target, attempts, confirmation } of due) {
			const to = webhook(target);
			const outcome = !to
				? ({ kind: "dead", reason: "it is no longer configured" } as const)
				: confirmation.status === "pending"
					? await tellWebhook(to, confirmation, { now: clock.now(), attempts })
					: ({ kind: "dead", reason: `it was ${confirmation.status} before it could be delivered` } as const);
			const { id } = confirmation;
			await store.settleConfirmationNotice({
				id,
				target,
				as: outcome,
				...(outcome.kind === "retry" && { dueAt: clock.now() + outcome.afterMs }),
			});
			if (this.#rounds.isStopped) return;
		}
	}
}
