// Jobs in an export and import. Results of runs are not included, like inbox and deliveries. An imported job is paused: its original
// Keryx may still run it. Approvals of targets are valid only where they were given.
import {
	type ConversationId,
	checkTiming,
	conversationId,
	isConversationId,
	profileName,
	sanitizeModelOverride,
	type Target,
} from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { seal } from "../../codec.ts";
import { all, get, type Op, run, sql } from "../../query.ts";
import type { JobLine } from "../../transfer-format.ts";
import { invalidLine, toLine } from "../../transfer-line.ts";
import type { JobTarget, Scope } from "../../types.ts";
import { emit } from "../events.ts";
import { samePrincipals } from "../people/principals.ts";
import { bodyOf, JOB_COLUMNS, type JobBody, type JobRow, jobRow, toJob } from "../schedules/rows.ts";
import { derivedId, type Import, knownConversation } from "./import-lookup.ts";

const jobsAfter = sql<JobRow>(`SELECT ${JOB_COLUMNS} FROM schedules WHERE n > ? ORDER BY n LIMIT ?`);

/** The jobs of a scope, oldest first. `last`: where the next page continues; null: none. */
export function* exportJobs(args: {
	readonly scope: Scope;
	readonly after: number;
	readonly limit: number;
}): Op<{ readonly lines: readonly string[]; readonly last: number | null }> {
	const { scope, after, limit } = args;
	const rows = yield* all(jobsAfter, after, limit);
	const own = scope.kind === "operator" ? null : yield* samePrincipals(scope.principal);
	const seen = rows.filter(
		(row) =>
			own === null ||
			(row.principal !== null &&
				own.includes(row.principal) &&
				scope.kind === "principal" &&
				bodyOf(row).profile === scope.profile),
	);
	return {
		lines: seen.map((row) => toLine(lineOf(row))),
		last: rows.length < limit ? null : (rows.at(-1)?.n ?? null),
	};
}

function lineOf(row: JobRow): JobLine {
	const { openRun: _, dueAt: __, isOwn, when, tools, deliver, failure, ...job } = toJob(row);
	return {
		type: "job",
		...job,
		when: { ...when },
		given: !isOwn,
		tools: tools && [...tools],
		deliver: deliver && { target: { ...deliver.target }, shown: deliver.shown },
		failure: failure && { target: { ...failure.target }, shown: failure.shown },
		model: job.model && { ...job.model },
	} as JobLine;
}

const principalById = sql<{ id: string }>("SELECT id FROM principals WHERE id = ?");
const addJob = sql(
	`INSERT INTO schedules (id, principal, speaker, timing, zone, catch_up, max_delay_seconds, conversation, state, paused_because,
		failures, created_at, updated_at, body)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);
const OWN_ID = /^job_[0-9a-f]{10}$/;

export function* importJob(work: Import, line: JobLine, number: number): Op<void> {
	const id = OWN_ID.test(line.id) ? line.id : `job_${derivedId(work.origin, line.id).slice(-10)}`;
	if (yield* jobRow(id)) return;
	const { principal } = line.owner;
	if (principal !== null && !(yield* get(principalById, principal)))
		throw invalidLine(number, `owner names ${principal}, which no line before describes`, { field: "owner" });
	try {
		checkTiming(line, 1);
	} catch (cause) {
		if (!(cause instanceof KeryxError)) throw cause;
		throw invalidLine(number, cause.message, { field: cause.field, cause });
	}
	const conversation = line.conversation === null ? null : yield* hereOf(work, line.conversation);
	const body: JobBody = {
		name: line.name,
		task: line.task,
		deliver: yield* targetHere(work, line.deliver),
		failure: yield* targetHere(work, line.failure),
		origin: line.origin === null ? null : yield* hereOf(work, line.origin),
		profile: profileName(line.profile),
		model: line.model && sanitizeModelOverride(line.model),
		tools: line.tools,
		given: line.given,
	};
	const isEnded = line.state === "ended";
	const { now } = work.context;
	yield* run(
		addJob,
		id,
		principal,
		JSON.stringify(line.owner),
		JSON.stringify(line.when),
		line.zone,
		line.catchUp,
		line.maxDelaySeconds,
		conversation,
		isEnded ? "ended" : "paused",
		isEnded ? null : (line.pausedBecause ?? "user"),
		line.failures,
		line.createdAt,
		now,
		seal(body),
	);
	yield* emit(work.context, "schedule.created", { conversation, subject: id });
}

/** Conversations may have other ids here. If one is missing, a job that was given it says so when it runs. */
function* hereOf(work: Import, id: string): Op<ConversationId> {
	const known = yield* knownConversation(work, id);
	if (known) return known.id;
	// A longer one is not of Keryx.
	return isConversationId(id) ? id : conversationId(derivedId(work.origin, id));
}

function* targetHere(work: Import, given: JobLine["deliver"]): Op<JobTarget | null> {
	if (!given) return null;
	const { target, shown } = given;
	const here: Target =
		target.kind === "conversation"
			? { kind: "conversation", conversation: yield* hereOf(work, target.conversation) }
			: (target as Target);
	return { target: here, shown, approved: false };
}
