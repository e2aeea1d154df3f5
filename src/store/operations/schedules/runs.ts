// Runs: each scheduled instant of a job has one row (the primary key), created in the transaction that computes the next instant. A
// started run is an inbox event of kind `schedule`; a missed one says why. A run has two results: its own, and its delivery's.
import {
	addressDigest,
	type ConversationId,
	type DueJob,
	instantAfter,
	isShared,
	type MissedBecause,
	parseSource,
	planDue,
	resolveAddress,
	SCHEDULE_PLATFORM,
	type Speaker,
} from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { seal, unseal } from "../../codec.ts";
import { all, type Context, get, type Op, run, sql } from "../../query.ts";
import type { Destination, Job, JobRun, OperatorScope, PausedBecause, RunState } from "../../types.ts";
import { destinationOf } from "../deliveries/destination.ts";
import { emit } from "../events.ts";
import { createConversation } from "../inbox/routing.ts";
import type { Woken } from "../inbox/wake.ts";
import { isOnItsWay } from "../row-ids.ts";
import { pauseRow } from "./jobs.ts";
import { changeableJob, JOB_COLUMNS, type JobRow, type JobScope, jobRow, toJob } from "./rows.ts";

const ready = sql<JobRow>(
	`SELECT ${JOB_COLUMNS} FROM schedules WHERE due_at IS NOT NULL AND open_run IS NULL AND due_at <= ? ORDER BY due_at LIMIT ?`,
);
const passed = sql<JobRow>(
	`SELECT ${JOB_COLUMNS} FROM schedules WHERE due_at IS NOT NULL AND due_at <= ? ORDER BY n`,
);
const nextReady = sql<{ at: number | null }>(
	"SELECT min(due_at) AS at FROM schedules WHERE due_at IS NOT NULL AND open_run IS NULL",
);
const openRuns = sql<{ n: number }>(
	"SELECT count(*) AS n FROM schedule_runs WHERE settled_at IS NULL AND ended_at IS NULL",
);
const lastEnd = sql<{ ended_at: number | null }>(
	"SELECT ended_at FROM schedule_runs WHERE job = ? AND state <> 'missed' ORDER BY scheduled_at DESC LIMIT 1",
);
const insertRun = sql(
	`INSERT INTO schedule_runs (job, scheduled_at, begun_by, state, reason, inbox, delivery, begun_at, ended_at, settled_at)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);
const runAt = sql<RunRow>("SELECT * FROM schedule_runs WHERE job = ? AND scheduled_at = ?");
const moveOn = sql("UPDATE schedules SET due_at = ?, state = ?, open_run = ?, conversation = ? WHERE id = ?");
const openRunOf = sql("UPDATE schedules SET open_run = ?, conversation = ? WHERE id = ?");
const closeRun = sql("UPDATE schedules SET open_run = NULL WHERE id = ? AND open_run = ?");
const setFailures = sql<{ failures: number }>(
	"UPDATE schedules SET failures = CASE WHEN ? = 1 THEN failures + 1 ELSE 0 END WHERE id = ? RETURNING failures",
);
const setEnded = sql(
	`UPDATE schedule_runs SET state = ?, reason = ?, delivery = ?, delivery_reason = ?, sent_as = ?, ended_at = ?, settled_at = ?
	WHERE job = ? AND scheduled_at = ? AND state = 'open'`,
);
const setSettled = sql(
	"UPDATE schedule_runs SET settled_at = ? WHERE job = ? AND scheduled_at = ? AND settled_at IS NULL",
);
const insertInbox = sql<{ id: number }>(
	`INSERT INTO inbox (kind, platform, account, chat, platform_message, conversation, principal, accepted_at, disposition,
		disposition_detail, disposed_at, body, due_at, node)
	VALUES ('schedule', 'keryx', '', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
);
const sourceOf = sql<{ source_body: string; body_key: number | null }>(
	"SELECT source_body, body_key FROM conversations WHERE id = ?",
);
const pruned = sql<{ job: string; scheduled_at: number }>(
	"SELECT job, scheduled_at FROM schedule_runs WHERE settled_at IS NOT NULL AND settled_at < ? ORDER BY settled_at LIMIT ?",
);
const deleteRun = sql("DELETE FROM schedule_runs WHERE job = ? AND scheduled_at = ?");
const deleteEnded = sql(
	"DELETE FROM schedules WHERE id = ? AND state = 'ended' AND NOT EXISTS (SELECT 1 FROM schedule_runs r WHERE r.job = schedules.id)",
);

export interface RunRow {
	readonly job: string;
	readonly scheduled_at: number;
	readonly begun_by: "schedule" | "person";
	readonly state: RunState;
	readonly reason: string | null;
	readonly inbox: number | null;
	readonly delivery: JobRun["via"];
	readonly delivery_reason: string | null;
	readonly sent_as: string | null;
	readonly begun_at: number;
	readonly ended_at: number | null;
	readonly settled_at: number | null;
}

/** Due jobs that may start, most urgent first; and when to check again. */
export function* dueJobs(args: {
	readonly scope: OperatorScope;
	readonly now: number;
	readonly limit: number;
}): Op<{ readonly jobs: readonly Job[]; readonly nextAt: number | null; readonly running: number }> {
	return {
		jobs: (yield* all(ready, args.now, args.limit)).map(toJob),
		nextAt: (yield* get(nextReady))?.at ?? null,
		running: (yield* get(openRuns))?.n ?? 0,
	};
}

export interface FireArgs {
	readonly job: string;
	/** The instant the caller saw as due. */
	readonly due: number;
	/** When this Keryx started to run jobs: earlier instants were missed while it was away. */
	readonly since: number;
	/** How many missed instants are recorded at once. */
	readonly mostMissed: number;
	/** It cannot run, and is paused. */
	readonly refused?: { readonly reason: string; readonly because: PausedBecause };
}

export interface Fired {
	/** Null: nothing was due, or all of it was missed. */
	readonly run: number | null;
	readonly woken: Woken | null;
	readonly missed: number;
}

/** What is due for one job. A concurrent or later call finds nothing. */
export function* fireJob(context: Context, args: FireArgs): Op<Fired> {
	const row = yield* jobRow(args.job);
	if (
		!row ||
		row.due_at === null ||
		row.due_at !== args.due ||
		row.open_run !== null ||
		row.due_at > context.now
	)
		return { run: null, woken: null, missed: 0 };
	if (args.refused) return yield* refuse(context, row, args.refused);
	const due = toJob(row) satisfies DueJob;
	const busyUntil = (yield* get(lastEnd, row.id))?.ended_at ?? 0;
	const because = (at: number) => (at < args.since ? "away" : at < busyUntil ? "busy" : "crowded");
	const plan = planDue(due, row.due_at, context.now, because, args.mostMissed);
	let missed = 0;
	for (const { at, because: reason } of plan.missed)
		if (yield* recordMissed(context, row.id, at, reason)) missed++;
	if (missed > 0)
		yield* emit(
			context,
			"schedule.missed",
			{ conversation: row.conversation, subject: row.id },
			{ count: missed },
		);
	// An instant that already ran comes up again when the clock goes back: skip it.
	const at = plan.run !== null && (yield* get(runAt, row.id, plan.run)) ? null : plan.run;
	const begun = at === null ? null : yield* begin(context, row, at, "schedule");
	yield* run(
		moveOn,
		plan.next,
		plan.next === null ? "ended" : "active",
		at,
		begun?.conversation ?? row.conversation,
		row.id,
	);
	return { run: at, woken: begun?.woken ?? null, missed };
}

/** False: that instant already has a run. */
function* recordMissed(context: Context, job: string, at: number, because: MissedBecause): Op<boolean> {
	if (yield* get(runAt, job, at)) return false;
	const { now } = context;
	yield* run(insertRun, job, at, "schedule", "missed", because, null, "none", now, now, now);
	return true;
}

/** After a restore: instants due since the backup may have run, so they do not run again. */
export function* missRestored(context: Context): Op<{ missed: number }> {
	const rows = yield* all(passed, context.now);
	for (const row of rows) {
		const due = row.due_at as number;
		const about = { conversation: row.conversation, subject: row.id };
		if (yield* recordMissed(context, row.id, due, "restored"))
			yield* emit(context, "schedule.missed", about, { count: 1 });
		const next = instantAfter(toJob(row), due, context.now);
		yield* run(moveOn, next, next === null ? "ended" : "active", row.open_run, row.conversation, row.id);
	}
	return { missed: rows.length };
}

/** An extra run, on request. The schedule stays the same. */
export function* runJobNow(
	context: Context,
	args: { readonly scope: JobScope; readonly id: string },
): Op<{ readonly run: number; readonly woken: Woken | null }> {
	const row = yield* changeableJob(args.scope, args.id);
	if (row.open_run !== null)
		throw new KeryxError("schedule.busy", "the job is already running", { field: "job" });
	let at = context.now;
	while (at === row.due_at || (yield* get(runAt, row.id, at))) at++;
	const { woken, conversation } = yield* begin(context, row, at, "person");
	yield* run(openRunOf, at, conversation, row.id);
	return { run: at, woken };
}

function* refuse(
	context: Context,
	row: JobRow,
	{ reason, because }: NonNullable<FireArgs["refused"]>,
): Op<Fired> {
	const at = row.due_at as number;
	if (!(yield* get(runAt, row.id, at))) {
		const { now } = context;
		yield* run(insertRun, row.id, at, "schedule", "refused", reason, null, "none", now, now, now);
		yield* emit(
			context,
			"schedule.run_ended",
			{ conversation: row.conversation, subject: row.id },
			{ at, state: "refused" },
		);
	}
	yield* pauseRow(context, row, because);
	return { run: null, woken: null, missed: 0 };
}

function* begin(
	context: Context,
	row: JobRow,
	at: number,
	by: "schedule" | "person",
): Op<{ readonly woken: Woken | null; readonly conversation: ConversationId }> {
	const job = toJob(row);
	const kept = row.conversation !== null && (yield* get(sourceOf, row.conversation)) !== undefined;
	// If its own conversation is gone, a new one is created; not for one it was given.
	const conversation =
		row.conversation !== null && (kept || !job.isOwn)
			? row.conversation
			: yield* ownConversation(context, job);
	const source = yield* get(sourceOf, conversation);
	if (!source)
		throw new KeryxError("store.not_found", `the conversation of job ${row.id} is gone`, { field: "job" });
	const speakers: readonly Speaker[] = [job.owner];
	// A text needs no turn: it is sent when the run is processed.
	const asIs = job.task.kind === "text";
	const inserted = yield* get(
		insertInbox,
		row.id,
		`${row.id}:${at}`,
		conversation,
		row.principal,
		context.now,
		asIs ? "command" : null,
		asIs ? "schedule" : null,
		asIs ? context.now : null,
		asIs
			? null
			: seal({
					source: unseal(source.source_body, source.body_key),
					content: noteOf(job),
					...(job.isOwn && job.origin !== null && { destination: yield* askingAt(job.origin) }),
					speakers,
				}),
		asIs ? null : context.now,
		context.epoch,
	);
	const { id } = inserted as { id: number };
	yield* emit(
		context,
		asIs ? "inbound.command" : "inbound.accepted",
		{ conversation, subject: id },
		{ kind: "schedule" },
	);
	yield* run(insertRun, row.id, at, by, "open", null, id, "none", context.now, null, null);
	yield* emit(context, "schedule.fired", { conversation, subject: row.id }, { at, by });
	return { woken: asIs ? null : { conversation, inbox: id }, conversation };
}

/** Where a human is asked about a job's call. Null if that conversation is gone. */
function* askingAt(origin: ConversationId): Op<Destination | null> {
	const source = yield* get(sourceOf, origin);
	if (!source) return null;
	const { replyTo: _, ...destination } = destinationOf(
		parseSource(unseal(source.source_body, source.body_key)),
	);
	return destination;
}

/** The prompt for the agent, marked as a job's. */
function noteOf({ name, task }: Job): string {
	if (task.kind === "command") return `The scheduled job "${name}" runs: ${task.text}`;
	return `This is a run of the scheduled job "${name}". Nobody is waiting in a chat; your answer is delivered as the job's result.\n\n${task.text}`;
}

function* ownConversation(context: Context, { id, name, profile, owner }: Job): Op<ConversationId> {
	const source = parseSource({
		platform: SCHEDULE_PLATFORM,
		chat_type: "dm",
		chat_id: id,
		chat_name: name,
		...(profile !== "" && { profile }),
	});
	const address = resolveAddress(source, { profile });
	const shared = isShared(address) ? null : owner.principal;
	return (yield* createConversation(context, address, addressDigest(address), shared, source)).id;
}

export interface EndRunArgs {
	readonly job: string;
	readonly at: number;
	readonly state: Exclude<RunState, "open" | "missed" | "refused">;
	readonly reason: string | null;
	/** How its result is delivered. A send to a target was committed before, under the run's id. */
	readonly via: JobRun["via"];
	/** Why it could not be sent. */
	readonly deliveryReason: string | null;
	/** The sends with which the agent itself delivered the result. */
	readonly sentAs?: readonly string[];
	/** This many failures in a row pause the job. */
	readonly disableAfter: number;
}

/** The run is over. If nothing is on its way, so is its delivery. Repeating it changes nothing. */
export function* endRun(context: Context, args: EndRunArgs): Op<boolean> {
	const found = yield* get(runAt, args.job, args.at);
	const row = yield* jobRow(args.job);
	if (!row || found?.state !== "open") return false;
	const { state, via } = args;
	const waits = isOnItsWay(via);
	const settledAt = waits ? null : context.now;
	yield* run(
		setEnded,
		state,
		args.reason,
		via,
		args.deliveryReason,
		args.sentAs ? JSON.stringify(args.sentAs) : null,
		context.now,
		settledAt,
		args.job,
		args.at,
	);
	yield* run(closeRun, args.job, args.at);
	yield* emit(
		context,
		"schedule.run_ended",
		{ conversation: row.conversation, subject: args.job },
		{ at: args.at, state },
	);
	if (state === "failed" || state === "expired" || via === "refused") yield* countFailure(context, row, args);
	else if (!waits && state === "answered") yield* get(setFailures, 0, row.id);
	return true;
}

function* countFailure(
	context: Context,
	row: JobRow,
	{ disableAfter }: Pick<EndRunArgs, "disableAfter">,
): Op<void> {
	const failures = (yield* get(setFailures, 1, row.id))?.failures ?? 0;
	if (failures >= disableAfter) yield* pauseRow(context, row, "failures");
}

/** The delivery's result is known. */
export function* settleRun(
	context: Context,
	args: {
		readonly job: string;
		readonly at: number;
		readonly arrived: "sent" | "unknown" | "dead" | "nothing";
	} & Pick<EndRunArgs, "disableAfter">,
): Op<boolean> {
	const row = yield* jobRow(args.job);
	const found = yield* get(runAt, args.job, args.at);
	if (!row || !found || (yield* run(setSettled, context.now, args.job, args.at)) === 0) return false;
	if (args.arrived === "dead") yield* countFailure(context, row, args);
	else if (found.state === "answered") yield* get(setFailures, 0, row.id);
	return true;
}

/** Old history, and ended jobs without any left. */
export function* pruneRuns(
	_: Context,
	args: { readonly before: number; readonly limit: number },
): Op<number> {
	const old = yield* all(pruned, args.before, args.limit);
	for (const { job, scheduled_at } of old) {
		yield* run(deleteRun, job, scheduled_at);
		yield* run(deleteEnded, job);
	}
	return old.length;
}
