// A process's folder: facts at its start (meta.json), its end (end.json), whether the end was noted (forgotten), its wall's namespace
// (wall), its log. Files are written atomically, and outlive the host. They never contain values of variables.
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { KeryxError } from "../errors.ts";
import { isAlive } from "./identity.ts";
import type { ProcessEnd, ProcessIdentity, PtySize } from "./types.ts";

export interface ProcessMeta {
	readonly argv: readonly string[];
	readonly cwd: string;
	readonly pty: PtySize | null;
	readonly startedAt: number;
	/** The host that holds its pipes and waits for it. */
	readonly host: ProcessIdentity;
	/** Null if the host had no time to write it, or nothing was started. */
	readonly identity: ProcessIdentity | null;
}

export interface RecordedEnd extends ProcessEnd {
	/** Survivors at its end. */
	readonly survivors: readonly ProcessIdentity[];
}

export interface ProcessRecord {
	readonly id: string;
	readonly folder: string;
	readonly meta: ProcessMeta;
	readonly end: RecordedEnd | null;
	/** Its host was alive before the end was looked for. */
	readonly isHeld: boolean;
	readonly isForgotten: boolean;
}

const ID = /^[a-z0-9_]{4,40}$/;

/** Written by bubblewrap for a walled program: its namespace, which ends with everything in it. */
export function wallStatusFile(folder: string): string {
	return join(folder, "wall");
}

export function processesFolder(home: string): string {
	return join(home, "processes");
}

/** I10: only ids of this form become a folder. */
export function processFolder(home: string, id: string): string {
	if (!ID.test(id))
		throw new KeryxError(
			"argument.invalid",
			`a process id must be 4 to 40 of a-z, 0-9 and _, not ${JSON.stringify(id)}`,
			{
				field: "id",
			},
		);
	return join(processesFolder(home), id);
}

/** The first file in a process's folder says who took the id. */
type First = "meta.json" | "given-up";

/** Refuses a used id. The folder appears with its first file in it: one without would never say whether its maker is still at work. */
async function createFolder(home: string, id: string, first: First, value: unknown): Promise<string> {
	const folder = processFolder(home, id);
	const draft = draftOf(folder, first);
	await mkdir(draft, { recursive: true, mode: 0o700 });
	try {
		await writeWhole(draft, first, value);
		await rename(draft, folder);
	} catch (cause) {
		await rm(draft, { recursive: true, force: true });
		const { code } = cause as NodeJS.ErrnoException;
		if (code === "ENOTEMPTY" || code === "EEXIST")
			throw new KeryxError("process.taken", `process ${id} already exists`, { cause });
		throw cause;
	}
	return folder;
}

/** Whoever dies while making a folder leaves this. */
function draftOf(folder: string, first: First): string {
	return `${folder}.${first}`;
}

/** Takes the id for a program that is about to be started. */
export function createRecord(home: string, id: string, meta: ProcessMeta): Promise<string> {
	return createFolder(home, id, "meta.json", meta);
}

/** To give up a start, take its id first. A host that gets the request later finds it taken, and starts nothing. */
export async function createGivenUp(home: string, id: string, host: ProcessIdentity | null): Promise<void> {
	await createFolder(home, id, "given-up", { host });
}

export async function hasFolder(home: string, id: string): Promise<boolean> {
	return (await stat(processFolder(home, id)).catch(orMissing(null))) !== null;
}

export async function processIds(home: string): Promise<string[]> {
	const names = await readdir(processesFolder(home), { withFileTypes: true }).catch(orMissing([]));
	return names.filter((entry) => entry.isDirectory() && ID.test(entry.name)).map(({ name }) => name);
}

/** Null if there is none, or its host died before it started. */
export async function readRecord(home: string, id: string): Promise<ProcessRecord | null> {
	const folder = processFolder(home, id);
	const meta = await readJson<ProcessMeta>(join(folder, "meta.json"));
	if (!meta) return null;
	// In this order: if the host is gone by now, a missing end will never come.
	const isHeld = isAlive(meta.host);
	const end = await readJson<RecordedEnd>(join(folder, "end.json"));
	const forgotten = await readFile(join(folder, "forgotten")).catch(orMissing(null));
	return { id, folder, meta, end, isHeld, isForgotten: forgotten !== null };
}

/** The host that holds or held it; null if there is no record. */
export async function readHolder(home: string, id: string): Promise<ProcessIdentity | null> {
	return (await readJson<ProcessMeta>(join(processFolder(home, id), "meta.json")))?.host ?? null;
}

/** The host that may still have the request queued, null if none; or null: its start was not given up. */
export function readGivenUp(
	home: string,
	id: string,
): Promise<{ readonly host: ProcessIdentity | null } | null> {
	return readJson(join(processFolder(home, id), "given-up"));
}

export async function writeMeta(folder: string, meta: ProcessMeta): Promise<void> {
	await writeWhole(folder, "meta.json", meta);
}

export async function writeEnd(folder: string, end: RecordedEnd): Promise<void> {
	await writeWhole(folder, "end.json", end);
}

/** Pipes are unlinked when both ends are open; those of an earlier dead host remain. */
export async function removePipes(folder: string): Promise<void> {
	for (const name of ["stdin", "stdout"]) await rm(join(folder, name), { force: true });
}

export async function writeForgotten(folder: string): Promise<void> {
	await writeFile(join(folder, "forgotten"), "", { mode: 0o600 });
}

/** With what was left of making it. */
export async function removeFolder(folder: string): Promise<void> {
	for (const path of [draftOf(folder, "meta.json"), draftOf(folder, "given-up"), folder])
		await rm(path, { recursive: true, force: true });
}

/** On disk under its name when it returns. */
async function writeWhole(folder: string, name: string, value: unknown): Promise<void> {
	const draft = join(folder, `${name}.new`);
	const handle = await open(draft, "w", 0o600);
	try {
		await handle.writeFile(JSON.stringify(value));
		await handle.sync();
	} finally {
		await handle.close();
	}
	await rename(draft, join(folder, name));
}

async function readJson<Value>(file: string): Promise<Value | null> {
	const text = await readFile(file, "utf8").catch(orMissing(null));
	return text === null ? null : (JSON.parse(text) as Value);
}

function orMissing<Value>(value: Value): (error: unknown) => Value {
	return (error) => {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return value;
		throw error;
	};
}
