// What checkpoints and their outcomes are called.
import type { Answer } from "../../../../src/http/endpoints.ts";
import { clockTime, dayName } from "../../lib/time.ts";

export type Checkpoint = Answer<"checkpoints">["checkpoints"][number];
export type FileDiff = Answer<"checkpointDiff">["files"][number];
export type Plan = Answer<"checkpointPlan">;
export type Restored = Answer<"restoreCheckpoint">;

export const KINDS: Readonly<Record<Checkpoint["kind"], string>> = {
	before: "Before a turn",
	after: "After a turn",
	rotation: "At the end of a session",
	manual: "By hand",
	restore: "At a restore",
};

export const KEPT: Readonly<Record<Plan["kept"][number]["reason"], string>> = {
	changed_since: "somebody else than the agent has changed it since",
	changing: "it was changed while the restore looked at it",
	in_the_way: "something that is kept stands in its place",
	refused: "the system does not allow it",
	lost: "the checkpoint no longer has its content",
};

export function nameOf({ label, kind }: Checkpoint): string {
	return label === "" ? KINDS[kind] : label;
}

export function timeOf({ created_at }: Checkpoint): string {
	const at = Date.parse(created_at);
	return `${dayName(at, Date.now())}, ${clockTime(at)}`;
}

export function count(n: number, one: string, many = `${one}s`): string {
	return `${n.toLocaleString()} ${n === 1 ? one : many}`;
}
