// Current and former owners of the store. The process with the proof records an owner's death in its row: only work of dead owners is
// taken over.
import type { ConversationId } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import { all, type Context, get, type Op, run, sql } from "../query.ts";
import type { OperatorScope } from "../types.ts";

const endOthers = sql("UPDATE nodes SET ended_at = ? WHERE ended_at IS NULL");
const forget = sql("DELETE FROM nodes WHERE ended_at < ?");
const insert = sql("INSERT INTO nodes (epoch, name, started_at) VALUES (?, ?, ?)");

const moving = sql<{ value: string }>("SELECT value FROM settings WHERE name = 'moving'");

/** The target of an unfinished move has only some of its rows. */
export function* assertMoved(): Op<void> {
	if (yield* get(moving))
		throw new KeryxError("store.moving", "a store is being moved here, and the move is not finished");
}

/** Condition on a node's row: alive. */
export const NODE_LIVES = "n.ended_at IS NULL";

const alive = sql<{ n: number }>(`SELECT count(*) AS n FROM nodes n WHERE n.epoch = ? AND ${NODE_LIVES}`);

export function* isAlive(epoch: number): Op<boolean> {
	return ((yield* get(alive, epoch))?.n ?? 0) > 0;
}

/** How long a dead node's row is kept, for inspection: a node without a row is dead, too. */
const KEPT_MS = 86_400_000;

/** For an engine whose caller holds the store's only lock: every earlier owner is dead. */
export function* beginNode(node: {
	readonly epoch: number;
	readonly name: string;
	readonly now: number;
}): Op<void> {
	yield* run(forget, node.now - KEPT_MS);
	yield* run(endOthers, node.now);
	yield* run(insert, node.epoch, node.name, node.now);
}

const adopt = sql<{ id: number }>(
	`UPDATE inbox SET node = ? WHERE due_at IS NOT NULL
		AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.epoch = inbox.node AND ${NODE_LIVES}) RETURNING id`,
);

/** Takes over what dead nodes had accepted but not started. */
export function* adoptItems(context: Context): Op<{ adopted: number }> {
	return { adopted: (yield* all(adopt, context.epoch)).length };
}

const holder = sql<{ node: number; lives: number }>(
	`SELECT d.node, (SELECT count(*) FROM nodes n WHERE n.epoch = d.node AND ${NODE_LIVES}) AS lives FROM duties d WHERE d.name = ?`,
);
const hold = sql(
	"INSERT INTO duties (name, node) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET node = excluded.node",
);
const release = sql("DELETE FROM duties WHERE name = ? AND node = ?");

/** Whether the duty is this node's now. Not while a living node has it. */
export function* takeDuty(context: Context, args: { readonly name: string }): Op<{ holds: boolean }> {
	const held = yield* get(holder, args.name);
	if (held?.node === context.epoch) return { holds: true };
	if (held && held.lives > 0) return { holds: false };
	yield* run(hold, args.name, context.epoch);
	return { holds: true };
}

export function* leaveDuty(context: Context, args: { readonly name: string }): Op<void> {
	yield* run(release, args.name, context.epoch);
}

export interface StoreNode {
	readonly epoch: number;
	readonly name: string;
	readonly startedAt: number;
	/** By the server's clock; null if a file lock is the proof. */
	readonly expiresAt: number | null;
	readonly turns: number;
	readonly duties: readonly string[];
}

const living = sql<{
	epoch: number;
	name: string;
	started_at: number;
	expires_at: number | null;
	turns: number;
}>(
	`SELECT n.epoch, n.name, n.started_at, n.expires_at,
		(SELECT count(*) FROM turns t WHERE t.due_at IS NOT NULL AND t.state = 'running' AND t.epoch = n.epoch) AS turns
	FROM nodes n WHERE ${NODE_LIVES} ORDER BY n.epoch`,
);
const dutiesOf = sql<{ name: string }>("SELECT name FROM duties WHERE node = ? ORDER BY name");

/** The living nodes, oldest first. */
export function* nodes(_: { readonly scope: OperatorScope }): Op<readonly StoreNode[]> {
	const found: StoreNode[] = [];
	for (const row of yield* all(living))
		found.push({
			epoch: row.epoch,
			name: row.name,
			startedAt: row.started_at,
			expiresAt: row.expires_at,
			turns: row.turns,
			duties: (yield* all(dutiesOf, row.epoch)).map(({ name }) => name),
		});
	return found;
}

/** Condition on a process and a node: it runs on the node's own machine, or on another one that the node uses. */
export const RUN_BY =
	"(p.backend = n.name OR substr(p.backend, length(p.backend) - length(n.name)) = '@' || n.name)";

const programsElsewhere = sql<{ name: string }>(
	`SELECT n.name FROM processes p JOIN nodes n ON ${RUN_BY}
	WHERE p.conversation = ? AND p.due_at IS NOT NULL AND p.background = 1 AND n.epoch <> ? AND ${NODE_LIVES} LIMIT 1`,
);
const programsHere = sql<{ conversation: ConversationId }>(
	`SELECT DISTINCT p.conversation FROM processes p JOIN nodes n ON ${RUN_BY}
	WHERE p.due_at IS NOT NULL AND p.background = 1 AND n.epoch = ?`,
);

/** The name of another living node that runs programs of a conversation, which therefore stays there; null: none. */
export function* nodeWithPrograms(args: {
	readonly scope: OperatorScope;
	readonly conversation: ConversationId;
	/** Not this one. */
	readonly node: number;
}): Op<string | null> {
	return (yield* get(programsElsewhere, args.conversation, args.node))?.name ?? null;
}

/** Conversations whose programs a node runs. */
export function* conversationsWithPrograms(args: {
	readonly scope: OperatorScope;
	readonly node: number;
}): Op<readonly ConversationId[]> {
	return (yield* all(programsHere, args.node)).map(({ conversation }) => conversation);
}

const keysAgreed = sql<{ value: string }>("SELECT value FROM settings WHERE name = 'keys'");
const writeKeys = sql("INSERT INTO settings (name, value) VALUES ('keys', ?)");

/** Gateways on one store must have the same keys: `digest` is this one's. */
export function* agreeOnKeys(_: Context, args: { readonly digest: string }): Op<void> {
	const agreed = yield* get(keysAgreed);
	if (!agreed) yield* run(writeKeys, args.digest);
	else if (agreed.value !== args.digest)
		throw new KeryxError(
			"store.keys",
			"the keys in this Keryx's home are not those of the other gateways on its store",
		);
}
