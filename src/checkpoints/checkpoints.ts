// Snapshots of workspaces, and restores. A checkpoint's row is written after its files are in the repository, a restore's before the
// first file is touched (I1, I9); all under the workspace's lock.
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { KeryxError } from "../errors.ts";
import { type Checkpoint, OPERATOR, type Restore } from "../store/index.ts";
import { fileDiffs } from "./diff.ts";
import { Locks } from "./lock.ts";
import { type RawPath, readId, readPath, shown } from "./names.ts";
import { FOLDER, type Place, placeOf } from "./place.ts";
import { pruneTo } from "./prune.ts";
import { type Ahead, type Recorded, Recorder } from "./recorder.ts";
import { hasRepository, LARGE, packCount, sizeOf } from "./repository.ts";
import type { Applied } from "./restore/apply.ts";
import { decideSteps, type State, type Steps, withoutUnsaved } from "./restore/plan.ts";
import { freeReplaced, withReplaced } from "./restore/replaced.ts";
import { reportOf, summaryOf } from "./restore/report.ts";
import { readSteps, writeSteps } from "./restore/step-text.ts";
import { FilesThread } from "./thread.ts";
import type {
	Checkpoints,
	CheckpointsOptions,
	FileDiff,
	PruneReport,
	RecoveredRestore,
	RestoreOptions,
	RestorePlan,
	RestoreReport,
	TakeInput,
	TakeOutcome,
} from "./types.ts";

const MB = 1024 * 1024;
const LOCK_WAIT_MS = 30_000;
/** With more packs per snapshot than this, the repository is repacked. */
const PACKS_PER_SNAPSHOT = 2;

export function createCheckpoints(options: CheckpointsOptions): Checkpoints {
	return new GitCheckpoints(options);
}

class GitCheckpoints implements Checkpoints {
	readonly #options: CheckpointsOptions;
	readonly #locks: Locks;
	readonly #thread = new FilesThread();
	readonly #recorder: Recorder;
	#tidying: Promise<unknown> = Promise.resolve();
	#freeing: Promise<unknown> = Promise.resolve();
	#closed = false;

	constructor(options: CheckpointsOptions) {
		this.#options = options;
		this.#recorder = new Recorder(options, this.#thread);
		this.#locks = new Locks(() => options.settings().lockWaitMs ?? LOCK_WAIT_MS);
	}

	async take(input: TakeInput): Promise<TakeOutcome> {
		let place: Place | undefined;
		try {
			const found = await this.#place(input.workspace);
			place = found;
			const recorded = this.#recorded(input);
			const outcome = await this.#hold(found, () => this.#recorder.record(found, recorded, input.signal));
			this.#tidyLater(found);
			return { kind: outcome.kind, id: outcome.checkpoint.id, checkpoint: outcome.checkpoint };
		} catch (error) {
			return await this.#failed(input, place, error);
		}
	}

	async list(workspace: string): Promise<readonly Checkpoint[]> {
		return (await this.#recorder.all(await this.#place(workspace))).toReversed();
	}

	async diff(
		workspace: string,
		from: string,
		to: string | "now",
		options: { readonly file?: string } = {},
	): Promise<readonly FileDiff[]> {
		const file = options.file === undefined ? undefined : readPath(options.file);
		const ids = [readId(from, "from"), to === "now" ? to : readId(to, "to")] as const;
		const place = await this.#place(workspace);
		return this.#hold(place, async () => {
			const all = await this.#recorder.all(place);
			const first = find(all, ids[0], "from");
			const second = ids[1] === "now" ? await this.#recorder.look(place) : find(all, ids[1], "to");
			const diffs = await fileDiffs(place.repository, first.tree, second.tree, file);
			return this.#options.store.secrets.hideIn({ diffs }).diffs;
		});
	}

	async plan(workspace: string, id: string, options: RestoreOptions = {}): Promise<RestorePlan> {
		const wanted = readWanted(id, options);
		const place = await this.#place(workspace);
		return this.#hold(place, async () => {
			const target = find(await this.#recorder.all(place), wanted.id, "id");
			const steps = await this.#steps(place, target, await this.#recorder.look(place), wanted);
			return this.#options.store.secrets.hideIn({
				target,
				restore: steps.steps.filter(({ want }) => want !== null).map(({ path }) => shown(path)),
				remove: steps.steps.filter(({ want }) => want === null).map(({ path }) => shown(path)),
				kept: steps.kept.map((path) => ({ path: shown(path), reason: "changed_since" })),
				untouched: steps.untouched.map(shown),
			});
		});
	}

	async restore(workspace: string, id: string, options: RestoreOptions = {}): Promise<RestoreReport> {
		const wanted = readWanted(id, options);
		const place = await this.#place(workspace);
		const report = await this.#hold(place, async () => {
			await this.#finishOpen(place);
			const target = find(await this.#recorder.all(place), wanted.id, "id");
			const label = `before the restore of ${target.id.slice(0, 7)}`;
			const { checkpoint, steps } = await this.#before(place, target, label, wanted);
			const { store } = this.#options;
			const { workspace: name } = place;
			// After a crash it would continue with the hidden names, and so with other files.
			const plan = { ...steps, steps: writeSteps(steps.steps) } satisfies StoredPlan;
			if (store.secrets.changes({ plan }))
				throw new KeryxError("checkpoint.refused", "the name of a file contains a known secret", {
					hint: "rename that file, then try again; or restore file by file",
				});
			const restore = await store.beginRestore({
				workspace: name,
				folder: place.root,
				target: target.id,
				before: checkpoint.id,
				plan,
				...(options.together && { together: options.together }),
			});
			return this.#finish(place, restore, target, checkpoint);
		});
		this.#tidyLater(place);
		this.#freeLater(place.repository);
		return report;
	}

	/** A checkpoint of the current state, with everything the steps replace. */
	async #before(
		place: Place,
		target: Checkpoint,
		label: string,
		wanted: ReturnType<typeof readWanted>,
	): Promise<{ readonly checkpoint: Checkpoint; readonly steps: Steps }> {
		const record = async (hold: readonly RawPath[]) => {
			const { checkpoint } = await this.#recorder.record(place, {
				kind: "restore",
				label,
				window: null,
				hold,
			});
			return { checkpoint, steps: await this.#steps(place, target, checkpoint, wanted) };
		};
		const first = await record([]);
		const grown = first.steps.steps.filter(({ now }) => now?.mode === LARGE).map(({ path }) => path);
		const { checkpoint, steps } = grown.length > 0 ? await record(grown) : first;
		return { checkpoint, steps: withoutUnsaved(steps) };
	}

	async prune(workspace: string): Promise<PruneReport> {
		const place = await this.#place(workspace);
		return this.#hold(place, () => this.#prune(place));
	}

	async recover(): Promise<readonly RecoveredRestore[]> {
		const { store } = this.#options;
		// If several gateways share a store, a workspace that is not here belongs to another one.
		const open = (await store.openRestores({ scope: OPERATOR })).filter(
			({ workspace }) => !store.cluster || existsSync(workspace),
		);
		const done: RecoveredRestore[] = [];
		for (const restore of open) done.push(await this.#recoverOne(restore));
		for (const repository of await withReplaced(join(this.#options.home, FOLDER)))
			this.#freeLater(repository);
		return done;
	}

	async close(): Promise<void> {
		this.#closed = true;
		await this.#tidying;
		await this.#freeing;
		await this.#locks.idle();
		await this.#thread.close();
	}

	/** The holder of the lock finds only interrupted restores. They are finished before another starts, without waiting for a restart. */
	async #finishOpen(place: Place): Promise<void> {
		const open = await this.#options.store.openRestores({ scope: OPERATOR });
		for (const restore of open.filter(({ workspace }) => workspace === place.workspace))
			await this.#finishNow(place, restore);
	}

	async #finishNow(place: Place, restore: Restore): Promise<RestoreReport> {
		const all = await this.#recorder.all(place);
		const [target, before] = [find(all, restore.target, "id"), find(all, restore.before, "id")];
		return this.#finish(place, restore, target, before);
	}

	async #recoverOne(restore: Restore): Promise<RecoveredRestore> {
		const { id, folder } = restore;
		try {
			const place = await this.#place(folder);
			const report = await this.#hold(place, () => this.#finishNow(place, restore));
			return { id, workspace: folder, report, problem: null, left: [] };
		} catch (error) {
			this.#options.log?.(`restore ${id} is not finished`, error);
			const left = await this.#leftOf(restore);
			await this.#options.store.restoreUnfinished({ id, left: left.length });
			return { id, workspace: folder, report: null, problem: (error as Error).message, left };
		}
	}

	async #leftOf({ folder, plan }: Restore): Promise<readonly string[]> {
		const { steps } = readStored(plan);
		try {
			return (await this.#thread.ask("undone", { root: folder, steps })).map(shown);
		} catch {
			return readSteps(steps).map(({ path }) => shown(path));
		}
	}

	/** The files, then a check of the result, then the end. Repeating it does the rest. */
	async #finish(
		place: Place,
		restore: Restore,
		target: Checkpoint,
		before: Checkpoint,
	): Promise<RestoreReport> {
		const { steps, emptyThen, kept, untouched } = readStored(restore.plan);
		const { root, repository } = place;
		// If nothing is kept, the files will be the target's: git counts the changes meanwhile.
		const counted = kept.length === 0 ? this.#recorder.changed(place, before.tree, target.tree) : null;
		const ahead = counted && { from: before.tree, to: target.tree, changed: counted };
		ahead?.changed.catch(() => {});
		const applied = await this.#thread
			.ask("apply", { root, repository, id: restore.id, steps, emptyThen })
			.catch(unfinished);
		await this.#recordAfter(place, restore, target, applied, ahead);
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
		place: Place,
		{ id }: Restore,
		target: Checkpoint,
		applied: Applied,
		ahead: Ahead | null,
	): Promise<void> {
		try {
			await this.#recorder.record(place, {
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
		{ root, repository, workspace }: Place,
		target: Checkpoint,
		now: State,
		wanted: ReturnType<typeof readWanted>,
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

	async #failed(input: TakeInput, place: Place | undefined, error: unknown): Promise<TakeOutcome> {
		const { store, log } = this.#options;
		const { message } = error as Error;
		const code = error instanceof KeryxError ? error.code : "checkpoint.failed";
		log?.("a checkpoint was not saved", error);
		const { kind, conversation, session, turn } = this.#recorded(input);
		try {
			await store.checkpointFailed({
				workspace: place?.workspace ?? null,
				kind,
				conversation: conversation ?? null,
				session: session ?? null,
				turn: turn ?? null,
				code,
			});
		} catch (unwritten) {
			log?.("a missed checkpoint could not be recorded", unwritten);
		}
		return { kind: "failed", reason: message, code };
	}

	#recorded({ kind = "manual", label, conversation, session, turn }: TakeInput): Recorded {
		const edge = kind === "before" ? "from" : kind === "after" ? "to" : undefined;
		const window = edge && turn !== undefined ? { owner: turn, edge } : null;
		return { kind, label, conversation, session, turn, window } as Recorded;
	}

	/** Prunes in the background. */
	#tidyLater(place: Place): void {
		if (this.#closed) return;
		this.#tidying = this.#tidying
			.then(async () => {
				const all = await this.#recorder.all(place);
				const { maxSnapshots, maxTotalMb } = this.#options.settings();
				const packs = await packCount(place.repository);
				const many = all.length > maxSnapshots || packs > maxSnapshots * PACKS_PER_SNAPSHOT;
				if (!many && (await sizeOf(place.repository)) <= maxTotalMb * MB) return;
				await this.#hold(place, () => this.#prune(place));
			})
			.catch((error: unknown) => this.#options.log?.("checkpoints could not be cleaned up", error));
	}

	#freeLater(repository: string): void {
		this.#freeing = this.#freeing
			.then(() => freeReplaced(repository, () => this.#closed))
			.catch((error: unknown) => this.#options.log?.("replaced files could not be removed", error));
	}

	async #prune(place: Place): Promise<PruneReport> {
		const { store } = this.#options;
		const { maxSnapshots, maxTotalMb } = this.#options.settings();
		if (!(await hasRepository(place.repository))) return { dropped: [], bytesBefore: 0, bytes: 0 };
		const { workspace, repository } = place;
		return pruneTo(repository, {
			maxSnapshots,
			maxBytes: maxTotalMb * MB,
			all: () => store.checkpoints({ scope: OPERATOR, workspace }),
			drop: (ids) => store.dropCheckpoints({ workspace, ids }),
		});
	}

	async #hold<T>({ repository }: Place, work: () => Promise<T>): Promise<T> {
		await mkdir(dirname(repository), { recursive: true, mode: 0o700 });
		return this.#locks.hold(`${repository}.lock`, work);
	}

	#place(folder: string): Promise<Place> {
		if (this.#closed) throw new KeryxError("checkpoint.failed", "checkpoints are closed");
		return placeOf(this.#options.home, folder, this.#options.nameOf);
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

function readWanted(id: string, { file, force = false }: RestoreOptions) {
	return { id: readId(id), file: file === undefined ? undefined : readPath(file), force };
}

function find(all: readonly Checkpoint[], id: string, field: string): Checkpoint {
	const found = all.filter((checkpoint) => checkpoint.id.startsWith(id));
	const [only] = found;
	if (only && found.length === 1) return only;
	if (found.length > 1)
		throw new KeryxError("argument.invalid", `${found.length} checkpoints start with ${id}`, {
			field,
			hint: "give more of the id",
		});
	throw new KeryxError("store.not_found", `no checkpoint ${id} of this workspace`, { field });
}

/** Its row stays open. The requester still gets an answer. */
function unfinished(error: unknown): never {
	const code = error instanceof KeryxError ? error.code : "checkpoint.failed";
	throw new KeryxError(code, `the restore is not finished: ${(error as Error).message}`, {
		cause: error,
		hint: "the rest is done before the next restore of this folder, or at the next start",
	});
}
