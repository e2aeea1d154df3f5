// Writes one share of a restore's files: to drafts, synced, then moved into place. A large restore has several shares, each in its own
// thread (shares.ts).
import { type BigIntStats, readdirSync, renameSync, rmdirSync } from "node:fs";
import { cacheFile, readCache } from "../cache.ts";
import { DRAFT_PREFIX } from "../excludes.ts";
import { type FileTable, type Found, NO_FILES } from "../file-table.ts";
import { type Folder, Folders } from "../folders.ts";
import { nameOf, parentOf, type RawPath } from "../names.ts";
import { foundOf, isOlder, isUnchanged, LINK, statAt } from "../read-file.ts";
import type { Entry } from "../repository.ts";
import type { KeptReason } from "../types.ts";
import { contentsOf } from "./contents.ts";
import { dropDraft, giveOwner, givePermissions, makeDraft } from "./draft.ts";
import { Flush, type Unflushed } from "./flush.ts";
import { Parents } from "./parents.ts";
import type { Step } from "./plan.ts";
import { Replaced } from "./replaced.ts";
import { isSame, isUntouched, present } from "./standing.ts";

export type Outcome = "done" | KeptReason;
export type Write = Step & { readonly want: NonNullable<Entry> };

/** The written files, each with its fingerprint: the next scan need not read them. */
export type Written = ReadonlyMap<RawPath, Found>;

export interface WriteRequest {
	readonly root: string;
	readonly repository: string;
	/** The restore's id, for names of drafts. */
	readonly id: string;
	/** This share's number, and the count of shares. */
	readonly share: number;
	readonly shares: number;
	readonly writes: readonly Write[];
	/** The steps' numbers, stable over retries: they name the drafts. */
	readonly numbers: readonly number[];
	/** The number of steps in the whole restore. */
	readonly steps: number;
}

export interface WriteAnswer {
	readonly outcomes: ReadonlyMap<RawPath, Outcome>;
	readonly written: Written;
	/** Moved into place, and not synced yet. */
	readonly left: Unflushed;
}

/** How much content is drafted before it is moved into place: this much disk space is needed twice. */
const BATCH_BYTES = 64 * 1024 * 1024;
/** How often a full disk is handled by moving drafts into place early, which frees the replaced files. */
const MOST_FULL = 100;

/** Drafted, and not moved into place yet. */
interface Draft {
	readonly step: Write;
	/** In its target's folder. */
	readonly name: string;
	/** The state found by the check; `seen`: not checked yet, but the last scan found what the step expects. */
	readonly before: BigIntStats | "seen" | undefined;
	/** The draft's times; none for a link. */
	readonly after: BigIntStats | undefined;
}

export async function writeShare(request: WriteRequest): Promise<WriteAnswer> {
	const share = new Share(request);
	try {
		return { outcomes: await share.all(), written: share.written, left: share.left };
	} finally {
		share.close();
	}
}

class Share {
	readonly #request: WriteRequest;
	readonly #seen: Pick<FileTable, "get">;
	readonly #folders: Folders;
	readonly #flush: Flush;
	readonly #parents: Parents;
	readonly #replaced: Replaced;
	readonly #numbers: ReadonlyMap<Write, number>;
	readonly written = new Map<RawPath, Found>();

	constructor(request: WriteRequest) {
		const { root, repository, id, share, writes, numbers, steps } = request;
		this.#request = request;
		this.#seen = seenFiles(repository);
		this.#folders = new Folders(root);
		this.#flush = new Flush(root);
		this.#parents = new Parents(this.#folders, this.#flush);
		this.#replaced = new Replaced(repository, `${id}-${share}`, steps);
		this.#numbers = new Map(writes.map((step, n) => [step, numbers[n] as number]));
	}

	close(): void {
		this.#folders.close();
	}

	get left(): Unflushed {
		return this.#flush.left();
	}

	async all(): Promise<WriteAnswer["outcomes"]> {
		const { repository, writes, shares } = this.#request;
		const byContent = Map.groupBy(writes, ({ want }) => want.oid);
		const outcomes = new Map<RawPath, Outcome>();
		let drafts: Draft[] = [];
		let bytes = 0;
		let full = 0;
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
		for await (const some of contentsOf(repository, [...byContent.keys()]))
			for (const { oid, data } of some) {
				for (const step of byContent.get(oid) ?? []) {
					let outcome = this.#tryDraft(step, data, drafts);
					if (outcome === "full" && full++ < MOST_FULL) {
						await move();
						this.#replaced.freeNow();
						outcome = this.#tryDraft(step, data, drafts);
					}
					if (outcome !== "drafted") outcomes.set(step.path, outcome === "full" ? "refused" : outcome);
					bytes += data?.length ?? 0;
				}
				if (bytes > BATCH_BYTES / shares) await move();
			}
		await move();
		return outcomes;
	}

	/** Removes all other drafts, also those of an interrupted restore. */
	#tryDraft(step: Write, data: Buffer | null, drafts: Draft[]): Outcome | "drafted" | "full" {
		const outcome = tried(() => {
			try {
				return this.#draft(step, data, drafts);
			} catch (error) {
				if (isFull(error)) return "full";
				throw error;
			}
		});
		if (outcome !== "drafted") this.#dropDraft(step);
		return outcome;
	}

	#dropDraft(step: Write): void {
		try {
			const folder = this.#folders.again(parentOf(step.path));
			if (typeof folder !== "string") dropDraft(folder.at(this.#draftName(step)));
		} catch {
			// It could not be written there either.
		}
	}

	#draftName(step: Write): string {
		return `${DRAFT_PREFIX}${this.#request.id}-${this.#numbers.get(step)}`;
	}

	/** `mayBeBare`: a folder without files may be there, which no snapshot contains. */
	#draft(
		step: Write,
		data: Buffer | null,
		drafts: Draft[],
		mayBeBare = step.now === null,
	): Outcome | "drafted" {
		const { path, now, want } = step;
		const name = this.#draftName(step);
		if (!this.#parents.make(path)) return "in_the_way";
		const folder = this.#folders.again(parentOf(path));
		if (typeof folder === "string" || !this.#folders.isStillThere()) return "changing";
		const [file, full] = [folder.at(name), folder.at(nameOf(path))];
		if (data !== null && isExpected(step, this.#seen.get(path))) {
			const after = makeDraft(file, data, want, undefined);
			this.#flush.file(path, name);
			drafts.push({ step, name, before: "seen", after });
			return "drafted";
		}
		const { entry, stats } = present(full, this.#seen.get(path));
		if (mayBeBare && stats?.isDirectory() && this.#removeBareFolder(path))
			return this.#draft(step, data, drafts, false);
		if (isSame(entry, want)) return "done";
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

	/** A file that changed after the check stays. */
	#move(draft: Draft): Outcome {
		const { path, want } = draft.step;
		const folder = this.#folders.again(parentOf(path));
		// Something else is there by now, and the draft went with its folder.
		if (typeof folder === "string") return "changing";
		const [file, full] = [folder.at(draft.name), folder.at(nameOf(path))];
		const stats = statAt(full);
		const outcome = this.#folders.isStillThere() ? this.#verdict(draft, full, stats) : "changing";
		if (outcome !== "move") {
			dropDraft(file);
			return outcome;
		}
		const { after } = draft;
		const isOurs = after !== undefined && isUntouched(after, statAt(file));
		if (stats) this.#replaced.keep(full);
		try {
			if (isOurs && stats?.isFile()) giveOwner(file, after, stats);
			renameSync(file, full);
		} catch (error) {
			dropDraft(file);
			throw error;
		}
		this.#flush.folder(path);
		if (isOurs) this.#noteWritten(path, want, { draft: after, stats: statAt(full) });
		return "done";
	}

	/** Whether the current file is still what the step expects. If its times do not tell, its content does. */
	#verdict({ step, before }: Draft, full: Buffer, stats: BigIntStats | undefined): Outcome | "move" {
		const seen = this.#seen.get(step.path);
		const isTimely =
			before === "seen" ? seen && stats && isUnchanged(seen, stats) : isUntouched(before, stats);
		if (isTimely) return "move";
		const { entry } = present(full, undefined);
		if (isSame(entry, step.want)) return "done";
		if (entry === "other") return "in_the_way";
		return isSame(entry, step.now) ? "move" : "changing";
	}

	/**
	 * After the move, a change of the content has a later time than the draft, which is older by more than a coarse clock hides.
	 * Otherwise (few files, moved at once) the next scan reads the file.
	 */
	#noteWritten(
		path: RawPath,
		{ oid }: NonNullable<Entry>,
		{ draft, stats }: { readonly draft: BigIntStats; readonly stats: BigIntStats | undefined },
	): void {
		if (!stats || !isOlder(stats.mtimeNs, stats.ctimeNs)) return;
		const { size, mtimeNs, ino } = stats;
		if (ino !== draft.ino || mtimeNs !== draft.mtimeNs || size !== draft.size) return;
		this.written.set(path, foundOf(oid, stats));
	}

	/** False: it is not empty, or not a folder. */
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

/** The last scan found what the step replaces: one check, right before the move, is enough. */
function isExpected({ now, want }: Write, seen: Found | undefined): boolean {
	if (!seen || !now || seen.ctime === 0 || now.oid === want.oid) return false;
	const isKnown = want.mode === LINK || want.permissions !== undefined;
	const { mode, oid, permissions } = seen;
	return isKnown && isSame(mode === LINK ? { mode, oid } : { mode, oid, permissions }, now);
}

/** The result of the scan before the restore: a file with the same times need not be read again. */
export function seenFiles(repository: string): FileTable {
	return readCache(cacheFile(repository))?.files ?? NO_FILES;
}

function isFull(error: unknown): boolean {
	const { code } = error as NodeJS.ErrnoException;
	return code === "ENOSPC" || code === "EDQUOT";
}

/** The system's refusal of one file is reported for that file; the others continue. */
export function tried<Result extends string>(step: () => Result): Result | "refused" {
	try {
		return step();
	} catch (error) {
		if (typeof (error as NodeJS.ErrnoException).syscall === "string") return "refused";
		throw error;
	}
}
