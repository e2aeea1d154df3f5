// Jobs as stored, and as returned.
import { type ConversationId, isAtLeast, type Standing } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { unseal } from "../../codec.ts";
import { get, type Op, sql } from "../../query.ts";
import type { Job, JobState, NewJob, OperatorScope, PausedBecause } from "../../types.ts";
import { samePrincipals } from "../people/principals.ts";

export interface JobRow {
	readonly n: number;
	readonly id: string;
	readonly principal: string | null;
	readonly speaker: string;
	readonly timing: string;
	readonly zone: string;
	readonly catch_up: Job["catchUp"];
	readonly max_delay_seconds: number | null;
	readonly conversation: ConversationId | null;
	readonly state: JobState;
	readonly paused_because: PausedBecause | null;
	readonly failures: number;
	readonly open_run: number | null;
	readonly created_at: number;
	readonly updated_at: number;
	readonly body: string;
	readonly body_key: number | null;
	readonly due_at: number | null;
}

export const JOB_COLUMNS = `n, id, principal, speaker, timing, zone, catch_up, max_delay_seconds, conversation, state, paused_because,
	failures, open_run, created_at, updated_at, body, body_key, due_at`;

/** The rest of a job: people's texts, and fields that are never looked up. */
export type JobBody = Pick<
	NewJob,
	"name" | "task" | "deliver" | "failure" | "origin" | "profile" | "model" | "tools"
> & {
	/** It was given a conversation to run in. */
	readonly given: boolean;
};

/** Whose jobs: everyone's, or one person's; optionally only those of one profile or created in one conversation. */
export type JobScope =
	| OperatorScope
	| {
			readonly kind: "owner";
			readonly principal: string;
			/** Jobs made with a higher role are seen, and not changed: they run with that role (I18). */
			readonly role: Standing;
			readonly profile?: string;
			readonly origin?: ConversationId;
	  };

const jobById = sql<JobRow>(`SELECT ${JOB_COLUMNS} FROM schedules WHERE id = ?`);

/** Another person's is not_found. */
export function* foundJob(scope: JobScope, id: string): Op<JobRow> {
	const row = yield* get(jobById, id);
	if (row && (yield* isSeen(scope, row))) return row;
	throw new KeryxError("store.not_found", `no job ${id}`, { field: "job" });
}

/** To change or run it. Throws schedule.role, too. */
export function* changeableJob(scope: JobScope, id: string): Op<JobRow> {
	const row = yield* foundJob(scope, id);
	if (scope.kind === "operator" || isAtLeast(scope.role, ownerOf(row).role)) return row;
	throw new KeryxError("schedule.role", "the job was made with a higher role", { field: "job" });
}

export function* jobRow(id: string): Op<JobRow | undefined> {
	return yield* get(jobById, id);
}

function* isSeen(scope: JobScope, row: JobRow): Op<boolean> {
	if (scope.kind === "operator") return true;
	const { principal } = row;
	if (principal === null || !isWithin(scope, row)) return false;
	return (yield* samePrincipals(scope.principal)).includes(principal);
}

/** Whether a job is in the scope. */
export function isWithin(scope: JobScope, row: JobRow): boolean {
	if (scope.kind === "operator") return true;
	const { profile, origin } = bodyOf(row);
	return (
		(scope.profile === undefined || scope.profile === profile) &&
		(scope.origin === undefined || scope.origin === origin)
	);
}

function ownerOf(row: JobRow): Job["owner"] {
	return JSON.parse(row.speaker) as Job["owner"];
}

export function bodyOf(row: JobRow): JobBody {
	return unseal<JobBody>(row.body, row.body_key);
}

export function toJob(row: JobRow): Job {
	const { given, ...body } = bodyOf(row);
	return {
		id: row.id,
		isOwn: !given,
		...body,
		owner: ownerOf(row),
		when: JSON.parse(row.timing) as Job["when"],
		zone: row.zone,
		catchUp: row.catch_up,
		maxDelaySeconds: row.max_delay_seconds,
		conversation: row.conversation,
		state: row.state,
		pausedBecause: row.paused_because,
		failures: row.failures,
		dueAt: row.due_at,
		openRun: row.open_run,
		createdAt: row.created_at,
		updatedAt: row.updated_at,
	};
}
