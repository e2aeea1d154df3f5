// What walls leave on the disk: folders that were shown as /tmp, and notes of namespaces whose starter died before it could take them
// away. Whatever lies there was written by commands, so no link is followed.
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

/** Answers how many were removed. A folder is used when something begins in it, or is made or removed in it. */
export function pruneTmp({ folder, before, isUsed }: PruneTmpOptions): number {
	const old = namesIn(folder).filter((name) => !isUsed(name) && lastUse(join(folder, name)) < before);
	for (const name of old) remove(join(folder, name));
	return old.length;
}

/** For whoever alone starts programs with a status file in this folder, before the first: what they left behind is ended. */
export async function pruneStatus(folder: string): Promise<void> {
	for (const name of namesIn(folder).filter((one) => one.endsWith(".status"))) {
		const file = join(folder, name);
		const namespace = findNamespace(file);
		if (namespace === null || (await endNamespace(namespace)).length === 0) rmSync(file, { force: true });
	}
}

function lastUse(path: string): number {
	let last = 0;
	// One by one: a command may have left more files than a call takes arguments.
	for (const one of [path, ...namesIn(path).map((name) => join(path, name))])
		last = Math.max(last, lstatSync(one, { throwIfNoEntry: false })?.mtimeMs ?? 0);
	return last;
}

/** A command may have taken the rights to its own folders away. */
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
