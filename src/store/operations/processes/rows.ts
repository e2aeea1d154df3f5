// The rows of processes, and how they are read.
import type { ConversationId, PersonRole } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { unseal } from "../../codec.ts";
import { get, type Op, sql } from "../../query.ts";
import type { Destination, Process, ProcessIdentity, ProcessNotify, ProcessStatus } from "../../types.ts";

/** Not due before its end, but still found by the index. */
export const NEVER = 253_402_300_799_000;

export interface ProcessRow {
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

export const PROCESS_COLUMNS = `n, id, conversation, principal, turn, role, backend, status, background, pty, notify, check_ms, identity,
	exit_code, signal, cause, polled_to, checked_to, log_bytes, log_lost, destination, started_at, printed_at, ended_at,
	due_at, body, body_key`;
export const processById = sql<ProcessRow>(`SELECT ${PROCESS_COLUMNS} FROM processes WHERE id = ?`);

export function* foundProcess(id: string): Op<ProcessRow> {
	const row = yield* get(processById, id);
	if (!row) throw new KeryxError("store.not_found", `no process ${id}`, { field: "id" });
	return row;
}

export function toProcess(row: ProcessRow): Process {
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
