// Puts files back. Each step begins from what was seen when it was planned, or is done already, or is left alone: so doing all of it
// again after a crash is right. Nothing is reached through a link, and a file is always whole: it is written aside and moved.
import { constants, type Stats } from "node:fs";
import {
	lstat,
	mkdir,
	open,
	readdir,
	readFile,
	readlink,
	rename,
	rm,
	rmdir,
	symlink,
	unlink,
} from "node:fs/promises";
import { DRAFT_PREFIX } from "./excludes.ts";
import { fullPath, type RawPath } from "./names.ts";
import type { Step } from "./plan.ts";
import { blobId } from "./read-file.ts";
import { blobs, type Entry } from "./repository.ts";
import type { KeptReason } from "./types.ts";

export interface Applied {
	readonly restored: readonly RawPath[];
	readonly removed: readonly RawPath[];
	readonly kept: readonly { readonly path: RawPath; readonly reason: KeptReason }[];
}

export interface ApplyInput {
	readonly root: string;
	readonly repository: string;
	/** Of the restore: names what it writes aside. */
	readonly id: string;
	readonly steps: readonly Step[];
	readonly emptyThen: readonly RawPath[];
}

/** So many contents are in memory at once. */
const BATCH = 32;
const LINK = "120000";
const MAY_RUN = 0o111;
const NO_FOLLOW = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

type Outcome = "done" | KeptReason;

export async function applySteps(input: ApplyInput): Promise<Applied> {
	const { root, steps, repository } = input;
	const removed: RawPath[] = [];
	const restored: RawPath[] = [];
	const kept: { path: RawPath; reason: KeptReason }[] = [];
	const note = (path: RawPath, outcome: Outcome, done: RawPath[]): void => {
		if (outcome === "done") done.push(path);
		else kept.push({ path, reason: outcome });
	};
	const removals = steps.filter(({ want }) => want === null);
	const writes = steps.filter(({ want }) => want !== null);
	for (const step of removals) note(step.path, await tried(remove(root, step)), removed);
	// A folder may stand where a file was.
	const wanted = new Set(writes.map(({ path }) => path));
	await removeEmpty(
		root,
		parentsOf(removed).filter((folder) => isWithin(folder, wanted)),
	);
	for (let at = 0; at < writes.length; at += BATCH) {
		const batch = writes.slice(at, at + BATCH);
		const oids = [...new Set(batch.map(({ want }) => (want as { oid: string }).oid))];
		const found = await blobs(repository, oids);
		const contents = new Map(oids.map((oid, n) => [oid, found[n] as Buffer]));
		for (const step of batch) note(step.path, await tried(write(input, step, contents)), restored);
	}
	const meant = new Set(input.emptyThen);
	const emptied = parentsOf(removed).filter((folder) => !meant.has(folder));
	for (const folder of await removeEmpty(root, emptied))
		kept.push({ path: slashed(folder), reason: "refused" });
	// Where one of these files stood in for such a folder.
	const gone = new Set(removed);
	for (const folder of input.emptyThen.filter((one) => isWithin(one, gone))) {
		const outcome = await tried(makeFolder(root, folder));
		if (outcome !== "done") kept.push({ path: slashed(folder), reason: outcome });
	}
	return { restored, removed, kept };
}

/** Of these, what has not been done; all of them where that cannot be seen. */
export async function undoneSteps(root: string, steps: readonly Step[]): Promise<readonly RawPath[]> {
	const left: RawPath[] = [];
	for (const { path, want } of steps) {
		const parents = await parentsState(root, path);
		const entry = parents === "folders" ? (await present(root, path)).entry : null;
		if (!isSame(entry, want)) left.push(path);
	}
	return left;
}

async function makeFolder(root: string, folder: RawPath): Promise<Outcome> {
	if (!(await makeParents(root, folder))) return "in_the_way";
	const stats = await statOf(root, folder);
	if (stats) return stats.isDirectory() ? "done" : "in_the_way";
	await mkdir(fullPath(root, folder));
	return "done";
}

/** What the system refuses for one file is said of that file; the others go on. */
async function tried(step: Promise<Outcome>): Promise<Outcome> {
	try {
		return await step;
	} catch (error) {
		if (typeof (error as NodeJS.ErrnoException).syscall === "string") return "refused";
		throw error;
	}
}

async function remove(root: string, step: Step): Promise<Outcome> {
	const parents = await parentsState(root, step.path);
	if (parents === "missing") return "done";
	if (parents === "blocked") return "in_the_way";
	const { entry } = await present(root, step.path);
	if (entry === null) return "done";
	if (!isSame(entry, step.now)) return "changing";
	await unlink(fullPath(root, step.path));
	return "done";
}

async function write(
	{ root, id }: ApplyInput,
	{ path, now, want }: Step,
	contents: ReadonlyMap<string, Buffer>,
): Promise<Outcome> {
	const { mode, oid } = want as { mode: string; oid: string };
	if (!(await makeParents(root, path))) return "in_the_way";
	const slash = path.lastIndexOf("/") + 1;
	const draft = fullPath(root, `${path.slice(0, slash)}${DRAFT_PREFIX}${id}`);
	await rm(draft, { force: true });
	const { entry, stats } = await present(root, path);
	if (isSame(entry, want)) return "done";
	// Folders without any file in them are not saved, and were not seen as being there.
	const bare = entry === "other" && now === null && (await removeBareFolder(root, path));
	if (entry === "other" && !bare) return "in_the_way";
	if (!bare && !isSame(entry, now)) return "changing";
	const full = fullPath(root, path);
	if (entry && entry !== "other" && entry.oid === oid && entry.mode !== LINK && mode !== LINK) {
		await setPermissions(full, permissions(stats, mode));
		return "done";
	}
	const data = contents.get(oid) as Buffer;
	if (mode === LINK) await symlink(data, draft);
	else await writeDraft(draft, data, mode, stats);
	await rename(draft, full);
	return "done";
}

async function setPermissions(full: Buffer, mode: number): Promise<void> {
	const file = await open(full, NO_FOLLOW);
	try {
		await file.chmod(mode);
	} finally {
		await file.close();
	}
}

async function writeDraft(
	draft: Buffer,
	data: Buffer,
	mode: string,
	before: Stats | undefined,
): Promise<void> {
	const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
	const file = await open(draft, flags, mode === "100755" ? 0o777 : 0o666);
	try {
		await file.writeFile(data);
		if (before?.isFile()) await file.chmod(permissions(before, mode));
		await file.sync();
	} finally {
		await file.close();
	}
}

/** As they are, but for whether it may be run: by whoever may read it. */
function permissions(stats: Stats | undefined, mode: string): number {
	const own = (stats?.mode ?? 0o644) & 0o777;
	return mode === "100755" ? own | ((own & 0o444) >> 2) : own & ~MAY_RUN;
}

/** missing: there is nothing under such a path. blocked: a link or a file stands where a folder should. */
async function parentsState(root: string, path: RawPath): Promise<"folders" | "missing" | "blocked"> {
	for (const folder of foldersOf(path)) {
		const stats = await statOf(root, folder);
		if (!stats) return "missing";
		if (!stats.isDirectory()) return "blocked";
	}
	return "folders";
}

async function makeParents(root: string, path: RawPath): Promise<boolean> {
	for (const folder of foldersOf(path)) {
		const stats = await statOf(root, folder);
		if (stats && !stats.isDirectory()) return false;
		if (!stats) await mkdir(fullPath(root, folder));
	}
	return true;
}

/** What stands there as git would name it; other: a folder, or what no snapshot holds. */
async function present(
	root: string,
	path: RawPath,
): Promise<{ readonly entry: Entry | "other"; readonly stats: Stats | undefined }> {
	const stats = await statOf(root, path);
	if (!stats) return { entry: null, stats };
	const full = fullPath(root, path);
	if (stats.isSymbolicLink())
		return { entry: { mode: LINK, oid: blobId(await readlink(full, { encoding: "buffer" })) }, stats };
	if (!stats.isFile()) return { entry: "other", stats };
	const file = await open(full, NO_FOLLOW);
	try {
		const mode = (stats.mode & 0o100) === 0 ? "100644" : "100755";
		return { entry: { mode, oid: blobId(await readFile(file)) }, stats };
	} finally {
		await file.close();
	}
}

async function statOf(root: string, path: RawPath): Promise<Stats | undefined> {
	try {
		return await lstat(fullPath(root, path));
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === "ENOENT" || code === "ENOTDIR") return undefined;
		throw error;
	}
}

function isSame(a: Entry | "other", b: Entry): boolean {
	if (a === "other") return false;
	return a === b || (a !== null && b !== null && a.oid === b.oid && a.mode === b.mode);
}

/** From the outermost to the one it is in. */
function foldersOf(path: RawPath): readonly RawPath[] {
	const parts = path.split("/").slice(0, -1);
	return parts.map((_, n) => parts.slice(0, n + 1).join("/") as RawPath);
}

/** Every folder above one of these, the innermost first. */
function parentsOf(paths: readonly RawPath[]): readonly RawPath[] {
	return [...new Set(paths.flatMap(foldersOf))].sort((a, b) => b.length - a.length);
}

function isWithin(folder: RawPath, wanted: ReadonlySet<RawPath>): boolean {
	return wanted.has(folder) || foldersOf(folder).some((above) => wanted.has(above));
}

/** Answers those that the system did not let go: they stay, and nothing waits for them. */
async function removeEmpty(root: string, folders: readonly RawPath[]): Promise<readonly RawPath[]> {
	const refused: RawPath[] = [];
	for (const folder of folders) {
		if ((await parentsState(root, folder)) !== "folders") continue;
		if (!(await statOf(root, folder))?.isDirectory()) continue;
		try {
			await rmdir(fullPath(root, folder));
		} catch (error) {
			const { code } = error as NodeJS.ErrnoException;
			if (code !== "ENOTEMPTY" && code !== "EEXIST" && code !== "ENOENT") refused.push(folder);
		}
	}
	return refused;
}

function slashed(folder: RawPath): RawPath {
	return `${folder}/` as RawPath;
}

/** False: it is no folder, or there is something in it, or below. */
async function removeBareFolder(root: string, folder: RawPath): Promise<boolean> {
	if (!(await statOf(root, folder))?.isDirectory()) return false;
	const names = await readdir(fullPath(root, folder), { encoding: "latin1" });
	for (const name of names) if (!(await removeBareFolder(root, `${folder}/${name}` as RawPath))) return false;
	await rmdir(fullPath(root, folder));
	return true;
}
