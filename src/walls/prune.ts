// Removes what walls leave on disk: folders shown as /tmp, and status files of dead starters. Commands wrote their contents, so no link
// is followed.
import { chmodSync, lstatSync, readdirSync, rmdirSync, rmSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { endNamespace, findNamespace } from "./namespace.ts";

export interface PruneTmpOptions {
	/** Holds one folder for each conversation. */
	readonly folder: string;
	/** In milliseconds since 1970: what was used since stays. */
	readonly before: number;
	/** Of a folder's name: a program of its conversation still runs. */
	isUsed(name: string): boolean;
}

/** Returns how many were removed. A folder counts as used when a command starts in it, or entries change. */
export function pruneTmp({ folder, before, isUsed }: PruneTmpOptions): number {
	const old = namesIn(folder).filter((name) => !isUsed(name) && lastUse(join(folder, name)) < before);
	for (const name of old) remove(join(folder, name));
	return old.length;
}

/** For the only starter of programs with a status file in this folder, before its first start: ends what an earlier run left behind. */
export async function pruneStatus(folder: string): Promise<void> {
	for (const name of namesIn(folder).filter((one) => one.endsWith(".status"))) {
		const file = join(folder, name);
		const namespace = findNamespace(file);
		if (namespace === null || (await endNamespace(namespace)).length === 0) rmSync(file, { force: true });
	}
}

function lastUse(path: string): number {
	let last = 0;
	// One by one: a command may have left more files than one call takes.
	for (const one of [path, ...namesIn(path).map((name) => join(path, name))])
		last = Math.max(last, lstatSync(one, { throwIfNoEntry: false })?.mtimeMs ?? 0);
	return last;
}

/** A command may have removed the permissions of its own folders. */
function remove(path: string): void {
	if (!lstatSync(path).isDirectory()) {
		unlinkSync(path);
		return;
	}
	chmodSync(path, 0o700);
	for (const name of readdirSync(path)) remove(join(path, name));
	rmdirSync(path);
}

function namesIn(folder: string): string[] {
	try {
		return readdirSync(folder);
	} catch (error) {
		if (["ENOENT", "ENOTDIR", "EACCES"].includes((error as NodeJS.ErrnoException).code ?? "")) return [];
		throw error;
	}
}
