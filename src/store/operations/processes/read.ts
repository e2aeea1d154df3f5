// Finding processes, within a scope.
import type { ConversationId } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { all, get, type Op, sql } from "../../query.ts";
import type { OperatorScope, Process, Scope } from "../../types.ts";
import { samePrincipals } from "../people/principals.ts";
import { seesConversation } from "../people/scope.ts";
import { PROCESS_COLUMNS, type ProcessRow, processById, toProcess } from "./rows.ts";

const byPrefix = sql<ProcessRow>(
	`SELECT ${PROCESS_COLUMNS} FROM processes WHERE id >= ? AND id < ? ORDER BY id LIMIT 20`,
);
const byPrefixHere = sql<ProcessRow>(
	`SELECT ${PROCESS_COLUMNS} FROM processes WHERE id >= ? AND id < ? AND conversation = ? ORDER BY id LIMIT 20`,
);
const ofConversation = sql<ProcessRow>(
	`SELECT ${PROCESS_COLUMNS} FROM processes WHERE conversation = ?
	ORDER BY CASE WHEN due_at IS NULL THEN 1 ELSE 0 END, n DESC LIMIT ?`,
);
const ofPrincipal = sql<ProcessRow>(
	`SELECT ${PROCESS_COLUMNS} FROM processes WHERE conversation IN (SELECT id FROM conversations WHERE principal = ?)
	ORDER BY CASE WHEN due_at IS NULL THEN 1 ELSE 0 END, n DESC LIMIT ?`,
);
const ofAll = sql<ProcessRow>(
	`SELECT ${PROCESS_COLUMNS} FROM processes ORDER BY CASE WHEN due_at IS NULL THEN 1 ELSE 0 END, n DESC LIMIT ?`,
);
const unfinished = sql<ProcessRow>(
	`SELECT ${PROCESS_COLUMNS} FROM processes WHERE due_at IS NOT NULL ORDER BY n`,
);

/** By its id, or a unique prefix. Another conversation's process is not_found. */
export function* process(args: { readonly scope: ProcessScope; readonly id: string }): Op<Process> {
	const { scope, id } = args;
	const exact = yield* get(processById, id);
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
