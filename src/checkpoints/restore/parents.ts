// The folders above files that come and go.
import { rmdirSync } from "node:fs";
import type { Folders } from "../folders.ts";
import { nameOf, parentOf, type RawPath } from "../names.ts";
import { statAt } from "../read-file.ts";

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
