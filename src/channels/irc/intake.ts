// From lines to the gateway. IRC delivers once and waits for nobody: what is not committed is kept here and tried again, in the order of
// its chat, and while too much waits nothing more is read. Where the server keeps a history, the cursor is the time up to which everything is
// committed, so that the next connection asks for what came after it.
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
	/** Too much waits, or no longer. */
	readonly pause: (isPaused: boolean) => void;
}

type Handed = Omit<Inbound, "cursor">;

export class Intake {
	readonly #options: IntakeOptions;
	readonly #lanes = new Lanes();
	/** When what is not committed yet was sent, by the server's clock. */
	readonly #open = new Set<{ readonly at: number }>();
	readonly #pauses: Pauses;
	#host: ChannelHost | null = null;
	#waiting = 0;
	/** The newest that was committed, by the server's clock. */
	#newest = Number.NEGATIVE_INFINITY;
	#keepsTime = false;
	/** What was missed is read from here on: until all of it was handed in, no place after this is remembered. */
	#behind: number | null = null;

	constructor(options: IntakeOptions) {
		this.#options = options;
		this.#pauses = new Pauses({
			clock: options.clock,
			// The store is our own: nobody else is to be spared.
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

	/** The server keeps a history: places in it are remembered. */
	keepTime(keeps: boolean): void {
		this.#keepsTime = keeps;
	}

	/** Missed messages are read from then on; null: all that the server has were handed in. */
	catchUp(since: number | null): void {
		this.#behind = since;
	}

	/** Until `letGo`, what comes now waits for what came before. */
	hold(): void {
		this.#lanes.hold();
	}

	letGo(): void {
		this.#lanes.letGo();
	}

	/** A message; `isMissed`: it came while Keryx was away, before everything that is held. */
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

	/** Something else that must be committed in the chat's order. */
	tell(chat: string, write: (host: ChannelHost) => Promise<void>): void {
		this.#run(chat, write, false);
	}

	/** Nothing is missing up to now: this is the first connection. */
	async begin(now: number): Promise<void> {
		const host = this.#host;
		this.#newest = Math.max(now, this.#newest);
		if (host) await this.#untilWritten("", () => host.passed(new Date(now).toISOString()));
	}

	/** Waits for what is under way. What cannot be committed now is lost, unless the server keeps it. */
	async stop(): Promise<void> {
		this.#lanes.letGo();
		const isIdle = this.#lanes.idle();
		this.#host = null;
		this.#pauses.wake();
		await isIdle;
		this.#open.clear();
	}

	/** Just before the newest, and before the oldest that is not committed. */
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
