// Passes lines to the gateway. IRC delivers once and waits for nobody: uncommitted messages are kept here and retried in their chat's
// order, and while too many wait nothing more is read. If the server keeps a history, the cursor is the time up to which everything is
// committed, so that the next connection asks for what followed.
import type { ChannelHost, Inbound } from "../../gateway/index.ts";
import type { Clock } from "../../time/index.ts";
import { Lanes } from "../lanes.ts";
import { Pauses } from "../pauses.ts";

/** While more wait, nothing is read. */
const MOST_WAITING = 500;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5000;

export interface IntakeOptions {
	readonly clock: Clock;
	readonly log: (message: string, error?: unknown) => void;
	/** Too many wait, or no longer. */
	readonly pause: (isPaused: boolean) => void;
}

type Handed = Omit<Inbound, "cursor">;

export class Intake {
	readonly #options: IntakeOptions;
	readonly #lanes = new Lanes();
	/** When uncommitted messages were sent, by the server's clock. */
	readonly #open = new Set<{ readonly at: number }>();
	readonly #pauses: Pauses;
	#host: ChannelHost | null = null;
	#waiting = 0;
	/** The newest committed one, by the server's clock. */
	#newest = Number.NEGATIVE_INFINITY;
	#keepsTime = false;
	/** Missed messages are read from here: until all are passed on, no later position is stored. */
	#behind: number | null = null;

	constructor(options: IntakeOptions) {
		this.#options = options;
		this.#pauses = new Pauses({
			clock: options.clock,
			// The store is our own: no need to spare it.
			random: () => 1,
			firstPauseMs: FIRST_PAUSE_MS,
			longestPauseMs: LONGEST_PAUSE_MS,
		});
	}

	async start(host: ChannelHost): Promise<void> {
		const cursor = Date.parse((await host.cursor()) ?? "");
		this.#newest = Number.isNaN(cursor) ? Number.NEGATIVE_INFINITY : cursor;
		this.#host = host;
	}

	/** From when on messages may be missing; null: nothing was ever read. */
	get since(): number | null {
		return Number.isFinite(this.#newest) ? this.#upTo(this.#newest) : null;
	}

	/** The server keeps a history: positions are stored. */
	keepTime(keeps: boolean): void {
		this.#keepsTime = keeps;
	}

	/** Missed messages are read from then on; null: all that the server has were passed on. */
	catchUp(since: number | null): void {
		this.#behind = since;
	}

	/** Until `letGo`, new messages wait for earlier ones. */
	hold(): void {
		this.#lanes.hold();
	}

	letGo(): void {
		this.#lanes.letGo();
	}

	/** A message; `isMissed`: sent while Keryx was away, before everything that is held. */
	take(chat: string, message: Handed, isMissed = false): void {
		const at = message.sentAt ?? this.#options.clock.now();
		const open = { at };
		this.#open.add(open);
		this.#run(
			chat,
			async (host) => {
				const upTo = this.#upTo(Math.max(at, this.#newest));
				await host.accept({
					...message,
					...(this.#keepsTime && { cursor: new Date(upTo).toISOString() }),
				});
				this.#open.delete(open);
				this.#newest = Math.max(at, this.#newest);
			},
			isMissed,
		);
	}

	/** Other work that must be committed in the chat's order. */
	tell(chat: string, write: (host: ChannelHost) => Promise<void>): void {
		this.#run(chat, write, false);
	}

	/** Nothing is missing: this is the first connection. */
	async begin(now: number): Promise<void> {
		const host = this.#host;
		this.#newest = Math.max(now, this.#newest);
		if (host) await this.#untilWritten("", () => host.passed(new Date(now).toISOString()));
	}

	/** Waits for running work. Uncommitted messages are lost, unless the server keeps them. */
	async stop(): Promise<void> {
		this.#lanes.letGo();
		const isIdle = this.#lanes.idle();
		this.#host = null;
		this.#pauses.wake();
		await isIdle;
		this.#open.clear();
	}

	/** Just before the newest, and before the oldest uncommitted one. */
	#upTo(newest: number): number {
		const behind = this.#behind ?? Number.POSITIVE_INFINITY;
		return Math.min(behind, newest - 1, ...[...this.#open].map(({ at }) => at - 1));
	}

	#run(chat: string, write: (host: ChannelHost) => Promise<void>, isMissed: boolean): void {
		const host = this.#host;
		if (!host) return;
		if (++this.#waiting === MOST_WAITING) this.#options.pause(true);
		const job = () => this.#untilWritten(chat, () => write(host));
		void (isMissed ? this.#lanes.runAhead(chat, job) : this.#lanes.run(chat, job)).then(() => {
			if (--this.#waiting === MOST_WAITING / 2) this.#options.pause(false);
		});
	}

	/** Never rejects. */
	async #untilWritten(chat: string, write: () => Promise<void>): Promise<void> {
		const { log } = this.#options;
		for (let failures = 0; ; failures++) {
			try {
				return await write();
			} catch (error) {
				log(`what came from ${chat === "" ? "the server" : chat} could not be stored yet`, error);
				if (this.#host) await this.#pauses.afterFailures(failures);
				if (!this.#host) return;
			}
		}
	}
}
