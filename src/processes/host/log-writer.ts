// Writes one log: the head up to 40 % of its size, then a tail in pieces, of which the oldest is dropped. Output the disk refuses is
// counted as lost, and the program continues.
import { writeSync } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { logFile } from "../log/files.ts";

const HEAD = 0.4;
/** More pieces keep the tail closer to its size; each is a file. */
const PIECES = 8;
/** After a write slower than this, later ones are asynchronous for a while. */
const SLOW_MS = 10;
const SLOW_FOR_MS = 5000;

export class LogWriter {
	readonly #folder: string;
	readonly #headBytes: number;
	readonly #pieceBytes: number;
	#tail: number[] = [];
	#file: FileHandle | null = null;
	#start = 0;
	#size = 0;
	#slowUntil = 0;

	constructor(folder: string, maxBytes: number) {
		this.#folder = folder;
		this.#headBytes = Math.floor(maxBytes * HEAD);
		this.#pieceBytes = Math.ceil((maxBytes - this.#headBytes) / PIECES);
	}

	/** Everything received, including cut and lost bytes. */
	get size(): number {
		return this.#size;
	}

	/**
	 * Synchronous if fast; returns the bytes written. Another thread would cost more than a write, but a slow disk must delay only this
	 * program.
	 */
	appendNow(data: Buffer): number {
		const began = performance.now();
		const room = this.#start + this.#room() - this.#size;
		if (!this.#file || began < this.#slowUntil) return 0;
		try {
			const written = writeSync(this.#file.fd, data, 0, Math.min(data.length, room));
			this.#size += written;
			const now = performance.now();
			if (now - began > SLOW_MS) this.#slowUntil = now + SLOW_FOR_MS;
			return written;
		} catch {
			return 0;
		}
	}

	/** Never rejects. One at a time. */
	async append(data: Buffer): Promise<void> {
		let rest = data;
		while (rest.length > 0) {
			try {
				const file = await this.#current();
				const room = this.#start + this.#room() - this.#size;
				const { bytesWritten } = await file.write(rest, 0, Math.min(rest.length, room));
				this.#size += bytesWritten;
				rest = rest.subarray(bytesWritten);
				await this.#dropOldest();
			} catch {
				await this.#abandon();
				this.#size += rest.length;
				return;
			}
		}
	}

	/** So that its files show its size, even if nothing was written or the last part was lost. */
	async settle(): Promise<void> {
		if (!this.#file) await this.#current().catch(() => {});
	}

	async close(): Promise<void> {
		const file = this.#file;
		this.#file = null;
		await file?.close().catch(() => {});
	}

	/** The file of the next byte. */
	async #current(): Promise<FileHandle> {
		if (this.#file && this.#size < this.#start + this.#room()) return this.#file;
		await this.close();
		const file = await open(logFile(this.#folder, this.#size), "a", 0o600);
		this.#file = file;
		this.#start = this.#size;
		if (this.#start > 0) this.#tail.push(this.#start);
		return file;
	}

	#room(): number {
		return this.#start === 0 ? this.#headBytes : this.#pieceBytes;
	}

	async #dropOldest(): Promise<void> {
		if (this.#tail.length <= PIECES) return;
		await rm(logFile(this.#folder, this.#tail[0] as number), { force: true });
		this.#tail.shift();
	}

	/** A full disk must not cost existing output: an empty piece is dropped, and replaces no other. */
	async #abandon(): Promise<void> {
		const isEmpty = this.#file !== null && this.#size === this.#start;
		await this.close();
		if (!isEmpty) return;
		await rm(logFile(this.#folder, this.#start), { force: true }).catch(() => {});
		this.#tail = this.#tail.filter((start) => start !== this.#start);
	}
}
