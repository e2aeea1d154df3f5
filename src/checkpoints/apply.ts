// Puts files back. Each step begins from what was seen when it was planned, or is done already, or is left alone: so doing all of it
// again after a crash is right. Nothing is reached through a link, and a file is always whole: contents are written aside, put on the
// disk, and only then moved into place. Synchronous system calls, in the thread that also looks at workspaces (worker.ts).
import {
	type BigIntStats,
	closeSync,
	constants,
	fchmodSync,
	fstatSync,
	mkdirSync,
	openSync,
	readdirSync,
	renameSync,
	rmdirSync,
	rmSync,
	symlinkSync,
	unlinkSync,
	writeFileSync,
} from "node:fs";
import { cacheFile, type Found, readCache } from "./cache.ts";
import { contentsOf } from "./contents.ts";
import { DRAFT_PREFIX } from "./excludes.ts";
import { permissionsOf } from "./facts.ts";
import { Flush } from "./flush.ts";
import { fullPath, type RawPath } from "./names.ts";
import type { Step } from "./plan.ts";
import { gitMode, isOlder, isUnchanged, LINK, readEntry, statOf } from "./read-file.ts";
import { Replaced } from "./replaced.ts";
import type { Entry } from "./repository.ts";
import type { KeptReason } from "./types.ts";

export interface Applied {
	readonly restored: readonly RawPath[];
	readonly removed: readonly RawPath[];
	readonly kept: readonly { readonly path: RawPath; readonly reason: KeptReason }[];
}

/** What was put there, by what tells whether it is still the same: the next look need not read it. */
export type Written = ReadonlyMap<RawPath, Found>;

export interface ApplyRequest {
	readonly root: string;
	readonly repository: string;
	/** Of the restore: names what it writes aside. */
	readonly id: string;
	readonly steps: readonly Step[];
	readonly emptyThen: readonly RawPath[];
}

/** So much content is written aside before it is moved into place: as much room on the disk is needed twice. */
const BATCH_BYTES = 64 * 1024 * 1024;
const MAY_RUN = 0o111;
const NO_FOLLOW = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

type Outcome = "done" | KeptReason;
type Write = Step & { readonly want: NonNullable<Entry> };

/** Written aside, and not yet moved into place. */
interface Draft {
	readonly step: Write;
	readonly file: Buffer;
	/** What stood there when it was looked at. */
	readonly before: BigIntStats | undefined;
	/** Of what was written aside; none of a link. */
	readonly after: BigIntStats | undefined;
}

export async function applySteps(
	request: ApplyRequest,
): Promise<{ readonly applied: Applied; readonly written: Written }> {
	const apply = new Apply(request);
	return { applied: await apply.all(), written: apply.written };
}

class Apply {
	readonly #request: ApplyRequest;
	readonly #seen: ReadonlyMap<RawPath, Found>;
	readonly #flush: Flush;
	readonly #replaced: Replaced;
	readonly #writes: readonly Write[];
	/** Of each of them, the same when it is begun again: names its draft. */
	readonly #numbers: ReadonlyMap<Step, number>;
	readonly written = new Map<RawPath, Found>();
	readonly #removed: RawPath[] = [];
	readonly #restored: RawPath[] = [];
	readonly #kept: { path: RawPath; reason: KeptReason }[] = [];

	constructor(request: ApplyRequest) {
		this.#request = request;
		this.#seen = seenFiles(request.repository);
		this.#flush = new Flush(request.root);
		this.#writes = request.steps.filter((step): step is Write => step.want !== null);
		this.#numbers = new Map(this.#writes.map((step, n) => [step, n]));
		this.#replaced = new Replaced(request.repository, request.id, request.steps.length);
	}

	async all(): Promise<Applied> {
		const { root, steps, emptyThen } = this.#request;
		const [removed, restored, kept] = [this.#removed, this.#restored, this.#kept];
		const writes = this.#writes;
		for (const step of steps)
			if (step.want === null)
				this.#note(
					step.path,
					tried(() => this.#remove(step)),
					removed,
				);
		// A folder may stand where a file was.
		const wanted = new Set(writes.map(({ path }) => path));
		removeEmpty(
			root,
			parentsOf(removed).filter((folder) => isWithin(folder, wanted)),
		);
		const outcomes = await this.#write();
		for (const { path } of writes) this.#note(path, outcomes.get(path) ?? "lost", restored);
		const meant = new Set(emptyThen);
		const emptied = parentsOf(removed).filter((folder) => !meant.has(folder));
		for (const folder of removeEmpty(root, emptied)) kept.push({ path: slashed(folder), reason: "refused" });
		// Where one of these files stood in for such a folder.
		const gone = new Set(removed);
		for (const folder of emptyThen.filter((one) => isWithin(one, gone))) {
			const outcome = tried(() => makeFolder(root, folder));
			if (outcome !== "done") kept.push({ path: slashed(folder), reason: outcome });
		}
		await this.#flush.all();
		return { restored, removed, kept };
	}

	#note(path: RawPath, outcome: Outcome, done: RawPath[]): void {
		if (outcome === "done") done.push(path);
		else this.#kept.push({ path, reason: outcome });
	}

	#remove(step: Step): Outcome {
		const { root } = this.#request;
		const parents = parentsState(root, step.path);
		if (parents === "missing") return "done";
		if (parents === "blocked") return "in_the_way";
		const { entry } = present(root, step.path, this.#seen);
		if (entry === null) return "done";
		if (!isSame(entry, step.now)) return "changing";
		const full = fullPath(root, step.path);
		this.#replaced.keep(full);
		unlinkSync(full);
		this.#flush.folder(step.path);
		return "done";
	}

	/** Aside, on the disk, and then each into its place. */
	async #write(): Promise<ReadonlyMap<RawPath, Outcome>> {
		const byContent = Map.groupBy(this.#writes, ({ want }) => want.oid);
		const outcomes = new Map<RawPath, Outcome>();
		let drafts: Draft[] = [];
		let bytes = 0;
		const move = async (): Promise<void> => {
			await this.#flush.all();
			for (const draft of drafts)
				outcomes.set(
					draft.step.path,
					tried(() => this.#move(draft)),
				);
			drafts = [];
			bytes = 0;
		};
		for await (const { oid, data } of contentsOf(this.#request.repository, [...byContent.keys()])) {
			for (const step of byContent.get(oid) ?? []) {
				const outcome = tried(() => this.#draft(step, data, drafts));
				if (outcome !== "drafted") outcomes.set(step.path, outcome);
				bytes += data?.length ?? 0;
			}
			if (bytes > BATCH_BYTES) await move();
		}
		await move();
		return outcomes;
	}

	#draft(step: Write, data: Buffer | null, drafts: Draft[]): Outcome | "drafted" {
		const { root, id } = this.#request;
		const { path, now, want } = step;
		if (!makeParents(root, path, (folder) => this.#flush.passes(folder))) return "in_the_way";
		const file = fullPath(root, `${folderOf(path)}${DRAFT_PREFIX}${id}-${this.#numbers.get(step)}`);
		const { entry, stats } = present(root, path, this.#seen);
		if (isSame(entry, want)) {
			// Of a restore that was cut off.
			rmSync(file, { force: true });
			return "done";
		}
		// Folders without any file in them are not saved, and were not seen as being there.
		const bare = entry === "other" && now === null && removeBareFolder(root, path);
		if (entry === "other" && !bare) return "in_the_way";
		if (!bare && !isSame(entry, now)) return "changing";
		if (entry && entry !== "other" && entry.oid === want.oid && entry.mode !== LINK && want.mode !== LINK) {
			// Another name of the same file would change with it.
			if (stats?.nlink === 1n) {
				setPermissions(fullPath(root, path), permissions(stats, want));
				return "done";
			}
		}
		if (data === null) return "lost";
		const after = anew(file, () =>
			want.mode === LINK ? symlinkSync(data, file) : writeDraft(file, data, want, stats),
		);
		this.#flush.file(file);
		drafts.push({ step, file, before: bare ? undefined : stats, after: after ?? undefined });
		return "drafted";
	}

	/** What has changed since it was looked at stays. */
	#move({ step: { path, want }, file, before, after }: Draft): Outcome {
		const { root } = this.#request;
		const full = fullPath(root, path);
		const isSteady = parentsState(root, path) === "folders" && isUntouched(before, statOf(root, path));
		if (!isSteady) {
			rmSync(file, { force: true });
			return "changing";
		}
		if (before) this.#replaced.keep(full);
		try {
			renameSync(file, full);
		} catch (error) {
			rmSync(file, { force: true });
			throw error;
		}
		this.#flush.folder(path);
		if (after) this.#noteWritten(path, want, after);
		return "done";
	}

	/**
	 * A change of the content after the move has a later time than the draft, which is older than the move by more than a coarse clock hides.
	 * Where it is not (few files, moved at once), the next look reads the file.
	 */
	#noteWritten(path: RawPath, { oid }: NonNullable<Entry>, draft: BigIntStats): void {
		const stats = statOf(this.#request.root, path);
		if (!stats || !isOlder(stats.mtimeNs, stats.ctimeNs)) return;
		const { size, mtimeNs: mtime, ctimeNs: ctime, ino } = stats;
		if (ino !== draft.ino || mtime !== draft.mtimeNs || size !== draft.size) return;
		this.written.set(path, {
			oid,
			mode: gitMode(stats),
			permissions: permissionsOf(stats),
			size,
			mtime,
			ctime,
			ino,
		});
	}
}

/** Of these, what has not been done; all of them where that cannot be seen. */
export function undoneSteps(root: string, steps: readonly Step[]): readonly RawPath[] {
	const seen = new Map<RawPath, Found>();
	return steps
		.filter(({ path, want }) => {
			const entry = parentsState(root, path) === "folders" ? present(root, path, seen).entry : null;
			return !isSame(entry, want);
		})
		.map(({ path }) => path);
}

/** What the look before the restore has found: a file with the same times need not be read again. */
function seenFiles(repository: string): ReadonlyMap<RawPath, Found> {
	return readCache(cacheFile(repository))?.files ?? new Map<RawPath, Found>();
}

function makeFolder(root: string, folder: RawPath): Outcome {
	if (!makeParents(root, folder)) return "in_the_way";
	const stats = statOf(root, folder);
	if (stats) return stats.isDirectory() ? "done" : "in_the_way";
	mkdirSync(fullPath(root, folder));
	return "done";
}

/** What the system refuses for one file is said of that file; the others go on. */
function tried<Result extends string>(step: () => Result): Result | "refused" {
	try {
		return step();
	} catch (error) {
		if (typeof (error as NodeJS.ErrnoException).syscall === "string") return "refused";
		throw error;
	}
}

function setPermissions(full: Buffer, mode: number): void {
	const file = openSync(full, NO_FOLLOW);
	try {
		fchmodSync(file, mode);
	} finally {
		closeSync(file);
	}
}

/** What a restore that was cut off has left under that name goes first. */
function anew<Result>(file: Buffer, make: () => Result): Result {
	try {
		return make();
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
		rmSync(file, { force: true });
		return make();
	}
}

function writeDraft(
	draft: Buffer,
	data: Buffer,
	want: NonNullable<Entry>,
	before: BigIntStats | undefined,
): BigIntStats {
	const isPrivate = want.permissions !== undefined;
	const file = openSync(draft, NEW_FILE, isPrivate ? 0o600 : want.mode === "100755" ? 0o777 : 0o666);
	try {
		writeFileSync(file, data);
		if (isPrivate || before?.isFile()) fchmodSync(file, permissions(before, want));
		return fstatSync(file, { bigint: true });
	} finally {
		closeSync(file);
	}
}

/** Where they were not noted: as they are, but for whether it may be run, by whoever may read it. */
function permissions(stats: BigIntStats | undefined, want: NonNullable<Entry>): number {
	if (want.permissions !== undefined) return want.permissions;
	const own = Number(stats?.mode ?? 0o644n) & 0o777;
	return want.mode === "100755" ? own | ((own & 0o444) >> 2) : own & ~MAY_RUN;
}

/** missing: there is nothing under such a path. blocked: a link or a file stands where a folder should. */
function parentsState(root: string, path: RawPath): "folders" | "missing" | "blocked" {
	for (const folder of foldersOf(path)) {
		const stats = statOf(root, folder);
		if (!stats) return "missing";
		if (!stats.isDirectory()) return "blocked";
	}
	return "folders";
}

function makeParents(root: string, path: RawPath, passes?: (folder: BigIntStats) => void): boolean {
	for (const folder of foldersOf(path)) {
		const stats = statOf(root, folder);
		if (stats && !stats.isDirectory()) return false;
		if (stats) passes?.(stats);
		else mkdirSync(fullPath(root, folder));
	}
	return true;
}

/** What stands there as git would name it; other: a folder, or what no snapshot holds. */
function present(
	root: string,
	path: RawPath,
	seen: ReadonlyMap<RawPath, Found>,
): { readonly entry: Entry | "other"; readonly stats: BigIntStats | undefined } {
	const stats = statOf(root, path);
	if (!stats) return { entry: null, stats };
	if (!stats.isFile() && !stats.isSymbolicLink()) return { entry: "other", stats };
	const before = seen.get(path);
	if (before && isUnchanged(before, stats)) return { entry: entryOf(before.oid, stats), stats };
	const found = readEntry(root, path);
	return { entry: found && entryOf(found.oid, found.stats), stats: found?.stats };
}

function entryOf(oid: string, stats: BigIntStats): NonNullable<Entry> {
	const mode = gitMode(stats);
	return mode === LINK ? { mode, oid } : { mode, oid, permissions: permissionsOf(stats) };
}

function isUntouched(before: BigIntStats | undefined, now: BigIntStats | undefined): boolean {
	if (!before || !now) return before === now;
	return before.ino === now.ino && before.ctimeNs === now.ctimeNs && before.size === now.size;
}

function isSame(a: Entry | "other", b: Entry): boolean {
	if (a === "other") return false;
	if (a === null || b === null) return a === b;
	const known = a.permissions !== undefined && b.permissions !== undefined;
	return a.oid === b.oid && a.mode === b.mode && (!known || a.permissions === b.permissions);
}

/** Ends with /; '' for the workspace. */
function folderOf(path: RawPath): string {
	return path.slice(0, path.lastIndexOf("/") + 1);
}

/** From the outermost to the one it is in. */
function foldersOf(path: RawPath): readonly RawPath[] {
	const folders: RawPath[] = [];
	for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1))
		folders.push(path.slice(0, slash) as RawPath);
	return folders;
}

/** Every folder above one of these, the innermost first. */
function parentsOf(paths: readonly RawPath[]): readonly RawPath[] {
	return [...new Set(paths.flatMap(foldersOf))].sort((a, b) => b.length - a.length);
}

function isWithin(folder: RawPath, wanted: ReadonlySet<RawPath>): boolean {
	return wanted.has(folder) || foldersOf(folder).some((above) => wanted.has(above));
}

/** Answers those that the system did not let go: they stay, and nothing waits for them. */
function removeEmpty(root: string, folders: readonly RawPath[]): readonly RawPath[] {
	const refused: RawPath[] = [];
	for (const folder of folders) {
		if (parentsState(root, folder) !== "folders") continue;
		if (!statOf(root, folder)?.isDirectory()) continue;
		try {
			rmdirSync(fullPath(root, folder));
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
function removeBareFolder(root: string, folder: RawPath): boolean {
	if (!statOf(root, folder)?.isDirectory()) return false;
	const names = readdirSync(fullPath(root, folder), { encoding: "latin1" });
	for (const name of names) if (!removeBareFolder(root, `${folder}/${name}` as RawPath)) return false;
	rmdirSync(fullPath(root, folder));
	return true;
}
