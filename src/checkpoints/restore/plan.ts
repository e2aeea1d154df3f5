// Plans a restore. Between two adjacent snapshots, all changes are the agent's if a turn (or restore) spans them, and someone else's
// otherwise. A file that someone else changed since the target is kept.
import { lstat } from "node:fs/promises";
import type { Checkpoint, CheckpointWindow } from "../../store/index.ts";
import { coveredBy, type Manifest } from "../manifest.ts";
import { fullPath, type RawPath } from "../names.ts";
import { type Entry, LARGE, manifestsOf, treeChanges } from "../repository.ts";

/** The step from a path's current state to its earlier one. */
export interface Step {
	readonly path: RawPath;
	readonly now: Entry;
	readonly want: Entry;
}

export interface Steps {
	readonly steps: readonly Step[];
	readonly kept: readonly RawPath[];
	readonly untouched: readonly RawPath[];
	/** Folders that existed and were empty. */
	readonly emptyThen: readonly RawPath[];
}

/** The current state: a checkpoint, or an unrecorded snapshot. */
export interface State {
	readonly tree: string;
	readonly commit: string;
}

export interface PlanInput {
	readonly root: string;
	readonly repository: string;
	readonly target: Checkpoint;
	/** All checkpoints of the workspace, oldest first. */
	readonly checkpoints: readonly Checkpoint[];
	readonly windows: readonly CheckpointWindow[];
	readonly now: State;
	readonly file?: RawPath | undefined;
	readonly force: boolean;
}

export async function decideSteps(input: PlanInput): Promise<Steps> {
	const { root, repository, target, now, file, force } = input;
	const [changes = [], ...gaps] = await treeChanges(repository, [[target.tree, now.tree], ...gapsOf(input)]);
	const theirs = new Set(gaps.flat().map(({ path }) => path));
	const manifests = await manifestsOf(repository, [target.commit, now.commit]);
	const [past, present] = manifests as [Manifest, Manifest];
	const steps: Step[] = [];
	const kept: RawPath[] = [];
	const untouched: RawPath[] = [];
	for (const change of changes) {
		const { path } = change;
		if (file !== undefined && !isUnder(path, file)) continue;
		const isGrown = change.to?.mode === LARGE && change.from !== null;
		if (coveredBy(past, path)) untouched.push(path);
		else if (!isGrown && (await isUnseen(root, present, path))) untouched.push(path);
		else if (theirs.has(path) && !force) kept.push(path);
		else steps.push({ path, now: change.to, want: change.from });
	}
	const gone = await goneSince(root, past);
	const unsaved = new Set([
		...untouched,
		...gone.filter((path) => file === undefined || isUnder(path, file)),
	]);
	return { steps, kept, untouched: [...unsaved], emptyThen: [...past.empty] };
}

/** A file that could not be saved before it is replaced stays. */
export function withoutUnsaved(steps: Steps): Steps {
	const unsaved = steps.steps.filter(({ now }) => now?.mode === LARGE).map(({ path }) => path);
	if (unsaved.length === 0) return steps;
	return {
		...steps,
		steps: steps.steps.filter(({ now }) => now?.mode !== LARGE),
		untouched: [...steps.untouched, ...unsaved],
	};
}

/**
 * Existed unsaved, and is gone: nothing can restore it, so it is at least named. The current manifest cannot
 * say so: if no saved file changed, it is the last checkpoint's.
 */
async function goneSince(root: string, past: Manifest): Promise<readonly RawPath[]> {
	const gone: RawPath[] = [];
	for (const path of past.excluded.keys())
		if (!past.held.has(path) && !(await isThere(root, path))) gone.push(path);
	return gone.sort();
}

/** Whether something is there that the current rules exclude. If not, there is nothing to leave alone. */
async function isUnseen(root: string, present: Manifest, path: RawPath): Promise<boolean> {
	if (!coveredBy(present, path)) return false;
	return present.excluded.has(path) || isThere(root, path);
}

async function isThere(root: string, path: RawPath): Promise<boolean> {
	try {
		await lstat(fullPath(root, path.endsWith("/") ? path.slice(0, -1) : path));
		return true;
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		return code !== "ENOENT" && code !== "ENOTDIR";
	}
}

/** Pairs of trees between which no turn or restore ran. */
function gapsOf({ target, checkpoints, windows, now }: PlanInput): readonly (readonly [string, string])[] {
	const since = checkpoints
		.filter(({ n }) => n >= target.n)
		.map(({ n, tree }): { n: number; tree: string } => ({ n, tree }));
	const states = [...since, { n: Number.POSITIVE_INFINITY, tree: now.tree }];
	const spans = windows.map(({ from, to }) => ({ from, to: to ?? nextAfter(from, checkpoints) }));
	return states.slice(1).flatMap((state, index) => {
		const before = states[index] as { n: number; tree: string };
		const ours = spans.some(({ from, to }) => from <= before.n && to >= state.n);
		return ours ? [] : [[before.tree, state.tree] as const];
	});
}

/** An interrupted turn has no end: the next scan counts as its end. */
function nextAfter(n: number, checkpoints: readonly Checkpoint[]): number {
	return checkpoints.find((checkpoint) => checkpoint.n > n)?.n ?? Number.POSITIVE_INFINITY;
}

export function isUnder(path: RawPath, file: RawPath): boolean {
	return path === file || path.startsWith(`${file}/`);
}
