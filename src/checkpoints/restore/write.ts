// Writes files of a restore. A file is always whole: contents are written aside, put on the disk, and only then moved into place. Each step
// begins from what was seen when it was planned, or is done already, or is left alone: so doing all of it again after a crash is right.
// Nothing is reached through a link (folders.ts). Synchronous system calls, in a thread of their own (worker.ts).
import { type BigIntStats, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import type { Found } from "../cache.ts";
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
import { Parents } from "./parents.ts";
import type { Step } from "./plan.ts";
import { Replaced } from "./replaced.ts";
import { isSame, isUntouched, present } from "./standing.ts";

export interface WriteRequest {
	readonly root: string;
	readonly repository: string;
	/** Of the restore: names what it writes aside. */
	readonly id: string;
	/** Which of how many parts of the restore this is. */
	readonly part: number;
	readonly parts: number;
	/** How many steps the whole restore has. */
	readonly steps: number;
	readonly writes: readonly Write[];
	/** Files with several names, one of which this restore has removed. */
	readonly shared: ReadonlySet<bigint>;
}

export interface Write extends Step {
	readonly want: NonNullable<Entry>;
	/** Names its draft: the same when the restore is begun again. */
	readonly number: number;
	/** What the look before the restore has found: a file with the same times need not be read again. */
	readonly seen: Found | undefined;
}

export type Outcome = "done" | KeptReason;

/** What was put there, by what tells whether it is still the same: the next look need not read it. */
export type Written = ReadonlyMap<RawPath, Found>;

export interface Writing {
	readonly outcomes: ReadonlyMap<RawPath, Outcome>;
	readonly written: Written;
}

/** So much content is written aside before it is moved into place, by all parts together: as much room on the disk is needed twice. */
const BATCH_BYTES = 64 * 1024 * 1024;

/** Written aside, and not yet moved into place. */
interface Draft {
	readonly write: Write;
	/** In the folder of what it is to become. */
	readonly name: string;
	/** What stood there when it was looked at. */
	readonly before: BigIntStats | undefined;
	/** Of what was written aside; none of a link. */
	readonly after: BigIntStats | undefined;
}

export async function writeFiles(request: WriteRequest): Promise<Writing> {
	const writer = new Writer(request);
	try {
		await writer.all();
		const { outcomes, written } = writer;
		return { outcomes, written };
	} finally {
		writer.close();
	}
}

class Writer {
	readonly outcomes = new Map<RawPath, Outcome>();
	readonly written = new Map<RawPath, Found>();
	readonly #request: WriteRequest;
	readonly #flush: Flush;
	readonly #folders: Folders;
	readonly #parents: Parents;
	readonly #replaced: Replaced;
	/** Files with several names, one of which was replaced or removed: that has changed their times under the others. */
	readonly #shared: Set<bigint>;
	#drafts: Draft[] = [];

	constructor(request: WriteRequest) {
		const { root, repository, id, part, steps, shared } = request;
		this.#request = request;
		this.#flush = new Flush(root);
		this.#folders = new Folders(root);
		this.#parents = new Parents(this.#folders, this.#flush);
		this.#replaced = new Replaced(repository, `${id}-${part}`, steps);
		this.#shared = new Set(shared);
	}

	close(): void {
		this.#folders.close();
	}

	/** Aside, on the disk, and then each into its place. */
	async all(): Promise<void> {
		const { repository, writes, parts } = this.#request;
		const byContent = Map.groupBy(writes, ({ want }) => want.oid);
		let bytes = 0;
		for await (const some of contentsOf(repository, [...byContent.keys()]))
			for (const { oid, data } of some) {
				for (const write of byContent.get(oid) ?? []) {
					const outcome = tried(() => this.#draft(write, data));
					if (outcome !== "drafted") this.outcomes.set(write.path, outcome);
					bytes += data?.length ?? 0;
				}
				if (bytes <= BATCH_BYTES / parts) continue;
				await this.#moveAll();
				bytes = 0;
			}
		await this.#moveAll();
		await this.#flush.all();
	}

	async #moveAll(): Promise<void> {
		await this.#flush.all();
		for (const draft of this.#drafts)
			this.outcomes.set(
				draft.write.path,
				tried(() => this.#move(draft)),
			);
		this.#drafts = [];
	}

	/** `mayBeBare`: a folder without any file may stand there, which no snapshot has seen. */
	#draft(write: Write, data: Buffer | null, mayBeBare = write.now === null): Outcome | "drafted" {
		const { path, now, want, number, seen } = write;
		const name = `${DRAFT_PREFIX}${this.#request.id}-${number}`;
		if (!this.#parents.make(path)) return "in_the_way";
		const folder = this.#folders.again(parentOf(path));
		if (typeof folder === "string") return "changing";
		const [file, full] = [folder.at(name), folder.at(nameOf(path))];
		const { entry, stats } = present(full, seen);
		if (mayBeBare && stats?.isDirectory() && this.#removeBareFolder(path))
			return this.#draft(write, data, false);
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
		this.#drafts.push({ write, name, before: stats, after });
		return "drafted";
	}

	/** What has changed since it was looked at stays. */
	#move({ write: { path, want }, name, before, after }: Draft): Outcome {
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

/** What the system refuses for one file is said of that file; the others go on. */
export function tried<Result extends string>(step: () => Result): Result | "refused" {
	try {
		return step();
	} catch (error) {
		if (typeof (error as NodeJS.ErrnoException).syscall === "string") return "refused";
		throw error;
	}
}
