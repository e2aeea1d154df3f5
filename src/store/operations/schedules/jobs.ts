// Creates, changes, pauses and deletes jobs. An active job has its next instant in `due_at`, computed here.
import { firstInstant, nextInstant } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { seal } from "../../codec.ts";
import { all, type Context, get, type Op, run, sql } from "../../query.ts";
import type { Job, NewJob, PausedBecause } from "../../types.ts";
import { emit } from "../events.ts";
import { samePrincipals } from "../people/principals.ts";
import {
	bodyOf,
	changeableJob,
	foundJob,
	isWithin,
	JOB_COLUMNS,
	type JobBody,
	type JobRow,
	type JobScope,
	jobRow,
	toJob,
} from "./rows.ts";

const insertJob = sql(
	`INSERT INTO schedules (id, principal, speaker, timing, zone, catch_up, max_delay_seconds, conversation, state, created_at, updated_at,
		body, due_at)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'active', ?, ?, ?, ?)`,
);
const countOwned = sql<{ n: number }>(
	"SELECT count(*) AS n FROM schedules WHERE principal = ? AND state <> 'ended'",
);
const countOperators = sql<{ n: number }>(
	"SELECT count(*) AS n FROM schedules WHERE principal IS NULL AND state <> 'ended'",
);
const updateJob = sql(
	`UPDATE schedules SET timing = ?, zone = ?, catch_up = ?, max_delay_seconds = ?, conversation = ?, body = ?, state = ?,
		paused_because = ?, due_at = ?, updated_at = ? WHERE id = ?`,
);
const pause = sql(
	"UPDATE schedules SET state = 'paused', paused_because = ?, due_at = NULL, updated_at = ? WHERE id = ? AND state = 'active'",
);
const resume = sql(
	"UPDATE schedules SET state = 'active', paused_because = NULL, failures = 0, due_at = ?, updated_at = ? WHERE id = ?",
);
const isTaken = sql<{ found: number }>(
	"SELECT 1 AS found FROM schedule_runs WHERE job = ? AND scheduled_at = ?",
);
const deleteJob = sql("DELETE FROM schedules WHERE id = ?");
const deleteRuns = sql("DELETE FROM schedule_runs WHERE job = ?");
const ofAll = sql<JobRow>(`SELECT ${JOB_COLUMNS} FROM schedules WHERE n < ? ORDER BY n DESC LIMIT ?`);
const ofPrincipal = sql<JobRow>(
	`SELECT ${JOB_COLUMNS} FROM schedules WHERE principal = ? AND n < ? ORDER BY n DESC LIMIT ?`,
);

export interface CreateJobArgs {
	readonly job: NewJob;
	/** Of its owner. */
	readonly most: number;
}

export function* createJob(context: Context, { job, most }: CreateJobArgs): Op<Job> {
	const { principal } = job.owner;
	if ((yield* count(principal)) >= most)
		throw new KeryxError("schedule.limit", `there can be ${most} jobs per person (schedule.max_jobs)`);
	const id = `job_${context.uuid().slice(-10)}`;
	const dueAt = yield* firstOf(id, job, context.now);
	yield* run(
		insertJob,
		id,
		principal,
		JSON.stringify(job.owner),
		JSON.stringify(job.when),
		job.zone,
		job.catchUp,
		job.maxDelaySeconds,
		job.conversation,
		context.now,
		context.now,
		seal(bodyFor(job)),
		dueAt,
	);
	yield* emit(context, "schedule.created", { conversation: job.conversation, subject: id });
	return toJob((yield* jobRow(id)) as JobRow);
}

function* count(principal: string | null): Op<number> {
	if (principal === null) return (yield* get(countOperators))?.n ?? 0;
	let n = 0;
	for (const one of yield* samePrincipals(principal)) n += (yield* get(countOwned, one))?.n ?? 0;
	return n;
}

/** The fields that may change. The owner never does: a job has its creator's rights. */
export type JobChanges = Partial<
	Pick<
		NewJob,
		| "name"
		| "task"
		| "when"
		| "zone"
		| "catchUp"
		| "maxDelaySeconds"
		| "deliver"
		| "failure"
		| "model"
		| "tools"
	>
>;

/** A new time starts from now; anything else keeps the next instant. */
export function* updateJobOp(
	context: Context,
	args: { readonly scope: JobScope; readonly id: string; readonly changes: JobChanges },
): Op<Job> {
	const row = yield* changeableJob(args.scope, args.id);
	const job = { ...toJob(row), ...args.changes };
	const retimed = args.changes.when !== undefined || args.changes.zone !== undefined;
	const state = retimed && row.state === "ended" ? "active" : row.state;
	const dueAt = state === "active" && retimed ? yield* firstOf(row.id, job, context.now) : row.due_at;
	yield* run(
		updateJob,
		JSON.stringify(job.when),
		job.zone,
		job.catchUp,
		job.maxDelaySeconds,
		row.conversation,
		seal({ ...bodyFor(job), given: bodyOf(row).given }),
		state,
		row.paused_because,
		dueAt,
		context.now,
		args.id,
	);
	yield* emit(context, "schedule.changed", { conversation: row.conversation, subject: args.id });
	return toJob((yield* jobRow(args.id)) as JobRow);
}

export function* pauseJob(
	context: Context,
	args: { readonly scope: JobScope; readonly id: string },
): Op<Job> {
	const row = yield* changeableJob(args.scope, args.id);
	yield* pauseRow(context, row, "user");
	return toJob((yield* jobRow(args.id)) as JobRow);
}

export function* pauseRow(
	context: Context,
	{ id, conversation }: JobRow,
	because: PausedBecause,
): Op<boolean> {
	if ((yield* run(pause, because, context.now, id)) === 0) return false;
	yield* emit(context, "schedule.paused", { conversation, subject: id }, { because });
	return true;
}

/** From now on: instants that passed while it was paused do not count as missed. */
export function* resumeJob(
	context: Context,
	args: { readonly scope: JobScope; readonly id: string },
): Op<Job> {
	const row = yield* changeableJob(args.scope, args.id);
	if (row.state === "active") return toJob(row);
	yield* run(resume, yield* firstOf(row.id, toJob(row), context.now), context.now, args.id);
	yield* emit(context, "schedule.resumed", { conversation: row.conversation, subject: args.id });
	return toJob((yield* jobRow(args.id)) as JobRow);
}

/** With its history. The conversation of its runs stays. */
export function* deleteJobOp(
	context: Context,
	args: { readonly scope: JobScope; readonly id: string },
): Op<Job> {
	const row = yield* changeableJob(args.scope, args.id);
	yield* run(deleteRuns, args.id);
	yield* run(deleteJob, args.id);
	yield* emit(context, "schedule.deleted", { conversation: row.conversation, subject: args.id });
	return toJob(row);
}

export function* job(args: { readonly scope: JobScope; readonly id: string }): Op<Job> {
	return toJob(yield* foundJob(args.scope, args.id));
}

/** Newest first. `next` continues after this page. */
export function* jobs(args: {
	readonly scope: JobScope;
	readonly limit: number;
	readonly after?: string;
}): Op<{ readonly jobs: readonly Job[]; readonly next: string | null }> {
	const { scope, limit } = args;
	const before = /^\d{1,15}$/.test(args.after ?? "") ? Number(args.after) : Number.MAX_SAFE_INTEGER;
	const rows: JobRow[] = [];
	if (scope.kind === "operator") rows.push(...(yield* all(ofAll, before, limit + 1)));
	else
		for (const principal of yield* samePrincipals(scope.principal))
			rows.push(...(yield* withinPage(scope, principal, before, limit + 1)));
	const page = rows.toSorted((a, b) => b.n - a.n).slice(0, limit);
	return { jobs: page.map(toJob), next: rows.length > limit ? String(page.at(-1)?.n) : null };
}

/** The newest of a person's jobs in the scope. */
function* withinPage(scope: JobScope, principal: string, before: number, most: number): Op<JobRow[]> {
	const found: JobRow[] = [];
	for (let from = before; ; ) {
		const rows = yield* all(ofPrincipal, principal, from, most);
		found.push(...rows.filter((row) => isWithin(scope, row)));
		const last = rows.at(-1);
		if (!last || rows.length < most || found.length >= most) return found.slice(0, most);
		from = last.n;
	}
}

/** The first instant without a run: after the clock went back, some future ones have one. */
function* firstOf(id: string, timing: Pick<NewJob, "when" | "zone">, now: number): Op<number> {
	let first = firstInstant(timing, now);
	while (first !== null && (yield* get(isTaken, id, first))) first = nextInstant(timing, first);
	if (first !== null) return first;
	throw new KeryxError("schedule.invalid", "that time has passed, or never comes", { field: "when" });
}

function bodyFor(job: NewJob): JobBody {
	const { name, task, deliver, failure, origin, profile, model, tools } = job;
	return { name, task, deliver, failure, origin, profile, model, tools, given: job.conversation !== null };
}
