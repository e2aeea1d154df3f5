// Passes what was said to the gateway, serially per chat. The server is told of a message only when it is committed (I3); one that cannot
// be stored is tried again in its chat's order, and while too many wait nothing more is read.
import type { ChannelHost } from "../../gateway/index.ts";
import type { Clock } from "../../time/index.ts";
import { Lanes } from "../lanes.ts";
import { Pauses } from "../pauses.ts";
import { Stumbles } from "../stumbles.ts";
import { type Position, Positions } from "./positions.ts";

/** While more wait, nothing is read. */
const MOST_WAITING = 200;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5000;

export interface IntakeOptions {
	readonly clock: Clock;
	readonly log: (message: string, error?: unknown) => void;
	/** Too many wait, or no longer. */
	readonly pause: (isPaused: boolean) => void;
}

export interface Work {
	readonly chat: string;
	/** Its id in the chat. */
	readonly message: string;
	/** Its position in an archive. */
	readonly archivePosition?: { readonly archive: string; readonly position: Position } | undefined;
	/** Rejects if nothing was committed. */
	readonly write: (host: ChannelHost, cursor: string) => Promise<unknown>;
	/** Committed, or given up. */
	readonly done: () => void;
}

export class Intake {
	readonly #options: IntakeOptions;
	readonly #lanes = new Lanes();
	readonly #stumbles = new Stumbles();
	readonly #pauses: Pauses;
	positions = new Positions(null);
	#host: ChannelHost | null = null;
	#waiting = 0;
	#holds = 0;
	#isPaused = false;
	readonly #held: Work[] = [];
	/** Committed while others are held. */
	readonly #missed = new Set<string>();
	/** Archives that this session could not read to their end. */
	readonly #unread = new Set<string>();
	#sessions = 0;

	constructor(options: IntakeOptions) {
		this.#options = options;
		this.#pauses = new Pauses({
			clock: options.clock,
			// Our own store needs no long pauses.
			random: () => 1,
			firstPauseMs: FIRST_PAUSE_MS,
			longestPauseMs: LONGEST_PAUSE_MS,
		});
	}

	get host(): ChannelHost | null {
		return this.#host;
	}

	async start(host: ChannelHost): Promise<void> {
		this.positions = new Positions(await host.cursor());
		this.#host = host;
	}

	/** New messages wait until missed ones are committed. Holds are counted. Returns the function that releases this one. */
	hold(): (unread?: string) => void {
		const session = this.#sessions;
		this.#holds++;
		this.#wait(0);
		return (unread) => {
			if (unread !== undefined && session === this.#sessions) this.#unread.add(unread);
			this.#letGo();
		};
	}

	#letGo(): void {
		this.#holds = Math.max(0, this.#holds - 1);
		if (this.#holds > 0) return;
		for (const work of this.#held.splice(0)) {
			const isMissed = this.#missed.has(keyOf(work));
			// Committing it now would move the position past unread messages: the next session reads both. An archive that is not followed yet
			// repeats nothing.
			const { archive } = work.archivePosition ?? {};
			const comesAgain =
				archive !== undefined && this.#unread.has(archive) && this.positions.get(archive) !== null;
			// Some servers also deliver missed messages on their own.
			if (!isMissed && !comesAgain) void this.#enter(work);
			else this.#wait(-1);
			if (isMissed) work.done();
		}
		this.#missed.clear();
		this.#wait(0);
	}

	/** A live message. */
	take(work: Work): void {
		if (!this.#host) return;
		this.#wait(1);
		if (this.#holds > 0) this.#held.push(work);
		else void this.#enter(work);
	}

	/** A message from while Keryx was away; goes before everything held. Resolves when it is committed, or Keryx stops. */
	async takeMissed(works: readonly Work[]): Promise<void> {
		if (!this.#host) return;
		await Promise.all(
			works.map((work) => {
				this.#wait(1);
				return this.#enter(work, true);
			}),
		);
	}

	/** Which of these were committed before; none if that cannot be read, and they are handed in again (I4). */
	async known(chat: string, messages: readonly string[]): Promise<ReadonlySet<string>> {
		try {
			return new Set(await this.#host?.known(chat, messages));
		} catch (error) {
			this.#options.log(`what was committed in ${chat} could not be read`, error);
			return new Set();
		}
	}

	/** Stores a position without a message. False: Keryx stops. */
	async begin(archive: string, position: Position): Promise<boolean> {
		this.positions.set(archive, position);
		const host = this.#host;
		if (!host) return false;
		await this.#untilWritten(host, "", () => host.passed(this.positions.cursorWith(null)));
		return this.#host !== null;
	}

	/** The connection is over, and a new session reads everything that is not committed again. */
	forget(): void {
		this.#sessions++;
		this.#unread.clear();
		this.positions.forgetOpen();
	}

	/** Waits for running work. Uncommitted messages come again. */
	async stop(): Promise<void> {
		this.#host = null;
		this.#pauses.wake();
		await this.#lanes.idle();
		// Committed from the archive: the server is told of its own delivery too.
		for (const work of this.#held.splice(0)) if (this.#missed.has(keyOf(work))) work.done();
		this.#missed.clear();
		this.#stumbles.clear();
		this.#waiting = 0;
		this.#holds = 0;
		this.#isPaused = false;
	}

	#enter(work: Work, isMissed = false): Promise<void> {
		const { chat, message, archivePosition, write, done } = work;
		const name = `${chat} ${message}`;
		const host = this.#host;
		if (!host) return Promise.resolve();
		const positions = this.positions;
		const entry = archivePosition ? positions.enter(archivePosition.archive, archivePosition.position) : null;
		return this.#lanes.run(chat, async () => {
			if (this.#host !== host) return;
			const isWritten = await this.#untilWritten(host, name, () => write(host, positions.cursorWith(entry)));
			this.#wait(-1);
			if (!isWritten) return;
			positions.done(entry);
			if (isMissed) this.#missed.add(keyOf(work));
			done();
		});
	}

	/** While messages are held, answers about missed ones must come in. */
	#wait(change: 1 | 0 | -1): void {
		this.#waiting = Math.max(0, this.#waiting + change);
		const isFull = this.#waiting >= (this.#isPaused ? MOST_WAITING / 2 : MOST_WAITING);
		const isPaused = isFull && this.#holds === 0;
		if (isPaused === this.#isPaused) return;
		this.#isPaused = isPaused;
		this.#options.pause(isPaused);
	}

	/** Never rejects. False: Keryx stopped first. */
	async #untilWritten(host: ChannelHost, name: string, write: () => Promise<unknown>): Promise<boolean> {
		const { log } = this.#options;
		for (let failures = 0; ; failures++) {
			try {
				await write();
				this.#stumbles.forget(name);
				return true;
			} catch (error) {
				if (this.#stumbles.isHopeless(name, error)) {
					log(`a message was skipped, because it can never be stored (${name})`, error);
					this.#stumbles.forget(name);
					return true;
				}
				log(`a message could not be stored yet (${name})`, error);
				if (this.#host === host) await this.#pauses.afterFailures(failures);
				if (this.#host !== host) return false;
			}
		}
	}
}

function keyOf({ archivePosition, chat, message }: Work): string {
	return archivePosition ? `${archivePosition.archive} ${archivePosition.position.id}` : `${chat} ${message}`;
}
