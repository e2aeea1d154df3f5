// Restores files. Each step starts from the planned state, or is already done, or is skipped: so repeating everything after a crash is
// safe. Nothing is reached through a link (folders.ts), and a file is always complete: contents are written to a draft, synced, and only
// then moved into place (writes.ts). Synchronous system calls, in the thread that also scans workspaces (worker.ts).
import { unlinkSync } from "node:fs";
import { type Found, NO_FILES } from "../file-table.ts";
import { Folders } from "../folders.ts";
import { nameOf, parentOf, type RawPath } from "../names.ts";
import type { KeptReason } from "../types.ts";
import { Flush } from "./flush.ts";
import { isWithin, Parents, parentsOf, removeEmpty } from "./parents.ts";
import type { Step } from "./plan.ts";
import { Replaced } from "./replaced.ts";
import { type Helper, writeAll } from "./shares.ts";
import { isSame, present } from "./standing.ts";
import { readSteps } from "./step-text.ts";
import { type Outcome, seenFiles, tried, type Write, type Written } from "./writes.ts";

export interface Applied {
	readonly restored: readonly RawPath[];
	readonly removed: readonly RawPath[];
	readonly kept: readonly { readonly path: RawPath; readonly reason: KeptReason }[];
}

export interface ApplyRequest {
	readonly root: string;
	readonly repository: string;
	/** The restore's id, for names of temporary files. */
	readonly id: string;
	/** As written by step-text.ts. */
	readonly steps: string;
	readonly emptyThen: readonly RawPath[];
}

export async function applySteps(
	request: ApplyRequest,
	startHelper: () => Helper,
): Promise<{ readonly applied: Applied; readonly written: Written }> {
	const apply = new Apply(request);
	try {
		return await apply.all(startHelper);
	} finally {
		apply.close();
	}
}

class Apply {
	readonly #request: ApplyRequest;
	readonly #steps: readonly Step[];
	readonly #flush: Flush;
	readonly #folders: Folders;
	readonly #parents: Parents;
	readonly #replaced: Replaced;
	readonly #removed: RawPath[] = [];
	readonly #restored: RawPath[] = [];
	readonly #kept: { path: RawPath; reason: KeptReason }[] = [];

	constructor(request: ApplyRequest) {
		this.#request = request;
		this.#steps = readSteps(request.steps);
		this.#flush = new Flush(request.root);
		this.#folders = new Folders(request.root);
		this.#parents = new Parents(this.#folders, this.#flush);
		this.#replaced = new Replaced(request.repository, request.id, this.#steps.length);
	}

	close(): void {
		this.#folders.close();
	}

	async all(startHelper: () => Helper): Promise<{ readonly applied: Applied; readonly written: Written }> {
		const { root, repository, id, emptyThen } = this.#request;
		const steps = this.#steps;
		const [removed, restored, kept] = [this.#removed, this.#restored, this.#kept];
		const removals = steps.filter(({ want }) => want === null);
		const writes = steps.filter((step): step is Write => step.want !== null);
		const seen = removals.length > 0 ? seenFiles(repository) : NO_FILES;
		for (const step of removals)
			this.#note(
				step.path,
				tried(() => this.#remove(step, seen.get(step.path))),
				removed,
			);
		// A folder may be where a file was.
		const wanted = new Set(writes.map(({ path }) => path));
		removeEmpty(
			this.#folders,
			parentsOf(removed).filter((folder) => isWithin(folder, wanted)),
		);
		const common = { root, repository, id, steps: steps.length };
		const { outcomes, written, left } = await writeAll(common, writes, startHelper);
		for (const one of left) this.#flush.takeOver(one);
		for (const { path } of writes) this.#note(path, outcomes.get(path) ?? "lost", restored);
		const meant = new Set(emptyThen);
		const emptied = parentsOf(removed).filter((folder) => !meant.has(folder));
		for (const folder of removeEmpty(this.#folders, emptied))
			kept.push({ path: slashed(folder), reason: "refused" });
		// Only if one of these files replaced such a folder.
		const gone = new Set(removed);
		for (const folder of emptyThen.filter((one) => isWithin(one, gone))) {
			const outcome = tried(() => this.#parents.makeFolder(folder));
			if (outcome !== "done") kept.push({ path: slashed(folder), reason: outcome });
		}
		await this.#flush.all();
		return { applied: { restored, removed, kept }, written };
	}

	#note(path: RawPath, outcome: Outcome, done: RawPath[]): void {
		if (outcome === "done") done.push(path);
		else this.#kept.push({ path, reason: outcome });
	}

	#remove(step: Step, seen: Found | undefined): Outcome {
		const folder = this.#folders.open(parentOf(step.path));
		if (folder === "missing") return "done";
		if (folder === "blocked") return "in_the_way";
		const full = folder.at(nameOf(step.path));
		const { entry } = present(full, seen);
		if (entry === null) return "done";
		if (!isSame(entry, step.now)) return "changing";
		this.#replaced.keep(full);
		unlinkSync(full);
		this.#flush.folder(step.path);
		return "done";
	}
}

function slashed(folder: RawPath): RawPath {
	return `${folder}/` as RawPath;
}
