// Results of runs, from the rows that record them: the disposition of the inbox event, and the states of the deliveries.
import type { ConversationId } from "../../../domain/index.ts";
import { contentText } from "../../../domain/index.ts";
import { all, get, type Op, sql } from "../../query.ts";
import type { DeliveryState, Disposition, Job, JobRun, OperatorScope } from "../../types.ts";
import { partId } from "../deliveries/settling.ts";
import { toDisposition } from "../inbox/inbox.ts";
import { runId } from "../row-ids.ts";
import { MESSAGE_COLUMNS, type MessageRow, toNewMessage } from "../transcript/rows.ts";
import { foundJob, type JobRow, type JobScope, jobRow, toJob } from "./rows.ts";
import type { RunRow } from "./runs.ts";

const unsettled = sql<RunRow>(
	`SELECT * FROM schedule_runs WHERE settled_at IS NULL AND begun_at >= ?
		AND (begun_at > ? OR job > ? OR (job = ? AND scheduled_at > ?))
	ORDER BY begun_at, job, scheduled_at LIMIT ?`,
);
const runsOf = sql<RunRow>(
	"SELECT * FROM schedule_runs WHERE job = ? AND scheduled_at < ? ORDER BY scheduled_at DESC LIMIT ?",
);
const inboxOf = sql<InboxFacts>(
	"SELECT conversation, turn, disposition, disposition_detail FROM inbox WHERE id = ?",
);
const lastSaid = sql<MessageRow>(
	`SELECT ${MESSAGE_COLUMNS} FROM messages m WHERE m.turn = ? AND m.role = 'assistant' ORDER BY m.turn_index DESC LIMIT 1`,
);
const partBy = sql<DeliveryFacts>("SELECT state, reason, due_at FROM deliveries WHERE id = ?");
/** An output file exists as soon as its send is committed. */
const WRITTEN: DeliveryFacts = { state: "sent", reason: null, due_at: null };
const fileOf = sql<{ file: string | null }>("SELECT file FROM sends WHERE id = ?");
const repliesOf = sql<DeliveryFacts>(
	"SELECT state, reason, due_at FROM deliveries WHERE turn = ? AND kind = 'reply' ORDER BY n",
);
const jobOfTurn = sql<{ job: string }>(
	"SELECT r.job FROM inbox i JOIN schedule_runs r ON r.inbox = i.id WHERE i.turn = ? AND i.kind = 'schedule' LIMIT 1",
);

interface InboxFacts {
	readonly conversation: ConversationId | null;
	readonly turn: string | null;
	readonly disposition: string | null;
	readonly disposition_detail: string | null;
}

interface DeliveryFacts {
	readonly state: DeliveryState;
	readonly reason: string | null;
	readonly due_at: number | null;
}

/** A run whose own end, or delivery, is not recorded yet. */
export interface RunWork {
	readonly job: Job;
	readonly run: JobRun;
	/** The disposition of its inbox event; null: none yet. */
	readonly disposition: Disposition | null;
	/** The agent's last text in it, and whether it asks a human first. */
	readonly said: string | null;
	readonly asks: boolean;
}

export function* unsettledRuns(args: {
	readonly scope: OperatorScope;
	/** The last one of the previous page. */
	readonly after?: Pick<JobRun, "begunAt" | "job" | "scheduledAt">;
	readonly limit: number;
}): Op<readonly RunWork[]> {
	const work: RunWork[] = [];
	const { begunAt = 0, job = "", scheduledAt = 0 } = args.after ?? {};
	for (const row of yield* all(unsettled, begunAt, begunAt, job, job, scheduledAt, args.limit)) {
		const found = yield* jobRow(row.job);
		if (!found) continue;
		const inbox = row.inbox === null ? undefined : yield* get(inboxOf, row.inbox);
		const said = row.state === "open" && inbox?.turn ? yield* lastWords(inbox) : null;
		work.push({
			job: toJob(found),
			run: yield* toRun(row),
			disposition: inbox ? toDisposition(inbox) : null,
			said: said?.text ?? null,
			asks: said?.asks ?? false,
		});
	}
	return work;
}

function* lastWords({ turn, conversation }: InboxFacts): Op<{ text: string; asks: boolean } | null> {
	const row = yield* get(lastSaid, turn as string);
	if (!row) return null;
	const message = yield* toNewMessage(row, conversation ?? "");
	return { text: contentText(message.content), asks: message.finishReason === "confirmation" };
}

/** The history of a job, newest first. */
export function* runs(args: {
	readonly scope: JobScope;
	readonly job: string;
	readonly before?: number;
	readonly limit: number;
}): Op<readonly JobRun[]> {
	yield* foundJob(args.scope, args.job);
	const found: JobRun[] = [];
	for (const row of yield* all(runsOf, args.job, args.before ?? Number.MAX_SAFE_INTEGER, args.limit))
		found.push(yield* toRun(row));
	return found;
}

/** The job a turn runs; null: none. */
export function* jobOf(turn: string): Op<Job | null> {
	const row = yield* get(jobOfTurn, turn);
	const found: JobRow | undefined = row && (yield* jobRow(row.job));
	return found ? toJob(found) : null;
}

function* toRun(row: RunRow): Op<JobRun> {
	const inbox = row.inbox === null ? undefined : yield* get(inboxOf, row.inbox);
	const turn = inbox?.turn ?? null;
	const sent = yield* deliveriesOf(row, turn);
	return {
		job: row.job,
		scheduledAt: row.scheduled_at,
		begunBy: row.begun_by,
		state: row.state,
		reason: row.reason,
		inbox: row.inbox,
		turn,
		via: row.delivery,
		...(row.delivery === "refused"
			? { delivery: "dead" as const, deliveryReason: row.delivery_reason }
			: sumUp(sent)),
		begunAt: row.begun_at,
		endedAt: row.ended_at,
	};
}

function* deliveriesOf(
	{ job, scheduled_at: at, delivery, sent_as }: RunRow,
	turn: string | null,
): Op<DeliveryFacts[]> {
	if (delivery === "target") return yield* partsOf(runId({ job, at }));
	if (delivery === "by_agent") {
		const parts: DeliveryFacts[] = [];
		for (const id of JSON.parse(sent_as ?? "[]") as string[]) parts.push(...(yield* partsOf(id)));
		return parts;
	}
	return delivery === "chat" && turn !== null ? yield* all(repliesOf, turn) : [];
}

function* partsOf(send: string): Op<DeliveryFacts[]> {
	if ((yield* get(fileOf, send))?.file) return [WRITTEN];
	const parts: DeliveryFacts[] = [];
	for (let part = 1; ; part++) {
		const found = yield* get(partBy, partId(send, part));
		if (!found) return parts;
		parts.push(found);
	}
}

/** The worst state of its parts. */
function sumUp(parts: readonly DeliveryFacts[]): Pick<JobRun, "delivery" | "deliveryReason"> {
	const worst = (state: DeliveryState) => parts.find((part) => part.state === state && part.due_at === null);
	const dead = worst("dead") ?? worst("unknown");
	if (dead) return { delivery: dead.state as "dead" | "unknown", deliveryReason: dead.reason };
	if (parts.length === 0) return { delivery: null, deliveryReason: null };
	const all = parts.every(({ state }) => state === "sent");
	return { delivery: all ? "sent" : "waiting", deliveryReason: null };
}
