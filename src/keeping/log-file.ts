// Keryx's own log on disk: one file that is appended to, and a few older ones. Nobody waits for it, and it is limited: a full file
// becomes the first of the older ones, of which the last is dropped. Readable only by its owner.
import { access, chmod, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** How much waits in memory while the disk is slow. Lines beyond that, or that the disk refuses, are dropped and counted. */
const MOST_WAITING = 1024 * 1024;

interface LogFileOptions {
	readonly path: string;
	/** Read at each write: they may change while Keryx runs. */
	readonly limits: () => { readonly bytes: number; readonly keep: number };
	/** The line that stands for dropped ones. */
	readonly dropped: (count: number) => string;
	/** Called once per run of failures. */
	readonly failed: (error: Error) => void;
}

export class LogFile {
	readonly #options: LogFileOptions;
	#waiting: string[] = [];
	#size = 0;
	#lost = 0;
	#writing: Promise<void> | null = null;
	#isFailing = false;

	constructor(options: LogFileOptions) {
		this.#options = options;
	}

	/** Without a line feed. Returns at once. */
	write(line: string): void {
		if (this.#size > MOST_WAITING) {
			this.#lost++;
			return;
		}
		this.#waiting.push(`${line}\n`);
		this.#size += line.length + 1;
		this.#writing ??= this.#drain().finally(() => {
			this.#writing = null;
		});
	}

	/** Resolves when everything written so far is on disk, or has failed. */
	async flush(): Promise<void> {
		while (this.#writing) await this.#writing;
	}

	async #drain(): Promise<void> {
		while (this.#waiting.length > 0) {
			const lines = this.#waiting.length + this.#lost;
			if (this.#lost > 0) this.#waiting.push(`${this.#options.dropped(this.#lost)}\n`);
			// A refused write may have left half a line.
			const text = `${this.#isFailing ? "\n" : ""}${this.#waiting.join("")}`;
			this.#waiting = [];
			this.#size = 0;
			this.#lost = 0;
			try {
				await this.#append(text);
				this.#isFailing = false;
			} catch (error) {
				if (!this.#isFailing) this.#options.failed(error as Error);
				this.#isFailing = true;
				this.#lost += lines;
			}
		}
	}

	async #append(text: string): Promise<void> {
		const { path, limits } = this.#options;
		const { bytes, keep } = limits();
		const size = await stat(path).then(
			(file) => file.size,
			() => null,
		);
		if (size === null) await mkdir(dirname(path), { recursive: true, mode: 0o700 });
		if (size !== null && size > 0 && size + Buffer.byteLength(text) > bytes) await rotate(path, keep);
		const file = await open(path, "a", 0o600);
		try {
			await file.appendFile(text);
		} finally {
			await file.close();
		}
		if (size === null) await chmod(path, 0o600);
	}
}

/** `path` becomes `path.1`, that `path.2`, and so on; `keep` older ones stay. */
async function rotate(path: string, keep: number): Promise<void> {
	// Beyond that, too: fewer may be kept than before.
	for (let n = Math.max(1, keep); await isThere(`${path}.${n}`); n++)
		await rm(`${path}.${n}`, { force: true });
	for (let n = keep - 1; n >= 1; n--) await renameIfThere(`${path}.${n}`, `${path}.${n + 1}`);
	if (keep > 0) await renameIfThere(path, `${path}.1`);
	else await rm(path, { force: true });
}

async function isThere(path: string): Promise<boolean> {
	return access(path).then(
		() => true,
		() => false,
	);
}

async function renameIfThere(from: string, to: string): Promise<void> {
	await rename(from, to).catch((error: NodeJS.ErrnoException) => {
		if (error.code !== "ENOENT") throw error;
	});
}
