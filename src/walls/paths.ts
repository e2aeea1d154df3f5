// Relations between absolute paths, as text: no disk access.
import { dirname } from "node:path";

export function isInside(path: string, folder: string): boolean {
	return folder === "/" ? path !== "/" : path.startsWith(`${folder}/`);
}

export function isAtOrInside(path: string, folder: string): boolean {
	return path === folder || isInside(path, folder);
}

/** The folders above a path, the highest first, without the root. */
export function foldersAbove(path: string): string[] {
	const above: string[] = [];
	for (let folder = dirname(path); folder !== "/" && folder !== "."; folder = dirname(folder))
		above.unshift(folder);
	return above;
}

/** /home of /home/me/.keryx. */
export function topFolder(path: string): string {
	return `/${path.split("/")[1]}`;
}

/** Shorter first, so that a later bind can be inside an earlier one. */
export function byDepth(a: string, b: string): number {
	return a.split("/").length - b.split("/").length || (a < b ? -1 : a > b ? 1 : 0);
}

export function unique(paths: readonly string[]): string[] {
	return [...new Set(paths)];
}
