// The nodes of a store on a server: the gateways that share it. Each has a row with a lease by the server's clock, which it renews, and
// holds a lock as long as its connection lives. The lock quickly shows a crash, the lease shows a hanging or disconnected node. Each node
// has an epoch, and its writer a row that all its transactions change: burying a node deletes that row, so the dead node can commit
// nothing any more.
import { setTimeout as pause } from "node:timers/promises";
import { KeryxError } from "../../errors.ts";
import type { ServerSettings } from "./address.ts";
import { Connection } from "./connection.ts";
import { toKeryxError } from "./faults.ts";
import { lockOf } from "./server.ts";

/** So long the row of a dead node is kept, for whoever looks. */
const KEPT_MS = 86_400_000;
const NOW_MS = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

export interface NodeSettings {
	readonly name: string;
	/** one: exclusive use. many: next to others of this kind. */
	readonly nodes: "one" | "many";
	/** How long a lease is valid. */
	readonly leaseMs: number;
}

export interface LiveNode {
	readonly epoch: number;
	readonly name: string;
	readonly started_at: number;
	readonly expired: boolean;
	/** Whether its connection holds its lock. */
	readonly held: boolean;
}

export async function join(
	settings: ServerSettings,
	{ name, nodes, leaseMs, startedAt }: NodeSettings & { readonly startedAt: number },
): Promise<{ readonly epoch: number; readonly connection: Connection }> {
	const connection = await openNode(settings, leaseMs);
	try {
		if (!(await lockSoon(connection, settings, nodes))) await takeFromHanging(connection, settings, nodes);
		await connection.exec("BEGIN");
		const { rows } = await connection.exec(
			`INSERT INTO settings (name, value) VALUES ('epoch', '1')
			ON CONFLICT (name) DO UPDATE SET value = (settings.value::bigint + 1)::text RETURNING value`,
		);
		const epoch = Number((rows[0] as { value: string }).value);
		// A node without a row is dead, too.
		await connection.exec(`DELETE FROM nodes WHERE ended_at < ${NOW_MS} - ${KEPT_MS}`);
		await connection.exec(`SELECT pg_advisory_lock(${nodeLock(settings)}, $1::int)`, [epoch]);
		await connection.exec(
			`INSERT INTO nodes (epoch, name, started_at, expires_at) VALUES ($1, $2, $3, ${NOW_MS} + $4)`,
			[epoch, name, startedAt, leaseMs],
		);
		await connection.exec("INSERT INTO writers (epoch, slot, last) VALUES ($1, 1, '')", [epoch]);
		await connection.exec("COMMIT");
		return { epoch, connection };
	} catch (error) {
		await connection.close();
		throw toKeryxError(error);
	}
}

/** After a lost connection: the same node, unless it was buried meanwhile. */
export async function rejoin(
	settings: ServerSettings,
	epoch: number,
	{ nodes, leaseMs }: NodeSettings,
): Promise<Connection> {
	const connection = await openNode(settings, leaseMs);
	try {
		await endBefore(connection, settings, epoch);
		if (!(await lockSoon(connection, settings, nodes))) throw nodeLost();
		await connection.exec(`SELECT pg_advisory_lock(${nodeLock(settings)}, $1::int)`, [epoch]);
		if (!(await renew(connection, epoch, leaseMs))) throw nodeLost();
		return connection;
	} catch (error) {
		await connection.close();
		throw error;
	}
}

/** The server may not have noticed that the previous connection is gone, and would keep its locks. */
async function endBefore(connection: Connection, settings: ServerSettings, epoch: number): Promise<void> {
	await connection.exec(
		`SELECT pg_terminate_backend(l.pid) FROM pg_locks l
		WHERE l.locktype = 'advisory' AND l.granted AND l.pid <> pg_backend_pid() AND l.objsubid = 2 AND l.objid::bigint = $1
			AND l.classid::bigint = (${nodeLock(settings)})::bigint & 4294967295
			AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
		[epoch],
	);
}

/** False: it was buried. */
export async function renew(connection: Connection, epoch: number, leaseMs: number): Promise<boolean> {
	const { count } = await connection.exec(
		`UPDATE nodes SET expires_at = ${NOW_MS} + $2 WHERE epoch = $1 AND ended_at IS NULL`,
		[epoch, leaseMs],
	);
	return count === 1;
}

/** So that nobody waits for the lease. */
export async function leave(connection: Connection, epoch: number): Promise<void> {
	await connection.exec(`UPDATE nodes SET ended_at = ${NOW_MS} WHERE epoch = $1 AND ended_at IS NULL`, [
		epoch,
	]);
}

/** The nodes that live, by index: how many have died does not matter. */
export async function seenNodes(
	connection: Connection,
	settings: ServerSettings,
): Promise<readonly LiveNode[]> {
	const { rows } = await connection.exec(
		`SELECT n.epoch, n.name, n.started_at, n.expires_at < ${NOW_MS} AS expired, EXISTS (SELECT 1 FROM pg_locks l
			WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2 AND l.objid::bigint = n.epoch
				AND l.classid::bigint = (${nodeLock(settings)})::bigint & 4294967295
				AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS held
		FROM nodes n WHERE n.ended_at IS NULL ORDER BY n.epoch`,
	);
	return rows as readonly LiveNode[];
}

/**
 * Ends what is left of these nodes on the server, and records their death. Deleting a writer's row waits for its pending commit: nothing
 * follows afterwards. `anyway`: even those with a valid lease.
 */
export async function bury(
	connection: Connection,
	epochs: readonly number[],
	{ anyway }: { readonly anyway: boolean },
): Promise<readonly number[]> {
	await connection.exec("BEGIN");
	try {
		const { rows } = await connection.exec(
			`UPDATE nodes SET ended_at = ${NOW_MS}
			WHERE epoch IN (SELECT e::bigint FROM json_array_elements_text($1::json) AS e) AND ended_at IS NULL
				AND ($2::int = 1 OR expires_at < ${NOW_MS}) RETURNING epoch`,
			[JSON.stringify(epochs), anyway ? 1 : 0],
		);
		const dead = (rows as readonly { epoch: number }[]).map(({ epoch }) => epoch);
		for (const epoch of dead) {
			await connection.exec(
				"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()",
				[writerName(epoch)],
			);
			await connection.exec("DELETE FROM writers WHERE epoch = $1", [epoch]);
		}
		await connection.exec("COMMIT");
		return dead;
	} catch (error) {
		await connection.exec("ROLLBACK").catch(() => connection.drop());
		throw error;
	}
}

/** An exclusive node holds the store's lock alone; others share it. A move of the whole store takes it, too. */
async function tryLock(
	connection: Connection,
	{ schema }: ServerSettings,
	nodes: NodeSettings["nodes"],
): Promise<boolean> {
	const take = nodes === "one" ? "pg_try_advisory_lock" : "pg_try_advisory_lock_shared";
	const { rows } = await connection.exec(`SELECT ${take}(${lockOf("own", schema)}) AS got`);
	return (rows[0] as { got: boolean }).got;
}

/** The server needs a moment to notice a killed node. */
async function lockSoon(
	connection: Connection,
	settings: ServerSettings,
	nodes: NodeSettings["nodes"],
): Promise<boolean> {
	for (let n = 0; n < TRIES; n++) {
		if (await tryLock(connection, settings, nodes)) return true;
		await pause(TRY_MS);
	}
	return false;
}

const TRIES = 10;
const TRY_MS = 100;

/** The lock is held. If none of its holders has renewed a lease, their connections are ended; otherwise they own the store. */
async function takeFromHanging(
	connection: Connection,
	settings: ServerSettings,
	nodes: NodeSettings["nodes"],
): Promise<void> {
	const live = await seenNodes(connection, settings);
	const owner = live.findLast(({ expired }) => !expired);
	if (owner || live.length === 0)
		throw new KeryxError(
			"store.owned",
			owner
				? `the store is in use by Keryx on ${owner.name}, which started at ${new Date(owner.started_at).toISOString()}`
				: "the store is in use by another Keryx",
		);
	await connection.exec(
		`SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid
		WHERE a.application_name = '${NODE_NAME}' AND a.pid <> pg_backend_pid() AND l.locktype = 'advisory' AND l.granted
			AND (l.classid::bigint, l.objid::bigint) IN (SELECT k.class, k.object & 4294967295 FROM (VALUES (${lockOf("own", settings.schema)})) AS k (class, object))`,
	);
	if (!(await lockSoon(connection, settings, nodes)))
		throw new KeryxError("store.owned", "the store is in use by another Keryx");
}

const NODE_NAME = "keryx node";

/** Shown in pg_stat_activity. */
export function writerName(epoch: number): string {
	return `keryx writer ${epoch}`;
}

export function nodeLost(): KeryxError {
	return new KeryxError("store.owner_lost", "another Keryx has taken over this store");
}

/** The first number of each node's lock; the second is its epoch. */
function nodeLock({ schema }: ServerSettings): string {
	return `hashtext('keryx nodes:${schema.replaceAll("'", "''")}')`;
}

function openNode(settings: ServerSettings, leaseMs: number): Promise<Connection> {
	return Connection.open(settings, { name: NODE_NAME, timeoutMs: leaseMs });
}
