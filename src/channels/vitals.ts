// Whether a line works: its state, what is wrong, and when the platform last proved that it is there. A platform silent for too long
// counts as down, whatever the line believes.
import type { ChannelHealth } from "../gateway/index.ts";
import type { Clock } from "../time/index.ts";

/** Trouble that only a human can fix, or that passes. */
export interface Trouble {
	readonly state: "degraded" | "needs_attention";
	readonly detail: string;
}

export interface VitalsOptions {
	/** Its display name. */
	readonly platform: string;
	readonly clock: Clock;
	/** After this long without an answer, the line counts as down. */
	readonly aliveMs: number;
	readonly log: (message: string) => void;
}

export class Vitals {
	readonly #options: VitalsOptions;
	#state: ChannelHealth["state"] = "stopped";
	#detail: string | undefined;
	#aliveAt: number | null = null;
	/** When the platform last answered (monotonic). */
	#alive = 0;
	#provenBy = "";

	constructor(options: VitalsOptions) {
		this.#options = options;
	}

	get isStopped(): boolean {
		return this.#state === "stopped";
	}

	get isConnected(): boolean {
		return this.#state === "connected";
	}

	/** Since the platform last answered (monotonic). */
	get quietMs(): number {
		return this.#options.clock.monotonic() - this.#alive;
	}

	/** While the machine sleeps, the monotonic clock may stand still. Infinite before the first answer. */
	get missedMs(): number {
		if (this.#aliveAt === null) return Number.POSITIVE_INFINITY;
		return Math.max(this.quietMs, this.#options.clock.now() - this.#aliveAt);
	}

	start(): void {
		this.#state = "starting";
		this.#detail = undefined;
		this.#alive = this.#options.clock.monotonic();
	}

	stop(): void {
		this.#state = "stopped";
		this.#detail = undefined;
	}

	proven(by: string): void {
		const { clock } = this.#options;
		this.#aliveAt = clock.now();
		this.#alive = clock.monotonic();
		this.#provenBy = by;
	}

	/** Nothing is wrong. */
	connected(): void {
		this.#state = "connected";
		this.#detail = undefined;
	}

	/** The connection is over, for a reason not known yet. */
	lost(): void {
		if (this.#state === "connected") this.#state = "degraded";
	}

	/** Reports what is wrong, once. */
	troubled({ state, detail }: Trouble): void {
		if (this.#detail !== detail) this.#options.log(detail);
		this.#state = state;
		this.#detail = detail;
	}

	/** `remark`: a problem although it is connected. */
	health(connections: number, remark?: string): ChannelHealth {
		const { platform, aliveMs } = this.#options;
		const isSilent = (this.#state === "connected" || this.#state === "degraded") && this.quietMs > aliveMs;
		const detail = this.#detail ?? (isSilent ? `${platform} does not answer` : remark);
		return {
			state: isSilent ? "down" : this.#state,
			aliveAt: this.#aliveAt,
			...(this.#aliveAt !== null && { provenBy: this.#provenBy }),
			...(detail !== undefined && { detail }),
			connections,
		};
	}
}
