// Names of checkpoints and their outcomes.

import type { Answer } from "../../../../src/http/endpoints.ts";
import { clockTime, dayName } from "../../lib/time.ts";
import { texts } from "../../texts/checkpoints.ts";

export type Checkpoint = Answer<"checkpoints">["checkpoints"][number];
export type FileDiff = Answer<"checkpointDiff">["files"][number];
export type Plan = Answer<"checkpointPlan">;
export type Restored = Answer<"restoreCheckpoint">;

export const KINDS: Readonly<Record<Checkpoint["kind"], string>> = {
	before: texts.words.beforeATurn,
	after: texts.words.afterATurn,
	rotation: texts.words.atTheEndOfA,
	manual: texts.words.takenByHand,
	restore: texts.words.atARestore,
};

export const KEPT: Readonly<Record<Plan["kept"][number]["reason"], string>> = {
	changed_since: texts.words.someoneOtherThanTheAgent,
	changing: texts.words.itChangedDuringTheRestore,
	in_the_way: texts.words.somethingElseThatIsKept,
	refused: texts.words.theOperatingSystemDoesNot,
	lost: texts.words.theCheckpointNoLongerHolds,
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
