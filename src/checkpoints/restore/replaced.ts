// Files that a large restore replaces or removes get a second name next to the repository, and are freed in the background. Freeing a
// file's blocks can take a millisecond, which dominates a restore of many files.
import { linkSync, mkdirSync, readdirSync, unlinkSync } from "node:fs";
import { rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { namesIn } from "../repository.ts";

const SUFFIX = ".replaced";
/** Smaller restores are fast enough without. */
const MANY = 1000;

export class Replaced {
	readonly #folder: string;
	readonly #prefix: string;
	#isUsed: boolean;
	#count = 0;

	constructor(repository: string, id: string, steps: number) {
		this.#folder = `${repository}${SUFFIX}`;
		this.#prefix = join(this.#folder, `${id}-${process.pid}-${Date.now()}-`);
		this.#isUsed = steps > MANY;
		if (this.#isUsed) mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
	}

	/** If the system gives no second name (another file system, another user's file), the file is freed at once. */
	keep(file: Buffer): void {
		if (!this.#isUsed) return;
		try {
			linkSync(file, `${this.#prefix}${this.#count++}`);
		} catch {
			this.#isUsed = false;
		}
	}

	/** The disk is full: frees them now, and later ones at once. */
	freeNow(): void {
		if (!this.#isUsed) return;
		this.#isUsed = false;
		for (const name of readdirSync(this.#folder)) {
			try {
				unlinkSync(join(this.#folder, name));
			} catch {
				// Another thread of the same restore has freed it.
			}
		}
	}
}

/** Stops early on request; the rest is freed next time. */
export async function freeReplaced(repository: string, isStopped: () => boolean): Promise<void> {
	const folder = `${repository}${SUFFIX}`;
	for (const name of await namesIn(folder)) {
		if (isStopped()) return;
		await unlink(join(folder, name));
	}
	// A folder that a restore has started to fill stays.
	await rmdir(folder).catch(() => {});
}

/** The repositories in this folder with files left to free. */
export async function withReplaced(folder: string): Promise<readonly string[]> {
	const names = await namesIn(folder);
	return names
		.filter((name) => name.endsWith(SUFFIX))
		.map((name) => join(folder, name.slice(0, -SUFFIX.length)));
}
