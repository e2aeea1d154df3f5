// Checkpoints in the store: a row exists only once its snapshot is in the repository, so every listed one can be restored (I9). A restore
// is recorded before it touches a file, so that an interrupted one is found.
import { KeryxError } from "../../errors.ts";
import { seal, unseal } from "../codec.ts";
import { all, type Context, get, type Op, run, sql } from "../query.ts";
import type {
	Checkpoint,
	CheckpointKind,
	CheckpointWindow,
	OperatorScope,
	Restore,
	RestoreTogether,
} from "../types.ts";
import { emit } from "./events.ts";
import { endCommand } from "./inbox/ends.ts";
import { type Undone, undoAsDecided } from "./transcript/history.ts";

interface CheckpointRow {
	readonly n: number;
	readonly id: string;
	readonly workspace: string;
	readonly kind: CheckpointKind;
	readonly conversation: string | null;
	readonly session: string | null;
	readonly turn: string | null;
	readonly git_commit: string;
	readonly tree: string;
	readonly total: number;
	readonly files: number | null;
	readonly insertions: number | null;
	readonly deletions: number | null;
	readonly at: number;
	readonly body: string;
	readonly body_key: number | null;
}

interface CheckpointBody {
	readonly label: string;
	readonly folder: string;
	readonly excluded: Checkpoint["excluded"];
}

interface RestoreBody {
	readonly folder: string;
	readonly plan: unknown;
	readonly together?: RestoreTogether;
}

interface RestoreRow {
	readonly id: string;
	readonly workspace: string;
	readonly target: string;
	readonly before: string;
	readonly begun_at: number;
	readonly body: string;
	readonly body_key: number | null;
}

const COLUMNS = `n, id, workspace, kind, conversation, session, turn, git_commit, tree, total, files, insertions, deletions, at, body,
	body_key`;
const ofWorkspace = sql<CheckpointRow>(`SELECT ${COLUMNS} FROM checkpoints WHERE workspace = ? ORDER BY n`);
const newest = sql<CheckpointRow>(
	`SELECT ${COLUMNS} FROM checkpoints WHERE workspace = ? ORDER BY n DESC LIMIT 1`,
);
const insertCheckpoint = sql<{ n: number }>(
	`INSERT INTO checkpoints (id, workspace, kind, conversation, session, turn, git_commit, tree, total, files, insertions, deletions,
		at, body)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING n`,
);
const setCommit = sql("UPDATE checkpoints SET git_commit = ? WHERE id = ?");
const openWindow = sql(
	`INSERT INTO checkpoint_windows (workspace, owner, from_n) VALUES (?, ?, ?) ON CONFLICT (workspace, owner) DO NOTHING`,
);
const closeWindow = sql("UPDATE checkpoint_windows SET to_n = ? WHERE workspace = ? AND owner = ?");
const windowsOf = sql<{ owner: string; from_n: number; to_n: number | null }>(
	"SELECT owner, from_n, to_n FROM checkpoint_windows WHERE workspace = ? ORDER BY from_n, owner",
);
const deleteCheckpoint = sql("DELETE FROM checkpoints WHERE id = ? AND workspace = ?");
const oldest = sql<{ n: number | null }>("SELECT min(n) AS n FROM checkpoints WHERE workspace = ?");
const deleteWindows = sql("DELETE FROM checkpoint_windows WHERE workspace = ? AND to_n <= ?");
const openRestore = sql<RestoreRow>(
	"SELECT id, workspace, target, before, begun_at, body, body_key FROM restores WHERE workspace = ? AND due_at IS NOT NULL",
);
const allOpenRestores = sql<RestoreRow>(
	"SELECT id, workspace, target, before, begun_at, body, body_key FROM restores WHERE due_at IS NOT NULL ORDER BY due_at",
);
const restoreById = sql<RestoreRow>(
	"SELECT id, workspace, target, before, begun_at, body, body_key FROM restores WHERE id = ? AND due_at IS NOT NULL",
);
const insertRestore = sql(
	"INSERT INTO restores (id, workspace, target, before, begun_at, body, due_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
);
const setRestoreEnded = sql(
	"UPDATE restores SET ended_at = ?, due_at = NULL WHERE id = ? AND due_at IS NOT NULL",
);

export interface RecordCheckpointArgs
	extends Pick<
		Checkpoint,
		| "id"
		| "workspace"
		| "folder"
		| "kind"
		| "label"
		| "conversation"
		| "session"
		| "turn"
		| "commit"
		| "tree"
		| "changed"
		| "excluded"
	> {
	/** The last checkpoint's commit, if this one only adds facts about unsaved files. */
	readonly replaces: string | null;
	readonly total: number;
	/** Starts or ends the range of this turn or restore. */
	readonly window: { readonly owner: string; readonly edge: "from" | "to" } | null;
}

/** The new checkpoint, or the last one if the files are the same. */
export function* recordCheckpoint(
	context: Context,
	args: RecordCheckpointArgs,
): Op<{ readonly kind: "taken" | "unchanged"; readonly checkpoint: Checkpoint }> {
	const last = yield* get(newest, args.workspace);
	const same = last?.tree === args.tree ? last : undefined;
	if (same && args.replaces === same.git_commit) yield* run(setCommit, args.commit, same.id);
	const n = same?.n ?? (yield* insert(context, args));
	if (args.window?.edge === "from") yield* run(openWindow, args.workspace, args.window.owner, n);
	if (args.window?.edge === "to") yield* run(closeWindow, n, args.workspace, args.window.owner);
	yield* emit(
		context,
		same ? "checkpoint.unchanged" : "checkpoint.taken",
		{
			conversation: args.conversation,
			session: args.session,
			turn: args.turn,
			subject: same?.id ?? args.id,
		},
		{ workspace: args.workspace, kind: args.kind },
	);
	return {
		kind: same ? "unchanged" : "taken",
		checkpoint: toCheckpoint((yield* get(newest, args.workspace)) as CheckpointRow),
	};
}

function* insert(context: Context, args: RecordCheckpointArgs): Op<number> {
	const body: CheckpointBody = { label: args.label, folder: args.folder, excluded: args.excluded };
	const row = yield* get(
		insertCheckpoint,
		args.id,
		args.workspace,
		args.kind,
		args.conversation,
		args.session,
		args.turn,
		args.commit,
		args.tree,
		args.total,
		args.changed?.files ?? null,
		args.changed?.insertions ?? null,
		args.changed?.deletions ?? null,
		context.now,
		seal(body),
	);
	return (row as { n: number }).n;
}

/** Why there is none; reported later. */
export function* checkpointFailed(
	context: Context,
	args: {
		readonly workspace: string | null;
		readonly kind: CheckpointKind;
		readonly conversation: string | null;
		readonly session: string | null;
		readonly turn: string | null;
		readonly code: string;
	},
): Op<void> {
	const { workspace, kind, code, ...ids } = args;
	yield* emit(context, "checkpoint.failed", ids, { ...(workspace !== null && { workspace }), kind, code });
}

/** Of one workspace, oldest first. */
export function* checkpoints(args: {
	readonly scope: OperatorScope;
	readonly workspace: string;
}): Op<readonly Checkpoint[]> {
	return (yield* all(ofWorkspace, args.workspace)).map(toCheckpoint);
}

export function* checkpointWindows(args: {
	readonly scope: OperatorScope;
	readonly workspace: string;
}): Op<readonly CheckpointWindow[]> {
	return (yield* all(windowsOf, args.workspace)).map(({ owner, from_n, to_n }) => ({
		owner,
		from: from_n,
		to: to_n,
	}));
}

/** Drops these, except those an open restore needs. Returns the dropped ones. */
export function* dropCheckpoints(
	context: Context,
	args: { readonly workspace: string; readonly ids: readonly string[] },
): Op<readonly string[]> {
	const { workspace } = args;
	const open = yield* get(openRestore, workspace);
	const ids = args.ids.filter((id) => id !== open?.target && id !== open?.before);
	for (const id of ids) {
		yield* run(deleteCheckpoint, id, workspace);
		yield* emit(context, "checkpoint.dropped", { subject: id }, { workspace });
	}
	yield* run(deleteWindows, workspace, (yield* get(oldest, workspace))?.n ?? 0);
	return ids;
}

export interface BeginRestoreArgs {
	readonly workspace: string;
	readonly folder: string;
	/** The checkpoint to restore. */
	readonly target: string;
	/** The one taken just before, which undoes it. */
	readonly before: string;
	/** What to do with each file, as the caller wrote it. */
	readonly plan: unknown;
	readonly together?: RestoreTogether;
}

/** Before the first file. An open restore must be finished first. */
export function* beginRestore(context: Context, args: BeginRestoreArgs): Op<Restore> {
	const { workspace } = args;
	const open = yield* get(openRestore, workspace);
	if (open)
		throw new KeryxError("checkpoint.busy", `restore ${open.id} of this workspace is not finished`, {
			hint: "start Keryx again: it finishes the interrupted restore",
		});
	const id = context.uuid();
	const last = (yield* get(newest, workspace)) as CheckpointRow;
	yield* run(
		insertRestore,
		id,
		workspace,
		args.target,
		args.before,
		context.now,
		seal({ folder: args.folder, plan: args.plan, ...(args.together && { together: args.together }) }),
		context.now,
	);
	yield* run(openWindow, workspace, id, last.n);
	yield* emit(context, "restore.begun", { subject: id }, { workspace, target: args.target });
	return toRestore((yield* get(restoreById, id)) as RestoreRow);
}

/** What the end of a restore did in addition. It is the result of the command that requested it, if any. */
export interface EndedRestore {
	readonly report: unknown;
	/** Null: the chat was not rewound, or has continued since. */
	readonly undone: Undone | null;
}

/** Also ends what was started together with it. Null: it had already ended. */
export function* endRestore(
	context: Context,
	args: {
		readonly id: string;
		readonly restored: number;
		readonly removed: number;
		readonly kept: number;
		/** The caller's description; kept for the command's answer. */
		readonly report?: unknown;
	},
): Op<EndedRestore | null> {
	const { id, report = null, ...facts } = args;
	const row = yield* get(restoreById, id);
	if (!row || (yield* run(setRestoreEnded, context.now, id)) === 0) return null;
	const { undo, command } = unseal<RestoreBody>(row.body, row.body_key).together ?? {};
	const undone = undo ? yield* undoAsDecided(context, undo) : null;
	yield* emit(
		context,
		"restore.ended",
		{ subject: id, conversation: undo?.conversation ?? null },
		{ workspace: row.workspace, ...facts, ...(undo && { turns: undone?.turns ?? 0 }) },
	);
	const ended = { report, undone };
	if (command) yield* endCommand(context, { inbox: command.inbox, command: command.name }, ended);
	return ended;
}

/** An interrupted restore cannot be finished now. */
export function* restoreUnfinished(
	context: Context,
	args: { readonly id: string; readonly left: number },
): Op<void> {
	const row = yield* get(restoreById, args.id);
	if (row)
		yield* emit(
			context,
			"restore.unfinished",
			{ subject: args.id },
			{ workspace: row.workspace, left: args.left },
		);
}

export function* openRestores(_: { readonly scope: OperatorScope }): Op<readonly Restore[]> {
	return (yield* all(allOpenRestores)).map(toRestore);
}

function toCheckpoint(row: CheckpointRow): Checkpoint {
	const { label, folder, excluded } = unseal<CheckpointBody>(row.body, row.body_key);
	const { files, insertions, deletions } = row;
	return {
		n: row.n,
		id: row.id,
		workspace: row.workspace,
		folder,
		kind: row.kind,
		label,
		conversation: row.conversation,
		session: row.session,
		turn: row.turn,
		commit: row.git_commit,
		tree: row.tree,
		files: row.total,
		changed:
			files === null || insertions === null || deletions === null ? null : { files, insertions, deletions },
		excluded,
		at: row.at,
	};
}

function toRestore(row: RestoreRow): Restore {
	const { folder, plan } = unseal<RestoreBody>(row.body, row.body_key);
	const { id, workspace, target, before, begun_at } = row;
	return { id, workspace, folder, target, before, plan, begunAt: begun_at };
}
