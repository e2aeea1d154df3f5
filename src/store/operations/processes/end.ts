// The end of a process: recorded exactly once, with the one inbox event that tells the conversation. Later it is forgotten, with its log.
import type { Speaker } from "../../../domain/index.ts";
import { all, type Context, get, type Op, run, sql } from "../../query.ts";
import type { Destination, OperatorScope, ProcessEnd } from "../../types.ts";
import { emit } from "../events.ts";
import { type Woken, wake } from "../inbox/wake.ts";
import { foundProcess, type ProcessRow } from "./rows.ts";

const setEnded = sql(
	`UPDATE processes SET status = ?, exit_code = ?, signal = ?, cause = ?, log_bytes = ?, log_lost = ?, ended_at = ?, due_at = NULL
	WHERE id = ? AND due_at IS NOT NULL`,
);
const ended = sql<{ id: string }>(
	"SELECT id FROM processes WHERE due_at IS NULL AND ended_at < ? ORDER BY ended_at LIMIT ?",
);
const deleteProcess = sql("DELETE FROM processes WHERE id = ? AND due_at IS NULL");

export interface EndProcessArgs {
	readonly id: string;
	readonly end: ProcessEnd;
	/** When it ended, if known. */
	readonly at: number;
	readonly logBytes: number;
	readonly logLost: number;
	/** What the agent is told, if the conversation is told; null: it knows already. */
	readonly note: string | null;
}

/** The end, and the one event that tells the conversation. Null: already recorded. */
export function* endProcess(
	context: Context,
	args: EndProcessArgs,
): Op<{ readonly woken: Woken | null } | null> {
	const row = yield* foundProcess(args.id);
	const { status, exitCode, signal, cause } = args.end;
	const at = Math.max(row.started_at, args.at);
	const changed = yield* run(
		setEnded,
		status,
		exitCode,
		signal,
		cause,
		args.logBytes,
		args.logLost,
		at,
		args.id,
	);
	if (changed === 0) return null;
	yield* emit(
		context,
		"process.ended",
		{ conversation: row.conversation, subject: args.id },
		{ status, ...(exitCode !== null && { exitCode }), ...(signal !== null && { signal }) },
	);
	const { note } = args;
	return { woken: note !== null && tells(row, args.end) ? yield* complete(context, row, note) : null };
}

/** Whether the conversation is told about its end: a foreground command already has its result. */
function tells({ background, notify }: ProcessRow, { status, exitCode }: ProcessEnd): boolean {
	if (background === 0 || notify === "none") return false;
	return notify !== "error" || status !== "exited" || exitCode !== 0;
}

function* complete(context: Context, row: ProcessRow, note: string): Op<Woken | null> {
	return yield* wake(context, {
		kind: "process",
		about: row.id,
		conversation: row.conversation,
		principal: row.principal,
		content: note,
		destination: JSON.parse(row.destination) as Destination,
		speakers: yield* speakersOf(row.turn),
	});
}

function* speakersOf(turn: string | null): Op<readonly Speaker[]> {
	const row = turn === null ? undefined : yield* get(speakersOfTurn, turn);
	return row ? (JSON.parse(row.speakers) as Speaker[]) : [];
}
const speakersOfTurn = sql<{ speakers: string }>("SELECT speakers FROM turns WHERE id = ?");

/** Ended ones that may be deleted, with their logs. */
export function* oldProcesses(args: {
	readonly scope: OperatorScope;
	readonly before: number;
	readonly limit: number;
}): Op<readonly string[]> {
	return (yield* all(ended, args.before, args.limit)).map(({ id }) => id);
}

export function* forgetProcess(_: Context, args: { readonly id: string }): Op<boolean> {
	return (yield* run(deleteProcess, args.id)) > 0;
}
