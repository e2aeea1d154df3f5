// Syncs what a restore has written. One sync of the file system covers all files; syncing tens of thousands one by one takes minutes. On
// other file systems (a mount in the workspace), or without such a sync, each file and folder is synced.
import { spawn } from "node:child_process";
import { type BigIntStats, closeSync, constants, fsyncSync, lstatSync, openSync } from "node:fs";
import { fullPath, type RawPath } from "../names.ts";

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Written by another thread, and not synced yet. */
export interface Unflushed {
	readonly paths: readonly string[];
	readonly isElsewhere: boolean;
}

export class Flush {
	readonly #root: string;
	readonly #device: bigint;
	/** Written since the last sync. */
	readonly #paths = new Set<string>();

	/** Something was written to another file system than the workspace's. */
	#isElsewhere = false;

	constructor(root: string) {
		this.#root = root;
		this.#device = lstatSync(root, { bigint: true }).dev;
	}

	/** A new file of this name, in the folder of the path. */
	file(path: RawPath, name: string): void {
		this.#paths.add(folderOf(path) + name);
	}

	/** Something in this path's folder was added or removed. */
	folder(path: RawPath): void {
		this.#paths.add(folderOf(path));
	}

	/** A parent folder of something written. */
	passes({ dev }: BigIntStats): void {
		if (dev !== this.#device) this.#isElsewhere = true;
	}

	left(): Unflushed {
		return { paths: [...this.#paths], isElsewhere: this.#isElsewhere };
	}

	takeOver({ paths, isElsewhere }: Unflushed): void {
		for (const path of paths) this.#paths.add(path);
		if (isElsewhere) this.#isElsewhere = true;
	}

	async all(): Promise<void> {
		if (this.#paths.size === 0) return;
		const isSynced = await syncFileSystem(this.#root);
		const isOne = isSynced && !this.#isElsewhere;
		if (!isOne)
			for (const path of this.#paths) flushOne(fullPath(this.#root, path), isSynced ? this.#device : null);
		this.#paths.clear();
	}
}

/** With a trailing slash. */
function folderOf(path: RawPath): string {
	return path.slice(0, path.lastIndexOf("/") + 1);
}

/** False if this system cannot. */
function syncFileSystem(root: string): Promise<boolean> {
	if (process.platform !== "linux") return Promise.resolve(false);
	return new Promise((resolve) => {
		const child = spawn("sync", ["-f", root], { stdio: "ignore" });
		child.on("error", () => resolve(false));
		child.on("close", (code) => resolve(code === 0));
	});
}

/** Links have no content. Missing or unopenable ones were not written by us. */
function flushOne(path: Buffer, synced: bigint | null): void {
	let file: number;
	try {
		const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
		if (!stats || stats.dev === synced || !(stats.isFile() || stats.isDirectory())) return;
		file = openSync(path, READ);
	} catch {
		return;
	}
	try {
		fsyncSync(file);
	} finally {
		closeSync(file);
	}
}
