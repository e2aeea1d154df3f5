// What happens to confirmations without anybody: deadlines pass, webhooks are told. Idempotent; asks the store for what is due, and
// sleeps until the next thing is.
import type { Store, Woken } from "../store/index.ts";
import type { ConfirmationClock } from "./clock.ts";
import { tellWebhook, type Webhook } from "./webhook.ts";

const AT_ONCE = 100;
/** After a fault of the store. */
const RETRY_MS = 5_000;
const OPERATOR = { kind: "operator" } as const;

export interface WatchOptions {
	readonly store: Store;
	readonly clock: ConfirmationClock;
	/** Undefined for one that is no longer configured. */
	webhook(url: string): Webhook | undefined;
	woken(woken: Woken): void;
	log(message: string, error: unknown): void;
}

export class Watch {
	readonly #options: WatchOptions;
	#state: "stopped" | "idle" | "looking" | "looking again" = "stopped";
	#cancel = () => {};
	/** When it looks again by itself; null: not at all. */
	#wakesAt: number | null = null;
	#running: Promise<void> = Promise.resolve();

	constructor(options: WatchOptions) {
		this.#options = options;
	}

	start(): void {
		if (this.#state !== "stopped") return;
		this.#state = "idle";
		this.look();
	}

	async stop(): Promise<void> {
		this.#state = "stopped";
		this.#cancel();
		await this.#running;
	}

	/** There will be something to do at that time. Costs nothing where it looks before that anyway. */
	expects(at: number): void {
		if (this.#state !== "idle") this.look();
		else if (this.#wakesAt === null || at < this.#wakesAt) this.#sleep(at - this.#options.clock.now());
	}

	/** There is something to do. */
	look(): void {
		if (this.#state === "stopped" || this.#state === "looking again") return;
		if (this.#state === "looking") {
			this.#state = "looking again";
			return;
		}
		this.#state = "looking";
		this.#running = this.#work();
	}

	async #work(): Promise<void> {
		this.#cancel();
		this.#wakesAt = null;
		const wait = await this.#round().catch((error: unknown) => {
			this.#options.log("confirmations cannot be looked after just now", error);
			return RETRY_MS;
		});
		if (this.#state === "stopped") return;
		const again = this.#state === "looking again";
		this.#state = "idle";
		if (again) this.look();
		else if (wait !== null) this.#sleep(wait);
	}

	#sleep(ms: number): void {
		const { clock } = this.#options;
		this.#cancel();
		this.#wakesAt = clock.now() + ms;
		this.#cancel = clock.after(Math.max(1, ms), () => this.look());
	}

	/** Answers in how many milliseconds there is something to do again; null: not before something new happens. */
	async #round(): Promise<number | null> {
		const { store, clock, woken } = this.#options;
		for (;;) {
			const ended = await store.expireConfirmations({ limit: AT_ONCE });
			for (const each of ended.woken) woken(each);
			if (ended.expired < AT_ONCE) break;
		}
		await this.#tell();
		const { nextDueAt, nextNoticeAt } = await store.confirmationWork({ scope: OPERATOR, now: clock.now() });
		const next = [nextDueAt, nextNoticeAt].filter((at) => at !== null);
		return next.length === 0 ? null : Math.max(1, Math.min(...next) - clock.now());
	}

	async #tell(): Promise<void> {
		const { store, clock, webhook } = this.#options;
		const due = await store.dueConfirmationNotices({ scope: OPERATOR, now: clock.now(), limit: AT_ONCE });
		for (const { target, attempts, confirmation } of due) {
			const to = webhook(target);
			const told = !to
				? ({ kind: "dead", reason: "it is no longer configured" } as const)
				: confirmation.status === "pending"
					? await tellWebhook(to, confirmation, { now: clock.now(), attempts })
					: ({ kind: "dead", reason: `it was ${confirmation.status} before it could be told` } as const);
			const { id } = confirmation;
			await store.settleConfirmationNotice({
				id,
				target,
				as: told,
				...(told.kind === "retry" && { dueAt: clock.now() + told.afterMs }),
			});
			if (this.#state === "stopped") return;
		}
	}
}
