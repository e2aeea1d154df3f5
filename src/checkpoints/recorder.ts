// Takes and records snapshots: the files are in the repository before the row is written (I9). The caller must hold the workspace's lock.
import { createHash } from "node:crypto";
import { KeryxError } from "../errors.ts";
import { type Checkpoint, type CheckpointKind, OPERATOR } from "../store/index.ts";
import type { Location } from "./location.ts";
import type { RawPath } from "./names.ts";
import { countedChanges, ensureRepository, refOf } from "./repository.ts";
import type { Snapshot, SnapshotRequest } from "./snapshot.ts";
import type { FilesThread } from "./thread.ts";
import type { CheckpointsOptions } from "./types.ts";

const MB = 1024 * 1024;
const NOW_REF = "now";
/** A file too large to save is saved when a restore replaces it, up to this share of the space for snapshots. */
const HELD_SHARE = 4;
const MOST_HELD = 512 * MB;
const MOST_COUNTED = 64;

export interface Recorded {
	readonly kind: CheckpointKind;
	readonly label: string;
	readonly conversation?: string | undefined;
	readonly session?: string | undefined;
	readonly turn?: string | undefined;
	readonly window: { readonly owner: string; readonly edge: "from" | "to" } | null;
	readonly hold?: readonly RawPath[];
	readonly ahead?: Ahead;
}

/** The differences between two trees, counted in advance. */
export interface Ahead {
	readonly from: string;
	readonly to: string;
	readonly changed: Promise<Checkpoint["changed"]>;
}

export class Recorder {
	readonly #options: CheckpointsOptions;
	readonly #thread: FilesThread;
	/** The differences between pairs of trees, oldest first: an undo reverses a pair that was just counted. */
	readonly #counted = new Map<string, NonNullable<Checkpoint["changed"]>>();

	constructor(options: CheckpointsOptions, thread: FilesThread) {
		this.#options = options;
		this.#thread = thread;
	}

	/** Of the workspace, oldest first. */
	all({ workspace }: Location): Promise<readonly Checkpoint[]> {
		return this.#options.store.checkpoints({ scope: OPERATOR, workspace });
	}

	/** The current files, without creating a checkpoint. */
	async look(location: Location): Promise<Snapshot> {
		const last = (await this.all(location)).at(-1);
		return this.#snapshot(location, {
			ref: NOW_REF,
			message: "now",
			last: null,
			heldIn: last?.commit ?? null,
		});
	}

	/** The new checkpoint, or the last one if the files are the same. Throws checkpoint.failed if the signal aborts first. */
	async record(
		location: Location,
		about: Recorded,
		signal?: AbortSignal,
	): Promise<{ readonly kind: "taken" | "unchanged"; readonly checkpoint: Checkpoint }> {
		const last = (await this.all(location)).at(-1);
		const at = this.#options.clock.now();
		const id = idOf([location.workspace, last?.id ?? "", at, about.kind, about.label, about.turn ?? ""]);
		const snapshot = await this.#snapshot(location, {
			ref: id,
			message: `${about.kind} ${id}`,
			last: last ? { commit: last.commit, tree: last.tree } : null,
			heldIn: last?.commit ?? null,
			hold: about.hold ?? [],
		});
		if (signal?.aborted) throw new KeryxError("checkpoint.failed", "it took too long");
		const { commit, tree, files, excluded, replaces } = snapshot;
		return this.#options.store.recordCheckpoint({
			id,
			workspace: location.workspace,
			folder: location.root,
			kind: about.kind,
			label: about.label,
			conversation: about.conversation ?? null,
			session: about.session ?? null,
			turn: about.turn ?? null,
			commit,
			replaces,
			tree,
			total: files,
			changed:
				last && last.tree !== tree ? await this.#changedTo(location, last.tree, tree, about.ahead) : null,
			excluded,
			window: about.window,
		});
	}

	#changedTo(
		location: Location,
		from: string,
		to: string,
		ahead: Ahead | undefined,
	): Promise<Checkpoint["changed"]> {
		return ahead?.from === from && ahead.to === to ? ahead.changed : this.changed(location, from, to);
	}

	/** Counts the differences between two trees. The reverse of a recently counted pair is not counted again. */
	async changed({ repository }: Location, from: string, to: string): Promise<Checkpoint["changed"]> {
		const back = this.#counted.get(pairOf(to, from));
		if (back) return { files: back.files, insertions: back.deletions, deletions: back.insertions };
		const changes = await countedChanges(repository, from, to);
		const counted = {
			files: changes.length,
			insertions: changes.reduce((sum, { lines }) => sum + (lines?.insertions ?? 0), 0),
			deletions: changes.reduce((sum, { lines }) => sum + (lines?.deletions ?? 0), 0),
		};
		this.#counted.set(pairOf(from, to), counted);
		for (const oldest of this.#counted.keys()) {
			if (this.#counted.size <= MOST_COUNTED) break;
			this.#counted.delete(oldest);
		}
		return counted;
	}

	async #snapshot(
		location: Location,
		request: Pick<SnapshotRequest, "ref" | "message" | "last" | "heldIn"> & Partial<SnapshotRequest>,
	): Promise<Snapshot> {
		const { clock } = this.#options;
		const { maxFiles, maxFileMb, maxTotalMb } = this.#options.settings();
		await ensureRepository(location.repository);
		return this.#thread.ask("snapshot", {
			hold: [],
			...request,
			root: location.root,
			repository: location.repository,
			ref: refOf(request.ref),
			at: clock.now(),
			limits: {
				maxFiles,
				maxFileBytes: maxFileMb * MB,
				maxHeldBytes: Math.min(MOST_HELD, Math.max(maxFileMb, maxTotalMb / HELD_SHARE) * MB),
			},
		});
	}
}

function pairOf(from: string, to: string): string {
	return `${from} ${to}`;
}

/** Differs from every other of the workspace: it includes the previous one. */
function idOf(parts: readonly (string | number)[]): string {
	return createHash("sha256").update(parts.join("\0")).digest("hex").slice(0, 40);
}

/** By the start of its id. */
export function findCheckpoint(all: readonly Checkpoint[], id: string, field: string): Checkpoint {
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
