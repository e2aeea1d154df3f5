// Work in rounds: a round does what is due and says when to run again. One runs at a time, and none is lost: a call during a round causes
// another one. After a failed round there is a pause. Due times are wall-clock times; a round follows a jump within a minute.
import type { Clock } from "./clock.ts";
import { wakeAt } from "./instants.ts";

/** After a failed round. */
const RETRY_MS = 5_000;
/** Between rounds that each report more work at once. */
const HURRY_MS = 100;

export interface RoundsOptions {
	readonly clock: Clock;
	/** Returns when there is work again; null: only after something new happens. */
	round(): Promise<number | null>;
	failed(error: unknown): void;
}

export class Rounds {
	readonly #options: RoundsOptions;
	#state: "stopped" | "idle" | "looking" | "looking again" | "resting" = "stopped";
	#cancel = () => {};
	/** The time of the next check; null: none. */
	#wakesAt: number | null = null;
	/** A check requested during the current round; null: none. */
	#expected: number | null = null;
	/** The last round reported more work at once. */
	#hurries = false;
	#running: Promise<void> = Promise.resolve();

	constructor(options: RoundsOptions) {
		this.#options = options;
	}

	get isStopped(): boolean {
		return this.#state === "stopped";
	}

	start(): void {
		if (this.#state !== "stopped") return;
		this.wait();
		this.look();
	}

	/** Starts without a first check. */
	wait(): void {
		if (this.#state === "stopped") this.#state = "idle";
	}

	async stop(): Promise<void> {
		this.#state = "stopped";
		this.#cancel();
		await this.#running;
	}

	/** There may be something to do. */
	look(): void {
		if (this.#state === "looking") this.#state = "looking again";
		if (this.#state !== "idle") return;
		this.#state = "looking";
		this.#running = this.#work();
	}

	/**
	 * There will be work at that time. Free if an earlier check is due anyway. During a round this is only
	 * remembered: a round that requests itself, for example because of a full disk, must not repeat without a pause.
	 */
	expects(at: number): void {
		if (this.#state === "idle") {
			if (this.#wakesAt === null || at < this.#wakesAt) this.#sleepUntil(at);
		} else this.#expected = sooner(this.#expected, at);
	}

	async #work(): Promise<void> {
		const { clock, round, failed } = this.#options;
		this.#cancel();
		this.#wakesAt = null;
		this.#expected = null;
		let next: number | null;
		try {
			next = sooner(await round(), this.#expected);
		} catch (error) {
			failed(error);
			if (this.isStopped) return;
			this.#state = "resting";
			this.#sleepUntil(clock.now() + RETRY_MS);
			return;
		}
		if (this.isStopped) return;
		// Work may have become due during the round. If it is still due after another round, rounds do not help.
		const isDue = next !== null && next <= clock.now();
		const again = this.#state === "looking again" || (isDue && !this.#hurries);
		this.#hurries = isDue;
		this.#state = "idle";
		if (again) this.look();
		else if (next !== null) this.#sleepUntil(isDue ? clock.now() + HURRY_MS : next);
	}

	#sleepUntil(at: number): void {
		this.#cancel();
		this.#wakesAt = at;
		this.#cancel = wakeAt(this.#options.clock, at, () => {
			if (this.#state === "resting") this.#state = "idle";
			this.look();
		});
	}
}

function sooner(one: number | null, other: number | null): number | null {
	if (one === null || other === null) return one ?? other;
	return Math.min(one, other);
}
