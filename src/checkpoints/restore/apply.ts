// Puts files back. Each step begins from what was seen when it was planned, or is done already, or is left alone: so doing all of it
// again after a crash is right. Nothing is reached through a link (folders.ts), and a file is always whole: contents are written aside,
// put on the disk, and only then moved into place. Synchronous system calls, in the thread that also looks at workspaces (worker.ts).
import { type BigIntStats, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, unlinkSync } from "node:fs";
import { cacheFile, type Found, readCache } from "../cache.ts";
import { DRAFT_PREFIX } from "../excludes.ts";
import { permissionsOf } from "../facts.ts";
import { type Folder, Folders } from "../folders.ts";
import { nameOf, parentOf, type RawPath } from "../names.ts";
import { gitMode, isOlder, LINK, statAt } from "../read-file.ts";
import type { Entry } from "../repository.ts";
import type { KeptReason } from "../types.ts";
import { contentsOf } from "./contents.ts";
import { givePermissions, makeDraft } from "./draft.ts";
import { Flush } from "./flush.ts";
import { foldersOf, isWithin, parentsOf, removeEmpty } from "./parents.ts";
import type { Step } from "./plan.ts";
import { Replaced } from "./replaced.ts";
import { isSame, isUntouched, present } from "./standing.ts";

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

type Outcome = "done" | KeptReason;
type Write = Step & { readonly want: NonNullable<Entry> };

/** Written aside, and not yet moved into place. */
interface Draft {
	readonly step: Write;
	/** In the folder of what it is to become. */
	readonly name: string;
	/** What stood there when it was looked at. */
	readonly before: BigIntStats | undefined;
	/** Of what was written aside; none of a link. */
	readonly after: BigIntStats | undefined;
}

export async function applySteps(
	request: ApplyRequest,
): Promise<{ readonly applied: Applied; readonly written: Written }> {
	const apply = new Apply(request);
	try {
		return { applied: await apply.all(), written: apply.written };
	} finally {
		apply.close();
	}
}

class Apply {
	readonly #request: ApplyRequest;
	readonly #seen: ReadonlyMap<RawPath, Found>;
	readonly #flush: Flush;
	readonly #folders: Folders;
	/** Folders that something was written to. */
	readonly #passed = new Set<string>();
	readonly #replaced: Replaced;
	readonly #writes: readonly Write[];
	/** Of each of them, the same when it is begun again: names its draft. */
	readonly #numbers: ReadonlyMap<Step, number>;
	/** Files with several names, one of which was replaced or removed here: that has changed their times under the others. */
	readonly #shared = new Set<bigint>();
	readonly written = new Map<RawPath, Found>();
	readonly #removed: RawPath[] = [];
	readonly #restored: RawPath[] = [];
	readonly #kept: { path: RawPath; reason: KeptReason }[] = [];

	constructor(request: ApplyRequest) {
		this.#request = request;
		this.#seen = seenFiles(request.repository);
		this.#flush = new Flush(request.root);
		this.#folders = new Folders(request.root);
		this.#writes = request.steps.filter((step): step is Write => step.want !== null);
		this.#numbers = new Map(this.#writes.map((step, n) => [step, n]));
		this.#replaced = new Replaced(request.repository, request.id, request.steps.length);
	}

	close(): void {
		this.#folders.close();
	}

	async all(): Promise<Applied> {
		const { steps, emptyThen } = this.#request;
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
			this.#folders,
			parentsOf(removed).filter((folder) => isWithin(folder, wanted)),
		);
		const outcomes = await this.#write();
		for (const { path } of writes) this.#note(path, outcomes.get(path) ?? "lost", restored);
		const meant = new Set(emptyThen);
		const emptied = parentsOf(removed).filter((folder) => !meant.has(folder));
		for (const folder of removeEmpty(this.#folders, emptied))
			kept.push({ path: slashed(folder), reason: "refused" });
		// Where one of these files stood in for such a folder.
		const gone = new Set(removed);
		for (const folder of emptyThen.filter((one) => isWithin(one, gone))) {
			const outcome = tried(() => this.#makeFolder(folder));
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
		const folder = this.#folders.open(parentOf(step.path));
		if (folder === "missing") return "done";
		if (folder === "blocked") return "in_the_way";
		const full = folder.at(nameOf(step.path));
		const { entry, stats } = present(full, this.#seen.get(step.path));
		if (entry === null) return "done";
		if (!isSame(entry, step.now)) return "changing";
		this.#replaced.keep(full);
		unlinkSync(full);
		this.#noteShared(stats);
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
		for await (const some of contentsOf(this.#request.repository, [...byContent.keys()]))
			for (const { oid, data } of some) {
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

	/** `mayBeBare`: a folder without any file may stand there, which no snapshot has seen. */
	#draft(
		step: Write,
		data: Buffer | null,
		drafts: Draft[],
		mayBeBare = step.now === null,
	): Outcome | "drafted" {
		const { path, now, want } = step;
		const name = `${DRAFT_PREFIX}${this.#request.id}-${this.#numbers.get(step)}`;
		if (!this.#makeParents(path)) return "in_the_way";
		const folder = this.#folders.again(parentOf(path));
		if (typeof folder === "string") return "changing";
		const [file, full] = [folder.at(name), folder.at(nameOf(path))];
		const { entry, stats } = present(full, this.#seen.get(path));
		if (mayBeBare && stats?.isDirectory() && this.#removeBareFolder(path))
			return this.#draft(step, data, drafts, false);
		if (isSame(entry, want)) {
			// Of a restore that was cut off.
			rmSync(file, { force: true });
			return "done";
		}
		if (entry === "other") return "in_the_way";
		if (!isSame(entry, now)) return "changing";
		if (entry && entry.oid === want.oid && entry.mode !== LINK && want.mode !== LINK) {
			// Another name of the same file would change with it.
			if (stats?.nlink === 1n) {
				givePermissions(full, stats, want);
				return "done";
			}
		}
		if (data === null) return "lost";
		const after = makeDraft(file, data, want, stats);
		this.#flush.file(path, name);
		drafts.push({ step, name, before: stats, after });
		return "drafted";
	}

	/** What has changed since it was looked at stays. */
	#move({ step: { path, want }, name, before, after }: Draft): Outcome {
		const folder = this.#folders.again(parentOf(path));
		// Something else stands there by now, and the draft went with its folder.
		if (typeof folder === "string") return "changing";
		const [file, full] = [folder.at(name), folder.at(nameOf(path))];
		if (!isUntouched(before, statAt(full), before !== undefined && this.#shared.has(before.ino))) {
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
		this.#noteShared(before);
		this.#flush.folder(path);
		if (after) this.#noteWritten(path, want, { draft: after, stats: statAt(full) });
		return "done";
	}

	#noteShared(stats: BigIntStats | undefined): void {
		if (stats && stats.nlink > 1n) this.#shared.add(stats.ino);
	}

	/**
	 * A change of the content after the move has a later time than the draft, which is older than the move by more than a coarse clock hides.
	 * Where it is not (few files, moved at once), the next look reads the file.
	 */
	#noteWritten(
		path: RawPath,
		{ oid }: NonNullable<Entry>,
		{ draft, stats }: { readonly draft: BigIntStats; readonly stats: BigIntStats | undefined },
	): void {
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

	#makeFolder(path: RawPath): Outcome {
		if (!this.#makeParents(path)) return "in_the_way";
		const full = this.#in(parentOf(path))?.at(nameOf(path));
		if (!full) return "in_the_way";
		const stats = statAt(full);
		if (stats) return stats.isDirectory() ? "done" : "in_the_way";
		mkdirSync(full);
		return "done";
	}

	#makeParents(path: RawPath): boolean {
		const parent = parentOf(path);
		if (this.#passed.has(parent) && typeof this.#folders.again(parent) !== "string") return true;
		for (const folder of foldersOf(path)) {
			const full = this.#in(parentOf(folder))?.at(nameOf(folder));
			if (!full) return false;
			const stats = statAt(full);
			if (stats && !stats.isDirectory()) return false;
			if (stats) this.#flush.passes(stats);
			else mkdirSync(full);
		}
		this.#passed.add(parent);
		return true;
	}

	/** False: something is in it, or it is none. */
	#removeBareFolder(path: RawPath): boolean {
		const folder = this.#in(path);
		if (!folder) return false;
		for (const name of readdirSync(folder.at("."), { encoding: "latin1" }))
			if (!this.#removeBareFolder(`${path}/${name}` as RawPath)) return false;
		const full = this.#in(parentOf(path))?.at(nameOf(path));
		if (full) rmdirSync(full);
		return full !== undefined;
	}

	#in(path: string): Folder | null {
		const folder = this.#folders.open(path);
		return typeof folder === "string" ? null : folder;
	}
}

/** What the look before the restore has found: a file with the same times need not be read again. */
function seenFiles(repository: string): ReadonlyMap<RawPath, Found> {
	return readCache(cacheFile(repository))?.files ?? new Map<RawPath, Found>();
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

function slashed(folder: RawPath): RawPath {
	return `${folder}/` as RawPath;
}
