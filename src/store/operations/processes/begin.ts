// The beginning of a process: recorded before anything starts, and what it has become since.
import type { ConversationId, PersonRole } from "../../../domain/index.ts";
import { seal } from "../../codec.ts";
import { type Context, get, type Op, run, sql } from "../../query.ts";
import type { Destination, Process, ProcessIdentity, ProcessNotify } from "../../types.ts";
import { emit } from "../events.ts";
import { NODE_LIVES, RUN_BY } from "../nodes.ts";
import { foundProcess, NEVER, type ProcessRow, processById, toProcess } from "./rows.ts";

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
	const before = yield* get(processById, args.id);
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
	return { kind: "begun", process: toProcess((yield* get(processById, args.id)) as ProcessRow) };
}

export function* processStarted(
	context: Context,
	args: { readonly id: string; readonly identity: ProcessIdentity },
): Op<void> {
	const row = yield* foundProcess(args.id);
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
	const row = yield* foundProcess(args.id);
	if ((yield* run(setBackground, args.id)) === 0) return false;
	yield* emit(context, "process.adopted", { conversation: row.conversation, subject: args.id });
	return true;
}
