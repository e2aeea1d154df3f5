// The line to a self-chosen server: one connection after another, forever, with growing pauses; and its health.
import type { ChannelHealth } from "../gateway/index.ts";
import type { Clock } from "../time/index.ts";

/** A person must change something first; asking more often could get Keryx banned. */
const ATTENTION_MS = 60_000;
/** A connection that lasted this long was good: the next pause is short again. */
const GOOD_MS = 30_000;

export type Ended =
	| { readonly kind: "lost"; readonly reason: string; readonly wasReady: boolean }
	| { readonly kind: "refused"; readonly reason: string; readonly remedy: string };

/** One connection. */
export interface LineSession {
	/** The server has let Keryx in. */
	readonly isReady: boolean;
	readonly isOpen: boolean;
	readonly ended: Promise<Ended>;
	/** Says goodbye; resolves when the connection is closed. */
	quit(): Promise<void>;
}

export interface LineOptions<Session extends LineSession> {
	readonly clock: Clock;
	readonly random: () => number;
	readonly aliveMs: number;
	readonly firstPauseMs: number;
	readonly longestPauseMs: number;
	/** Reads secrets each time. Throws if they are unavailable. */
	readonly open: () => Promise<Session>;
	/** What to report while all is well. */
	readonly remarks: () => Iterable<string>;
	readonly log: (message: string, error?: unknown) => void;
	/** What to do if the server's certificate is not trusted. */
	readonly untrustedRemedy: string;
}

export class Line<Session extends LineSession> {
	readonly #options: LineOptions<Session>;
	#state: ChannelHealth["state"] = "stopped";
	#detail: string | undefined;
	#aliveAt: number | null = null;
	#alive = 0;
	#provenBy = "ping answered";
	#session: Session | null = null;
	#running: Promise<void> = Promise.resolve();
	#wake: () => void = () => {};

	constructor(options: LineOptions<Session>) {
		this.#options = options;
	}

	/** While it is connected. */
	get session(): Session | null {
		return this.#state === "connected" && this.#session?.isReady && this.#session.isOpen
			? this.#session
			: null;
	}

	get isStopped(): boolean {
		return this.#state === "stopped";
	}

	health(): ChannelHealth {
		const { clock, aliveMs, remarks } = this.#options;
		const isLost = this.#state === "connected" && !this.session;
		const isSilent = isLost || (this.#state === "connected" && clock.monotonic() - this.#alive > aliveMs);
		const detail =
			this.#state === "connected"
				? isSilent
					? "the server does not answer"
					: [...remarks()].join("; ") || undefined
				: this.#detail;
		return {
			state: isSilent ? "down" : this.#state,
			aliveAt: this.#aliveAt,
			...(this.#aliveAt !== null && { provenBy: this.#provenBy }),
			...(detail !== undefined && { detail }),
			connections: this.#session?.isOpen ? 1 : 0,
		};
	}

	async start(): Promise<void> {
		await this.#running;
		if (!this.isStopped) return;
		this.#state = "starting";
		this.#detail = undefined;
		this.#aliveAt = null;
		this.#running = this.#run();
	}

	async stop(): Promise<void> {
		this.#state = "stopped";
		this.#detail = undefined;
		this.#wake();
		await this.#session?.quit();
		await this.#running;
	}

	ready(): void {
		if (this.isStopped) return;
		this.#state = "connected";
		this.#detail = undefined;
	}

	alive(provenBy: string): void {
		this.#alive = this.#options.clock.monotonic();
		this.#aliveAt = this.#options.clock.now();
		this.#provenBy = provenBy;
	}

	async #run(): Promise<void> {
		const { clock, log } = this.#options;
		let failures = 0;
		while (!this.isStopped) {
			const began = clock.monotonic();
			const ended = await this.#connect();
			this.#session = null;
			if (this.isStopped) return;
			const wasGood = ended.kind === "lost" && ended.wasReady && clock.monotonic() - began > GOOD_MS;
			failures = wasGood ? 0 : failures + 1;
			this.#state = ended.kind === "refused" ? "needs_attention" : "down";
			const detail = ended.kind === "refused" ? `${ended.reason}; ${ended.remedy}` : ended.reason;
			if (detail !== this.#detail) log(detail);
			this.#detail = detail;
			await this.#sleep(this.#pause(ended, failures));
		}
	}

	async #connect(): Promise<Ended> {
		try {
			this.#session = await this.#options.open();
		} catch (error) {
			const reason = error instanceof Error ? error.message : String(error);
			return { kind: "refused", reason, remedy: "check the settings of this channel" };
		}
		if (this.isStopped) await this.#session.quit();
		const ended = await this.#session.ended;
		return ended.kind === "lost" ? (this.#untrusted(ended.reason) ?? ended) : ended;
	}

	#pause({ kind }: Ended, failures: number): number {
		const { firstPauseMs, longestPauseMs, random } = this.#options;
		const longest = kind === "refused" ? Math.min(ATTENTION_MS, 2 * longestPauseMs) : longestPauseMs;
		const pause = Math.min(longest, firstPauseMs * 2 ** Math.min(failures, 20));
		return kind === "refused" ? longest : pause * (0.5 + random() / 2);
	}

	#sleep(ms: number): Promise<void> {
		if (this.isStopped) return Promise.resolve();
		return new Promise((resolve) => {
			const cancel = this.#options.clock.after(ms, resolve);
			this.#wake = () => {
				cancel();
				resolve();
			};
		});
	}

	/** The server's certificate is not trusted: a human has to check. */
	#untrusted(reason: string): Ended | null {
		if (!/self.signed|certificate|altnames/i.test(reason)) return null;
		return {
			kind: "refused",
			reason: `the server's certificate is not trusted: ${reason}`,
			remedy: this.#options.untrustedRemedy,
		};
	}
}
