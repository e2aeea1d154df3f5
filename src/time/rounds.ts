// Work in rounds: a round does what is due and says when to run again. One runs at a time, and none is lost: a call during a round causes
// another one. After a failed round there is a pause. Due times are wall-clock times; a round follows a jump within a minute.
import type { Clock } from "./clock.ts";
import { wakeAt } from "./instants.ts";

/** After a round that failed. */
const RETRY_MS = 5_000;
/** Between rounds each of which says that there is something to do at once. */
const HURRY_MS = 100;

export interface RoundsOptions {
	readonly clock: Clock;
	/** Answers when there is something to do again; null: not before something new happens. */
	round(): Promise<number | null>;
	failed(error: unknown): void;
}

export class Rounds {
	readonly #options: RoundsOptions;
	#state: "stopped" | "idle" | "looking" | "looking again" | "resting" = "stopped";
	#cancel = () => {};
	/** When it looks again by itself; null: not at all. */
	#wakesAt: number | null = null;
	/** What was expected during the round under way; null: nothing. */
	#expected: number | null = null;
	/** The last round said that there is something to do at once. */
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

	/** Starts, and looks when it is told to. */
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
	 * There will be something to do at that time. Costs nothing where it looks before that anyway. During a round it is remembered, not
	 * done at once: a round that makes itself expected, as one does that meets a full disk, would follow itself without a pause.
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
		// Something may have become due while the round was under way. Where it still is after another one, rounds change nothing about it.
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
