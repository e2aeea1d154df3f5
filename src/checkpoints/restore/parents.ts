// The folders above files that come and go.
import { mkdirSync, rmdirSync } from "node:fs";
import type { Folder, Folders } from "../folders.ts";
import { nameOf, parentOf, type RawPath } from "../names.ts";
import { statAt } from "../read-file.ts";
import type { Flush } from "./flush.ts";

/** From the outermost to the one it is in. */
export function foldersOf(path: RawPath): readonly RawPath[] {
	const folders: RawPath[] = [];
	for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1))
		folders.push(path.slice(0, slash) as RawPath);
	return folders;
}

/** Every folder above one of these, the innermost first. */
export function parentsOf(paths: readonly RawPath[]): readonly RawPath[] {
	return [...new Set(paths.flatMap(foldersOf))].sort((a, b) => b.length - a.length);
}

export function isWithin(folder: RawPath, wanted: ReadonlySet<RawPath>): boolean {
	return wanted.has(folder) || foldersOf(folder).some((above) => wanted.has(above));
}

/** Answers those that the system did not let go: they stay, and nothing waits for them. */
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

/** Makes the folders above what is written. Other threads may make them at the same time. */
export class Parents {
	readonly #folders: Folders;
	readonly #flush: Flush;
	readonly #passed = new Set<string>();

	constructor(folders: Folders, flush: Flush) {
		this.#folders = folders;
		this.#flush = flush;
	}

	/** False where something else than a folder stands in the way. */
	make(path: RawPath): boolean {
		const parent = parentOf(path);
		if (this.#passed.has(parent) && typeof this.#folders.again(parent) !== "string") return true;
		for (const folder of foldersOf(path)) {
			const within = this.#folders.open(parentOf(folder));
			if (typeof within === "string" || !this.#makeOne(within, folder)) return false;
		}
		this.#passed.add(parent);
		return true;
	}

	#makeOne(within: Folder, folder: RawPath): boolean {
		const full = within.at(nameOf(folder));
		const stats = statAt(full) ?? made(full);
		if (stats === "made") return true;
		if (!stats?.isDirectory()) return false;
		this.#flush.passes(stats);
		return true;
	}
}

function made(full: Buffer): "made" | ReturnType<typeof statAt> {
	try {
		mkdirSync(full);
		return "made";
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
		return statAt(full);
	}
}
