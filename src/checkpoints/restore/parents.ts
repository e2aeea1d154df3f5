// The parent folders of files that come and go.
import { mkdirSync, rmdirSync } from "node:fs";
import type { Folder, Folders } from "../folders.ts";
import { nameOf, parentOf, type RawPath } from "../names.ts";
import { statAt } from "../read-file.ts";
import type { Flush } from "./flush.ts";

/** From the outermost to its own folder. */
export function foldersOf(path: RawPath): readonly RawPath[] {
	const folders: RawPath[] = [];
	for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1))
		folders.push(path.slice(0, slash) as RawPath);
	return folders;
}

/** Every parent folder of these, innermost first. */
export function parentsOf(paths: readonly RawPath[]): readonly RawPath[] {
	return [...new Set(paths.flatMap(foldersOf))].sort((a, b) => b.length - a.length);
}

export function isWithin(folder: RawPath, wanted: ReadonlySet<RawPath>): boolean {
	return wanted.has(folder) || foldersOf(folder).some((above) => wanted.has(above));
}

/** Returns those that the system refused to remove: they stay, and nothing waits for them. */
export function removeEmpty(folders: Folders, paths: readonly RawPath[]): readonly RawPath[] {
	const refused: RawPath[] = [];
	for (const path of paths) {
		try {
			const folder = folders.open(parentOf(path));
			if (typeof folder === "string") continue;
			const full = folder.at(nameOf(path));
			if (statAt(full)?.isDirectory()) rmdirSync(full);
		} catch (error) {
			const { code } = error as NodeJS.ErrnoException;
			if (code !== "ENOTEMPTY" && code !== "EEXIST" && code !== "ENOENT") refused.push(path);
		}
	}
	return refused;
}

/** Creates the folders for restored files. */
export class Parents {
	readonly #folders: Folders;
	readonly #flush: Flush;
	/** Those that exist. */
	readonly #passed = new Set<string>();

	constructor(folders: Folders, flush: Flush) {
		this.#folders = folders;
		this.#flush = flush;
	}

	/** All parent folders of the path. False: something else is in the way. */
	make(path: RawPath): boolean {
		const parent = parentOf(path);
		if (this.#passed.has(parent) && typeof this.#folders.again(parent) !== "string") return true;
		if (!foldersOf(path).every((folder) => this.#makeOne(folder))) return false;
		this.#passed.add(parent);
		return true;
	}

	/** A folder, with all its parents. */
	makeFolder(path: RawPath): "done" | "in_the_way" {
		return this.make(path) && this.#makeOne(path) ? "done" : "in_the_way";
	}

	#makeOne(path: RawPath): boolean {
		const full = this.#in(parentOf(path))?.at(nameOf(path));
		if (!full) return false;
		const stats = statAt(full);
		if (!stats) return made(full);
		if (stats.isDirectory()) this.#flush.passes(stats);
		return stats.isDirectory();
	}

	#in(path: string): Folder | null {
		const folder = this.#folders.open(path);
		return typeof folder === "string" ? null : folder;
	}
}

/** Another thread of the same restore may create it at the same time. */
function made(full: Buffer): boolean {
	try {
		mkdirSync(full);
		return true;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
		return statAt(full)?.isDirectory() === true;
	}
}
