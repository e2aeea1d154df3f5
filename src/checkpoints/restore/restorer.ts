// Restores the files of a checkpoint. The restore's row, with its whole plan, is written before the first file is touched (I1, I9), so
// that an interrupted one can be finished. The caller holds the workspace's lock.
import { KeryxError } from "../../errors.ts";
import { type Checkpoint, OPERATOR, type Restore } from "../../store/index.ts";
import type { Location } from "../location.ts";
import { type RawPath, readId, readPath, shown } from "../names.ts";
import { type Ahead, findCheckpoint, type Recorder } from "../recorder.ts";
import { LARGE } from "../repository.ts";
import type { FilesThread } from "../thread.ts";
import type { CheckpointsOptions, RestoreOptions, RestorePlan, RestoreReport } from "../types.ts";
import type { Applied } from "./apply.ts";
import { decideSteps, type State, type Steps, withoutUnsaved } from "./plan.ts";
import { reportOf, summaryOf } from "./report.ts";
import { readSteps, writeSteps } from "./step-text.ts";

export class Restorer {
	readonly #options: Pick<CheckpointsOptions, "store" | "log">;
	readonly #recorder: Recorder;
	readonly #thread: FilesThread;

	constructor(options: Pick<CheckpointsOptions, "store" | "log">, recorder: Recorder, thread: FilesThread) {
		this.#options = options;
		this.#recorder = recorder;
		this.#thread = thread;
	}

	async plan(location: Location, wanted: Wanted): Promise<RestorePlan> {
		const target = findCheckpoint(await this.#recorder.all(location), wanted.id, "id");
		const steps = await this.#steps(location, target, await this.#recorder.look(location), wanted);
		return this.#options.store.secrets.hideIn({
			target,
			restore: steps.steps.filter(({ want }) => want !== null).map(({ path }) => shown(path)),
			remove: steps.steps.filter(({ want }) => want === null).map(({ path }) => shown(path)),
			kept: steps.kept.map((path) => ({ path: shown(path), reason: "changed_since" })),
			untouched: steps.untouched.map(shown),
		});
	}

	async restore(
		location: Location,
		wanted: Wanted,
		{ together }: Pick<RestoreOptions, "together">,
	): Promise<RestoreReport> {
		await this.#finishOpen(location);
		const target = findCheckpoint(await this.#recorder.all(location), wanted.id, "id");
		const label = `before the restore of ${target.id.slice(0, 7)}`;
		const { checkpoint, steps } = await this.#before(location, target, label, wanted);
		const { store } = this.#options;
		// After a crash it would continue with the hidden names, and so with other files.
		const plan = { ...steps, steps: writeSteps(steps.steps) } satisfies StoredPlan;
		if (store.secrets.changes({ plan }))
			throw new KeryxError("checkpoint.refused", "the name of a file contains a known secret", {
				hint: "rename that file, then try again; or restore file by file",
			});
		const restore = await store.beginRestore({
			workspace: location.workspace,
			folder: location.root,
			target: target.id,
			before: checkpoint.id,
			plan,
			...(together && { together }),
		});
		return this.#finish(location, restore, target, checkpoint);
	}

	/** A checkpoint of the current state, with everything the steps replace. */
	async #before(
		location: Location,
		target: Checkpoint,
		label: string,
		wanted: Wanted,
	): Promise<{ readonly checkpoint: Checkpoint; readonly steps: Steps }> {
		const record = async (hold: readonly RawPath[]) => {
			const { checkpoint } = await this.#recorder.record(location, {
				kind: "restore",
				label,
				window: null,
				hold,
			});
			return { checkpoint, steps: await this.#steps(location, target, checkpoint, wanted) };
		};
		const first = await record([]);
		const grown = first.steps.steps.filter(({ now }) => now?.mode === LARGE).map(({ path }) => path);
		const { checkpoint, steps } = grown.length > 0 ? await record(grown) : first;
		return { checkpoint, steps: withoutUnsaved(steps) };
	}

	/** The holder of the lock finds only interrupted restores. They are finished before another starts, without waiting for a restart. */
	async #finishOpen(location: Location): Promise<void> {
		const open = await this.#options.store.openRestores({ scope: OPERATOR });
		for (const restore of open.filter(({ workspace }) => workspace === location.workspace))
			await this.finishNow(location, restore);
	}

	/** Does the rest of an interrupted restore. The caller holds the lock. */
	async finishNow(location: Location, restore: Restore): Promise<RestoreReport> {
		const all = await this.#recorder.all(location);
		const [target, before] = [
			findCheckpoint(all, restore.target, "id"),
			findCheckpoint(all, restore.before, "id"),
		];
		return this.#finish(location, restore, target, before);
	}

	/** Names of files that an unfinished restore has not written. */
	async leftOf({ folder, plan }: Restore): Promise<readonly string[]> {
		const { steps } = readStored(plan);
		try {
			return (await this.#thread.ask("undone", { root: folder, steps })).map(shown);
		} catch {
			return readSteps(steps).map(({ path }) => shown(path));
		}
	}

	/** The files, then a check of the result, then the end. Repeating it does the rest. */
	async #finish(
		location: Location,
		restore: Restore,
		target: Checkpoint,
		before: Checkpoint,
	): Promise<RestoreReport> {
		const { steps, emptyThen, kept, untouched } = readStored(restore.plan);
		const { root, repository } = location;
		// If nothing is kept, the files will be the target's: git counts the changes meanwhile.
		const counted = kept.length === 0 ? this.#recorder.changed(location, before.tree, target.tree) : null;
		const ahead = counted && { from: before.tree, to: target.tree, changed: counted };
		ahead?.changed.catch(() => {});
		const applied = await this.#thread
			.ask("apply", { root, repository, id: restore.id, steps, emptyThen })
			.catch(unfinished);
		await this.#recordAfter(location, restore, target, applied, ahead);
		await ahead?.changed.catch(() => {});
		const report = { ...reportOf(applied, kept), untouched: untouched.map(shown) };
		const ended = await this.#options.store.endRestore({
			id: restore.id,
			restored: report.restored.length,
			removed: report.removed.length,
			kept: report.kept.length,
			report: summaryOf({ ...report, target: target.id, before: before.id }),
		});
		return this.#options.store.secrets.hideIn({
			id: restore.id,
			target,
			before,
			...report,
			undone: ended?.undone ?? null,
		});
	}

	/** Without one the restore still ends: the next checkpoint of any kind then ends its range. */
	async #recordAfter(
		location: Location,
		{ id }: Restore,
		target: Checkpoint,
		applied: Applied,
		ahead: Ahead | null,
	): Promise<void> {
		try {
			await this.#recorder.record(location, {
				kind: "restore",
				label: `after the restore of ${target.id.slice(0, 7)}`,
				window: { owner: id, edge: "to" },
				hold: applied.restored,
				...(ahead && { ahead }),
			});
		} catch (error) {
			if (!(error instanceof KeryxError) || !error.code.startsWith("checkpoint.")) throw error;
			this.#options.log?.(`no checkpoint was saved after restore ${id}`, error);
		}
	}

	async #steps(
		{ root, repository, workspace }: Location,
		target: Checkpoint,
		now: State,
		wanted: Wanted,
	): Promise<Steps> {
		const { store } = this.#options;
		return decideSteps({
			root,
			repository,
			target,
			checkpoints: await store.checkpoints({ scope: OPERATOR, workspace }),
			windows: await store.checkpointWindows({ scope: OPERATOR, workspace }),
			now,
			file: wanted.file,
			force: wanted.force,
		});
	}
}

/** A restore's plan as stored in its row: the steps as one text. */
type StoredPlan = Omit<Steps, "steps"> & { readonly steps: string };

/** Also for an interrupted restore of an earlier version, whose steps were a list. */
function readStored(plan: unknown): StoredPlan {
	const stored = plan as StoredPlan | Steps;
	return typeof stored.steps === "string"
		? (stored as StoredPlan)
		: { ...stored, steps: writeSteps(stored.steps) };
}

export interface Wanted {
	readonly id: string;
	readonly file: RawPath | undefined;
	readonly force: boolean;
}

export function readWanted(id: string, { file, force = false }: RestoreOptions): Wanted {
	return { id: readId(id), file: file === undefined ? undefined : readPath(file), force };
}

/** Its row stays open. The requester still gets an answer. */
function unfinished(error: unknown): never {
	const code = error instanceof KeryxError ? error.code : "checkpoint.failed";
	throw new KeryxError(code, `the restore is not finished: ${(error as Error).message}`, {
		cause: error,
		hint: "the rest is done before the next restore of this folder, or at the next start",
	});
}
