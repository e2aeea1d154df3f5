// Snapshots of workspaces, and restores, each under the workspace's lock. A checkpoint's row is written after its files are in the
// repository (I1, I9).
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { KeryxError } from "../errors.ts";
import { type Checkpoint, OPERATOR, type Restore } from "../store/index.ts";
import { fileDiffs } from "./diff.ts";
import { FOLDER, type Location, locationOf } from "./location.ts";
import { Locks } from "./lock.ts";
import { readId, readPath } from "./names.ts";
import { pruneTo } from "./prune.ts";
import { findCheckpoint, type Recorded, Recorder } from "./recorder.ts";
import { hasRepository, packCount, sizeOf } from "./repository.ts";
import { freeReplaced, withReplaced } from "./restore/replaced.ts";
import { Restorer, readWanted } from "./restore/restorer.ts";
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
	readonly #restorer: Restorer;
	#tidying: Promise<unknown> = Promise.resolve();
	#freeing: Promise<unknown> = Promise.resolve();
	#closed = false;

	constructor(options: CheckpointsOptions) {
		this.#options = options;
		this.#recorder = new Recorder(options, this.#thread);
		this.#restorer = new Restorer(options, this.#recorder, this.#thread);
		this.#locks = new Locks(() => options.settings().lockWaitMs ?? LOCK_WAIT_MS);
	}

	async take(input: TakeInput): Promise<TakeOutcome> {
		let location: Location | undefined;
		try {
			const found = await this.#locate(input.workspace);
			location = found;
			const recorded = this.#recorded(input);
			const outcome = await this.#hold(found, () => this.#recorder.record(found, recorded, input.signal));
			this.#tidyLater(found);
			return { kind: outcome.kind, id: outcome.checkpoint.id, checkpoint: outcome.checkpoint };
		} catch (error) {
			return await this.#failed(input, location, error);
		}
	}

	async list(workspace: string): Promise<readonly Checkpoint[]> {
		return (await this.#recorder.all(await this.#locate(workspace))).toReversed();
	}

	async diff(
		workspace: string,
		from: string,
		to: string | "now",
		options: { readonly file?: string } = {},
	): Promise<readonly FileDiff[]> {
		const file = options.file === undefined ? undefined : readPath(options.file);
		const ids = [readId(from, "from"), to === "now" ? to : readId(to, "to")] as const;
		const location = await this.#locate(workspace);
		return this.#hold(location, async () => {
			const all = await this.#recorder.all(location);
			const first = findCheckpoint(all, ids[0], "from");
			const second =
				ids[1] === "now" ? await this.#recorder.look(location) : findCheckpoint(all, ids[1], "to");
			const { secrets } = this.#options.store;
			const hide = (text: string): string => secrets.hide(text);
			const diffs = await fileDiffs(location.repository, first.tree, second.tree, { file, hide });
			return secrets.hideIn({ diffs }).diffs;
		});
	}

	async plan(workspace: string, id: string, options: RestoreOptions = {}): Promise<RestorePlan> {
		const wanted = readWanted(id, options);
		const location = await this.#locate(workspace);
		return this.#hold(location, () => this.#restorer.plan(location, wanted));
	}

	async restore(workspace: string, id: string, options: RestoreOptions = {}): Promise<RestoreReport> {
		const wanted = readWanted(id, options);
		const location = await this.#locate(workspace);
		const report = await this.#hold(location, () => this.#restorer.restore(location, wanted, options));
		this.#tidyLater(location);
		this.#freeLater(location.repository);
		return report;
	}

	async prune(workspace: string): Promise<PruneReport> {
		const location = await this.#locate(workspace);
		return this.#hold(location, () => this.#prune(location));
	}

	async recover(): Promise<readonly RecoveredRestore[]> {
		const { store, home, owner } = this.#options;
		// If several gateways share a store, a repository that is not here belongs to another one.
		const open = (await store.openRestores({ scope: OPERATOR })).filter(
			({ workspace }) => owner === undefined || existsSync(join(home, FOLDER, workspace)),
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

	async #recoverOne(restore: Restore): Promise<RecoveredRestore> {
		const { id, folder } = restore;
		try {
			const location = await this.#locate(folder);
			const report = await this.#hold(location, () => this.#restorer.finishNow(location, restore));
			return { id, workspace: folder, report, problem: null, left: [] };
		} catch (error) {
			this.#options.log?.(`restore ${id} is not finished`, error);
			const left = await this.#restorer.leftOf(restore);
			await this.#options.store.restoreUnfinished({ id, left: left.length });
			return { id, workspace: folder, report: null, problem: (error as Error).message, left };
		}
	}

	async #failed(input: TakeInput, location: Location | undefined, error: unknown): Promise<TakeOutcome> {
		const { store, log } = this.#options;
		const { message } = error as Error;
		const code = error instanceof KeryxError ? error.code : "checkpoint.failed";
		log?.("a checkpoint was not saved", error);
		const { kind, conversation, session, turn } = this.#recorded(input);
		try {
			await store.checkpointFailed({
				workspace: location?.workspace ?? null,
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
	#tidyLater(location: Location): void {
		if (this.#closed) return;
		this.#tidying = this.#tidying
			.then(async () => {
				const all = await this.#recorder.all(location);
				const { maxSnapshots, maxTotalMb } = this.#options.settings();
				const packs = await packCount(location.repository);
				const many = all.length > maxSnapshots || packs > maxSnapshots * PACKS_PER_SNAPSHOT;
				if (!many && (await sizeOf(location.repository)) <= maxTotalMb * MB) return;
				await this.#hold(location, () => this.#prune(location));
			})
			.catch((error: unknown) => this.#options.log?.("checkpoints could not be cleaned up", error));
	}

	#freeLater(repository: string): void {
		this.#freeing = this.#freeing
			.then(() => freeReplaced(repository, () => this.#closed))
			.catch((error: unknown) => this.#options.log?.("replaced files could not be removed", error));
	}

	async #prune(location: Location): Promise<PruneReport> {
		const { store } = this.#options;
		const { maxSnapshots, maxTotalMb } = this.#options.settings();
		if (!(await hasRepository(location.repository))) return { dropped: [], bytesBefore: 0, bytes: 0 };
		const { workspace, repository } = location;
		return pruneTo(repository, {
			maxSnapshots,
			maxBytes: maxTotalMb * MB,
			all: () => store.checkpoints({ scope: OPERATOR, workspace }),
			drop: (ids) => store.dropCheckpoints({ workspace, ids }),
		});
	}

	async #hold<T>({ repository }: Location, work: () => Promise<T>): Promise<T> {
		await mkdir(dirname(repository), { recursive: true, mode: 0o700 });
		return this.#locks.hold(`${repository}.owner`, work);
	}

	#locate(folder: string): Promise<Location> {
		if (this.#closed) throw new KeryxError("checkpoint.failed", "checkpoints are closed");
		return locationOf(this.#options.home, folder, this.#options);
	}
}
