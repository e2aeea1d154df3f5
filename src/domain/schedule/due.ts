// Decides about passed instants of a job: which one runs now, and which were missed. Pure.
import { nextInstant } from "./next.ts";
import type { Timing } from "./when.ts";

/** none: what is late does not run. once: the newest late one runs. all: each of them runs. */
export type CatchUp = "none" | "once" | "all";

/** Why an instant passed without a run. */
export type MissedBecause =
	/** Keryx was not running. */
	| "away"
	/** The run before it had not ended. */
	| "busy"
	/** Too many other jobs were running. */
	| "crowded"
	/** It could have run, but later than the job allows. */
	| "too_late"
	/** A newer run took its place. */
	| "superseded"
	/** A backup was restored: it may have run since the backup. */
	| "restored";

export interface DueJob extends Timing {
	readonly catchUp: CatchUp;
	/** A run that would begin later than this is missed; null: however late. */
	readonly maxDelaySeconds: number | null;
}

export interface DuePlan {
	readonly missed: readonly { readonly at: number; readonly because: MissedBecause }[];
	/** The instant whose run begins now. */
	readonly run: number | null;
	/** The instant after those; null: there is none. It may be due as well. */
	readonly next: number | null;
}

/** Less is on time: nobody calls it late. */
export const ON_TIME_MS = 60_000;

export function planDue(
	job: DueJob,
	due: number,
	now: number,
	because: (at: number) => "away" | "busy" | "crowded",
	most: number,
): DuePlan {
	const missed: { at: number; because: MissedBecause }[] = [];
	let at: number | null = due;
	while (at !== null && at <= now && missed.length < most) {
		const next = nextInstant(job, at);
		const fate = fateOf(job, now - at, next !== null && next <= now);
		if (fate === "run") return { missed, run: at, next };
		missed.push({ at, because: fate === "missed" ? because(at) : fate });
		at = next;
	}
	return { missed, run: null, next: at };
}

function fateOf(
	{ catchUp, maxDelaySeconds }: DueJob,
	late: number,
	isNewerDue: boolean,
): "run" | "missed" | "too_late" | "superseded" {
	if (catchUp === "once" && isNewerDue) return "superseded";
	if (late <= ON_TIME_MS) return "run";
	if (catchUp === "none") return "missed";
	return maxDelaySeconds !== null && late > maxDelaySeconds * 1000 ? "too_late" : "run";
}
