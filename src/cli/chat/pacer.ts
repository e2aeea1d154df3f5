// When to draw: at once if the screen was still, otherwise with the next frame; never while the terminal has unread output.
import type { Writable } from "node:stream";
import type { Clock } from "../../time/index.ts";

export interface PacerOptions {
	readonly output: Writable;
	readonly clock: Clock;
	/** The bytes that show the current state; "" if it is shown. */
	readonly frame: () => string;
}

/** About thirty frames a second. */
const FRAME_MS = 33;

export class Pacer {
	readonly #options: PacerOptions;
	#drawnAt = Number.NEGATIVE_INFINITY;
	#writtenAt = Number.NEGATIVE_INFINITY;
	#cancel: (() => void) | undefined;
	#isFull = false;
	#isHeld = false;
	#isStopped = false;

	constructor(options: PacerOptions) {
		this.#options = options;
	}

	/** How long the screen has been unchanged. */
	get stillFor(): number {
		return this.#options.clock.monotonic() - this.#writtenAt;
	}

	/** Drawing has to wait. */
	get isHeld(): boolean {
		return this.#isHeld;
	}

	/** Draws nothing for this long, then the current state. */
	hold(ms: number): void {
		if (this.#isStopped) return;
		this.#cancel?.();
		this.#isHeld = true;
		this.#cancel = this.#options.clock.after(ms, () => {
			this.#cancel = undefined;
			this.#isHeld = false;
			if (!this.#isFull) this.#drawNow();
		});
	}

	/** Something has changed. */
	draw(): void {
		if (this.#cancel || this.#isFull || this.#isStopped) return;
		const { clock } = this.#options;
		const since = clock.monotonic() - this.#drawnAt;
		if (since >= FRAME_MS) {
			this.#drawNow();
			return;
		}
		this.#cancel = clock.after(FRAME_MS - since, () => {
			this.#cancel = undefined;
			if (!this.#isFull) this.#drawNow();
		});
	}

	/** Writes outside the frames. */
	write(text: string): void {
		if (text === "") return;
		const { output, clock } = this.#options;
		this.#writtenAt = clock.monotonic();
		if (output.write(text) || this.#isFull) return;
		this.#isFull = true;
		output.once("drain", () => {
			this.#isFull = false;
			this.draw();
		});
	}

	stop(): void {
		this.#isStopped = true;
		this.#cancel?.();
		this.#cancel = undefined;
	}

	#drawNow(): void {
		this.#drawnAt = this.#options.clock.monotonic();
		this.write(this.#options.frame());
	}
}
