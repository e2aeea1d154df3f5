// Background processes in the store: recorded before anything starts, ended exactly once, with the one inbox event that tells the
// conversation. Output is in the logs; the store has only the cursors of what was reported.
import type { ConversationId, PersonRole, Speaker } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { seal, unseal } from "../../codec.ts";
import { all, type Context, get, type Op, run, sql } from "../../query.ts";
import type {
	Destination,
	NewDelivery,
	OperatorScope,
	Process,
	ProcessEnd,
	ProcessIdentity,
	ProcessNotify,
	ProcessStatus,
	Scope,
} from "../../types.ts";
import type { Woken } from "../confirmations/ending.ts";
import { addDeliveries } from "../deliveries/deliveries.ts";
import { emit } from "../events.ts";
import { NODE_LIVES, RUN_BY } from "../nodes.ts";
import { samePrincipals } from "../people/principals.ts";
import { seesConversation } from "../people/scope.ts";

/** Not due before its end, but still found by the index. */
const NEVER = 253_402_300_799_000;

interface ProcessRow {
	readonly n: number;
	readonly id: string;
	readonly conversation: ConversationId;
	readonly principal: string | null;
	readonly turn: string | null;
	readonly role: PersonRole | null;
	readonly backend: string;
	readonly status: ProcessStatus;
	readonly background: number;
	readonly pty: number;
	readonly notify: ProcessNotify;
	readonly check_ms: number | null;
	readonly identity: string | null;
	readonly exit_code: number | null;
	readonly signal: string | null;
	readonly cause: string | null;
	readonly polled_to: number;
	readonly checked_to: number;
	readonly log_bytes: number | null;
	readonly log_lost: number | null;
	readonly destination: string;
	readonly started_at: number;
	readonly printed_at: number;
	readonly ended_at: number | null;
	readonly due_at: number | null;
	readonly body: string;
	readonly body_key: number | null;
}

const COLUMNS = `n, id, conversation, principal, turn, role, backend, status, background, pty, notify, check_ms, identity, exit_code, signal,
	cause, polled_to, checked_to, log_bytes, log_lost, destination, started_at, printed_at, ended_at, due_at, body, body_key`;
const byId = sql<ProcessRow>(`SELECT ${COLUMNS} FROM processes WHERE id = ?`);
const byPrefix = sql<ProcessRow>(
	`SELECT ${COLUMNS} FROM processes WHERE id >= ? AND id < ? ORDER BY id LIMIT 20`,
);
const byPrefixHere = sql<ProcessRow>(
	`SELECT ${COLUMNS} FROM processes WHERE id >= ? AND id < ? AND conversation = ? ORDER BY id LIMIT 20`,
);
const ofConversation = sql<ProcessRow>(
	`SELECT ${COLUMNS} FROM processes WHERE conversation = ?
	ORDER BY CASE WHEN due_at IS NULL THEN 1 ELSE 0 END, n DESC LIMIT ?`,
);
const ofPrincipal = sql<ProcessRow>(
	`SELECT ${COLUMNS} FROM processes WHERE conversation IN (SELECT id FROM conversations WHERE principal = ?)
	ORDER BY CASE WHEN due_at IS NULL THEN 1 ELSE 0 END, n DESC LIMIT ?`,
);
const ofAll = sql<ProcessRow>(
	`SELECT ${COLUMNS} FROM processes ORDER BY CASE WHEN due_at IS NULL THEN 1 ELSE 0 END, n DESC LIMIT ?`,
);
const unfinished = sql<ProcessRow>(`SELECT ${COLUMNS} FROM processes WHERE due_at IS NOT NULL ORDER BY n`);
/** Includes those whose last check is in the future: the clock was set back, and they would be silent until it catches up. */
const dueChecks = sql<ProcessRow>(
	`SELECT ${COLUMNS} FROM processes WHERE due_at IS NOT NULL AND (due_at <= ? OR due_at - check_ms > ?) ORDER BY due_at LIMIT ?`,
);
const runningInAll = sql<{ n: number }>("SELECT count(*) AS n FROM processes WHERE due_at IS NOT NULL");
const runningHere = sql<{ n: number }>(
	"SELECT count(*) AS n FROM processes WHERE due_at IS NOT NULL AND conversation = ?",
);
/** Among several nodes: what dead ones left does not count. It would do so for ever if they never come back. */
const BY_LIVING = `EXISTS (SELECT 1 FROM nodes n WHERE ${RUN_BY} AND ${NODE_LIVES})`;
const runningOfLiving = sql<{ n: number }>(
	`SELECT count(*) AS n FROM processes p WHERE p.due_at IS NOT NULL AND ${BY_LIVING}`,
);
const runningOfLivingHere = sql<{ n: number }>(
	`SELECT count(*) AS n FROM processes p WHERE p.due_at IS NOT NULL AND p.conversation = ? AND ${BY_LIVING}`,
);
const insertProcess = sql(
	`INSERT INTO processes (id, conversation, principal, turn, role, backend, status, background, pty, notify, check_ms, destination,
		started_at, printed_at, body, due_at)
	VALUES (?, ?, ?, ?, ?, ?, 'starting', ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);
const setRunning = sql(
	"UPDATE processes SET status = 'running', identity = ? WHERE id = ? AND status = 'starting'",
);
const setBackground = sql(
	"UPDATE processes SET background = 1, notify = 'result' WHERE id = ? AND due_at IS NOT NULL AND background = 0",
);
const setEnded = sql(
	`UPDATE processes SET status = ?, exit_code = ?, signal = ?, cause = ?, log_bytes = ?, log_lost = ?, ended_at = ?, due_at = NULL
	WHERE id = ? AND due_at IS NOT NULL`,
);
const setPolled = sql("UPDATE processes SET polled_to = ? WHERE id = ? AND polled_to < ?");
const setChecked = sql(
	"UPDATE processes SET checked_to = ?, printed_at = ?, due_at = ? WHERE id = ? AND due_at IS NOT NULL",
);
const setPrinted = sql(
	"UPDATE processes SET printed_at = ? WHERE id = ? AND due_at IS NOT NULL AND printed_at < ?",
);
const insertInbox = sql<{ id: number }>(
	`INSERT INTO inbox (kind, platform, account, chat, platform_message, conversation, principal, accepted_at, body, due_at, node)
	VALUES ('process', 'keryx', '', ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
);
const sourceOf = sql<{ source_body: string; body_key: number | null }>(
	"SELECT source_body, body_key FROM conversations WHERE id = ?",
);
const ended = sql<{ id: string }>(
	"SELECT id FROM processes WHERE due_at IS NULL AND ended_at < ? ORDER BY ended_at LIMIT ?",
);
const deleteProcess = sql("DELETE FROM processes WHERE id = ? AND due_at IS NULL");

export interface BeginProcessArgs {
	readonly id: string;
	readonly conversation: ConversationId;
	readonly principal: string | null;
	readonly turn: string | null;
	/** The role of the turn that starts it: lower roles may only look at it. Null: counts as the owner's. */
	readonly role: PersonRole | null;
	readonly backend: string;
	readonly command: string;
	readonly cwd: string;
	/** Its wall; absent: none. */
	readonly wall?: string;
	readonly background: boolean;
	readonly pty: boolean;
	readonly notify: ProcessNotify;
	/** How often progress is reported to the chat; absent: never. */
	readonly checkMs?: number;
	readonly destination: Destination;
	readonly limits: { readonly inAll: number; readonly perConversation: number };
	/** Several nodes use the store: only programs of living ones count. */
	readonly isShared?: boolean;
}

export type BegunProcess =
	| { readonly kind: "begun"; readonly process: Process }
	| { readonly kind: "limit"; readonly of: "all" | "conversation"; readonly limit: number };

/** Before anything starts: whatever a crash leaves behind is known by its id. Repeating it has no effect. */
export function* beginProcess(context: Context, args: BeginProcessArgs): Op<BegunProcess> {
	const { limits, conversation } = args;
	const before = yield* get(byId, args.id);
	if (before?.conversation === conversation && before.turn === args.turn && before.status === "starting")
		return { kind: "begun", process: toProcess(before) };
	const [inAll, here] = args.isShared ? [runningOfLiving, runningOfLivingHere] : [runningInAll, runningHere];
	if (((yield* get(inAll))?.n ?? 0) >= limits.inAll) return { kind: "limit", of: "all", limit: limits.inAll };
	if (((yield* get(here, conversation))?.n ?? 0) >= limits.perConversation)
		return { kind: "limit", of: "conversation", limit: limits.perConversation };
	yield* run(
		insertProcess,
		args.id,
		conversation,
		args.principal,
		args.turn,
		args.role,
		args.backend,
		args.background ? 1 : 0,
		args.pty ? 1 : 0,
		args.notify,
		args.checkMs ?? null,
		JSON.stringify(args.destination),
		context.now,
		context.now,
		seal({ command: args.command, cwd: args.cwd, ...(args.wall !== undefined && { wall: args.wall }) }),
		args.checkMs === undefined ? NEVER : context.now + args.checkMs,
	);
	yield* emit(context, "process.begun", { conversation, turn: args.turn, subject: args.id });
	return { kind: "begun", process: toProcess((yield* get(byId, args.id)) as ProcessRow) };
}

export function* processStarted(
	context: Context,
	args: { readonly id: string; readonly identity: ProcessIdentity },
): Op<void> {
	const row = yield* found(args.id);
	if ((yield* run(setRunning, JSON.stringify(args.identity), args.id)) === 0) return;
	yield* emit(
		context,
		"process.started",
		{ conversation: row.conversation, subject: args.id },
		{ pid: args.identity.pid },
	);
}

/** Nobody waits for it any more: from now on it runs in the background, and its end is reported. False: nothing to do. */
export function* adoptProcess(context: Context, args: { readonly id: string }): Op<boolean> {
	const row = yield* found(args.id);
	if ((yield* run(setBackground, args.id)) === 0) return false;
	yield* emit(context, "process.adopted", { conversation: row.conversation, subject: args.id });
	return true;
}

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
	const row = yield* found(args.id);
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
	const source = yield* get(sourceOf, row.conversation);
	if (!source) return null;
	const inserted = yield* get(
		insertInbox,
		row.conversation,
		`process:${row.id}`,
		row.conversation,
		row.principal,
		context.now,
		seal({
			source: unseal(source.source_body, source.body_key),
			content: note,
			destination: JSON.parse(row.destination) as Destination,
			speakers: yield* speakersOf(row.turn),
		}),
		context.now,
		context.epoch,
	);
	const { id } = inserted as { id: number };
	yield* emit(
		context,
		"inbound.accepted",
		{ conversation: row.conversation, subject: id },
		{ kind: "process" },
	);
	return { conversation: row.conversation, inbox: id };
}

function* speakersOf(turn: string | null): Op<readonly Speaker[]> {
	const row = turn === null ? undefined : yield* get(speakersOfTurn, turn);
	return row ? (JSON.parse(row.speakers) as Speaker[]) : [];
}
const speakersOfTurn = sql<{ speakers: string }>("SELECT speakers FROM turns WHERE id = ?");

/** Output up to here was passed to the conversation. Never goes back. */
export function* processPolled(_: Context, args: { readonly id: string; readonly to: number }): Op<void> {
	yield* run(setPolled, args.to, args.id, args.to);
}

/** It printed something recently; this can keep a session open. */
export function* processPrinted(_: Context, args: { readonly id: string; readonly at: number }): Op<void> {
	yield* run(setPrinted, args.at, args.id, args.at);
}

/** A progress report: notice, cursor and next time are one commit, so that nothing is reported twice. */
export function* processChecked(
	context: Context,
	args: {
		readonly id: string;
		readonly to: number;
		/** Absent: nothing new. */
		readonly printedAt?: number;
		readonly deliveries: readonly NewDelivery[];
	},
): Op<void> {
	const row = yield* found(args.id);
	if (row.check_ms === null || row.due_at === null) return;
	const printedAt = Math.max(row.printed_at, args.printedAt ?? 0);
	yield* run(setChecked, args.to, printedAt, context.now + row.check_ms, args.id);
	yield* addDeliveries(context, row.conversation, null, args.deliveries);
}

/** By its id, or a unique prefix. Another conversation's process is not_found. */
export function* process(args: { readonly scope: ProcessScope; readonly id: string }): Op<Process> {
	const { scope, id } = args;
	const exact = yield* get(byId, id);
	const rows = exact ? [exact] : yield* beginningWith(id, scope);
	const own: ProcessRow[] = [];
	for (const row of rows) if (yield* isWithin(scope, row)) own.push(row);
	const [only] = own;
	if (only && own.length === 1) return toProcess(only);
	if (own.length > 1)
		throw new KeryxError("argument.invalid", `${own.length} processes start with ${id}`, {
			field: "id",
			hint: "give more of the id",
		});
	throw new KeryxError("store.not_found", `no process ${id}`, { field: "id" });
}

/** At least four characters, not counting the common prefix, which may be left out. */
function* beginningWith(id: string, scope: ProcessScope): Op<readonly ProcessRow[]> {
	const own = id.startsWith(PREFIX) ? id.slice(PREFIX.length) : id;
	if (own.length < SHORTEST_PREFIX) return [];
	const from = `${PREFIX}${own}`;
	// Ids continue in hexadecimal digits: all of them sort before this, in every collation.
	const to = `${from}g`;
	return scope.kind === "conversation"
		? yield* all(byPrefixHere, from, to, scope.conversation)
		: yield* all(byPrefix, from, to);
}

function* isWithin(scope: ProcessScope, { conversation }: ProcessRow): Op<boolean> {
	if (scope.kind === "operator") return true;
	if (scope.kind === "conversation") return conversation === scope.conversation;
	return yield* seesConversation(scope, conversation);
}

const PREFIX = "proc_";
const SHORTEST_PREFIX = 4;

/** Everything, what a person sees, or one conversation. */
export type ProcessScope = Scope | { readonly kind: "conversation"; readonly conversation: ConversationId };

/** Running ones first, then the newest. */
export function* processes(args: {
	readonly scope: ProcessScope;
	readonly limit: number;
}): Op<readonly Process[]> {
	const { scope, limit } = args;
	if (scope.kind === "operator") return (yield* all(ofAll, limit)).map(toProcess);
	if (scope.kind === "conversation")
		return (yield* all(ofConversation, scope.conversation, limit)).map(toProcess);
	const rows: ProcessRow[] = [];
	for (const principal of yield* samePrincipals(scope.principal))
		for (const row of yield* all(ofPrincipal, principal, limit))
			if (yield* isWithin(scope, row)) rows.push(row);
	return rows
		.sort((a, b) => Number(a.due_at === null) - Number(b.due_at === null) || b.n - a.n)
		.slice(0, limit)
		.map(toProcess);
}

/** All processes without an end, oldest first. */
export function* unfinishedProcesses(_: { readonly scope: OperatorScope }): Op<readonly Process[]> {
	return (yield* all(unfinished)).map(toProcess);
}

/** Processes whose progress report is due by then, most urgent first. */
export function* dueProcessChecks(args: {
	readonly scope: OperatorScope;
	readonly now: number;
	readonly limit: number;
}): Op<readonly Process[]> {
	return (yield* all(dueChecks, args.now, args.now, args.limit)).map(toProcess);
}

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

function* found(id: string): Op<ProcessRow> {
	const row = yield* get(byId, id);
	if (!row) throw new KeryxError("store.not_found", `no process ${id}`, { field: "id" });
	return row;
}

function toProcess(row: ProcessRow): Process {
	const { command, cwd, wall } = unseal<{ command: string; cwd: string; wall?: string }>(
		row.body,
		row.body_key,
	);
	return {
		id: row.id,
		conversation: row.conversation,
		turn: row.turn,
		role: row.role,
		backend: row.backend,
		command,
		cwd,
		wall: wall ?? null,
		status: row.status,
		background: row.background === 1,
		pty: row.pty === 1,
		notify: row.notify,
		checkMs: row.check_ms,
		identity: row.identity === null ? null : (JSON.parse(row.identity) as ProcessIdentity),
		exitCode: row.exit_code,
		signal: row.signal,
		cause: row.cause,
		polledTo: row.polled_to,
		checkedTo: row.checked_to,
		logBytes: row.log_bytes,
		logLost: row.log_lost,
		destination: JSON.parse(row.destination) as Destination,
		nextCheckAt: row.due_at === NEVER ? null : row.due_at,
		startedAt: row.started_at,
		endedAt: row.ended_at,
	};
}
