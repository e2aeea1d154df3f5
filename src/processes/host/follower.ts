// One client that follows one log. It is sent only what it has room for; missed output comes from the files, so a slow client costs the
// host nothing.
import { readLog } from "../log/files.ts";
import { WINDOW } from "../protocol.ts";
import type { LogPiece } from "../types.ts";
import type { ManagedProcess } from "./managed.ts";

const PIECE = 64 * 1024;

export interface FollowerOptions {
	readonly home: string;
	readonly id: string;
	readonly from: number;
	/** Null: all of the log is on disk. */
	readonly process: ManagedProcess | null;
	/** Whether the connection accepts more now; `resume` is called when it does again. */
	hasRoom(): boolean;
	send(piece: LogPiece): void;
	finish(error?: unknown): void;
}

export class Follower {
	readonly #options: FollowerOptions;
	readonly #unsubscribe: () => void;
	#next: number;
	#credit = WINDOW;
	#isReading = false;
	/** New output arrived while reading: the read may be incomplete. */
	#isBehind = false;
	#isOver = false;

	constructor(options: FollowerOptions) {
		this.#options = options;
		this.#next = options.from;
		this.#unsubscribe = options.process?.onOutput((from, data) => this.#take(from, data)) ?? (() => {});
		this.resume();
	}

	/** The client has consumed this much. */
	acknowledge(bytes: number): void {
		this.#credit += bytes;
		this.resume();
	}

	/** There is room again, or the process has ended. */
	resume(): void {
		this.#isBehind = true;
		if (!this.#isReading && !this.#isOver) void this.#catchUp();
	}

	stop(): void {
		this.#isOver = true;
		this.#unsubscribe();
	}

	/** Straight from the program, if nothing is outstanding before it. */
	#take(from: number, data: Buffer): void {
		if (this.#isReading || from !== this.#next || !this.#mayStillSend()) this.resume();
		else this.#send({ from, data, lost: 0, next: from + data.length, size: from + data.length });
	}

	async #catchUp(): Promise<void> {
		this.#isReading = true;
		try {
			while (!this.#isOver && this.#mayStillSend()) {
				this.#isBehind = false;
				const hadEnded = this.#options.process?.hasEnded ?? true;
				const { home, id } = this.#options;
				const piece = await readLog({ home, id, from: this.#next, limit: PIECE });
				if (this.#isOver) return;
				if (piece.next > this.#next) this.#send(piece);
				else if (hadEnded) return this.#finish();
				else if (!this.#isBehind) return;
			}
		} catch (error) {
			this.#finish(error);
		} finally {
			this.#isReading = false;
		}
	}

	#mayStillSend(): boolean {
		return this.#credit > 0 && this.#options.hasRoom();
	}

	#send(piece: LogPiece): void {
		this.#next = piece.next;
		this.#credit -= piece.data.length;
		this.#options.send(piece);
	}

	#finish(error?: unknown): void {
		this.stop();
		this.#options.finish(error);
	}
}
