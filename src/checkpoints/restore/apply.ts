// Takes a workspace back: removes what is to go, writes what is to come back (write.ts), and leaves folders as they were then. Doing all of
// it again after a crash is right. Synchronous system calls, in the thread that also looks at workspaces (worker.ts).
import { type BigIntStats, mkdirSync, unlinkSync } from "node:fs";
import { cacheFile, type Found, readCache } from "../cache.ts";
import { Folders } from "../folders.ts";
import { nameOf, parentOf, type RawPath } from "../names.ts";
import { statAt } from "../read-file.ts";
import type { KeptReason } from "../types.ts";
import { Flush } from "./flush.ts";
import { isWithin, Parents, parentsOf, removeEmpty } from "./parents.ts";
import type { Step } from "./plan.ts";
import { Replaced } from "./replaced.ts";
import { isSame, present } from "./standing.ts";
import { type Outcome, tried, type Write, type WriteRequest, type Writing, type Written } from "./write.ts";

export interface Applied {
	readonly restored: readonly RawPath[];
	readonly removed: readonly RawPath[];
	readonly kept: readonly { readonly path: RawPath; readonly reason: KeptReason }[];
}

export interface ApplyRequest {
	readonly root: string;
	readonly repository: string;
	/** Of the restore: names what it writes aside. */
	readonly id: string;
	readonly steps: readonly Step[];
	readonly emptyThen: readonly RawPath[];
}

export async function applySteps(
	request: ApplyRequest,
	write: (request: WriteRequest) => Promise<Writing>,
): Promise<{ readonly applied: Applied; readonly written: Written }> {
	const apply = new Apply(request);
	try {
		return await apply.all(write);
	} finally {
		apply.close();
	}
}

class Apply {
	readonly #request: ApplyRequest;
	readonly #seen: ReadonlyMap<RawPath, Found>;
	readonly #flush: Flush;
	readonly #folders: Folders;
	readonly #parents: Parents;
	readonly #replaced: Replaced;
	/** Files with several names, one of which was removed here: that has changed their times under the others. */
	readonly #shared = new Set<bigint>();
	readonly #removed: RawPath[] = [];
	readonly #restored: RawPath[] = [];
	readonly #kept: { path: RawPath; reason: KeptReason }[] = [];

	constructor(request: ApplyRequest) {
		this.#request = request;
		this.#seen = seenFiles(request.repository);
		this.#flush = new Flush(request.root);
		this.#folders = new Folders(request.root);
		this.#parents = new Parents(this.#folders, this.#flush);
		this.#replaced = new Replaced(request.repository, request.id, request.steps.length);
	}

	close(): void {
		this.#folders.close();
	}

	async all(
		write: (request: WriteRequest) => Promise<Writing>,
	): Promise<{ readonly applied: Applied; readonly written: Written }> {
		const { steps, emptyThen } = this.#request;
		const [removed, restored, kept] = [this.#removed, this.#restored, this.#kept];
		for (const step of steps)
			if (step.want === null)
				this.#note(
					step.path,
					tried(() => this.#remove(step)),
					removed,
				);
		const writes = this.#writes();
		// A folder may stand where a file was.
		const wanted = new Set(writes.map(({ path }) => path));
		removeEmpty(
			this.#folders,
			parentsOf(removed).filter((folder) => isWithin(folder, wanted)),
		);
		const { outcomes, written } = await this.#write(writes, write);
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
		return { applied: { restored, removed, kept }, written };
	}

	#writes(): readonly Write[] {
		const writes: Write[] = [];
		for (const { path, now, want } of this.#request.steps)
			if (want) writes.push({ path, now, want, number: writes.length, seen: this.#seen.get(path) });
		return writes;
	}

	#write(writes: readonly Write[], write: (request: WriteRequest) => Promise<Writing>): Promise<Writing> {
		const { root, repository, id, steps } = this.#request;
		// It may be removed or replaced by others from here on.
		this.#folders.close();
		return write({
			...{ root, repository, id, writes },
			...{ part: 0, parts: 1, steps: steps.length, shared: this.#shared },
		});
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

	#noteShared(stats: BigIntStats | undefined): void {
		if (stats && stats.nlink > 1n) this.#shared.add(stats.ino);
	}

	#makeFolder(path: RawPath): Outcome {
		if (!this.#parents.make(path)) return "in_the_way";
		const folder = this.#folders.open(parentOf(path));
		if (typeof folder === "string") return "in_the_way";
		const full = folder.at(nameOf(path));
		const stats = statAt(full);
		if (stats) return stats.isDirectory() ? "done" : "in_the_way";
		mkdirSync(full);
		return "done";
	}
}

function seenFiles(repository: string): ReadonlyMap<RawPath, Found> {
	return readCache(cacheFile(repository))?.files ?? new Map<RawPath, Found>();
}

function slashed(folder: RawPath): RawPath {
	return `${folder}/` as RawPath;
}
