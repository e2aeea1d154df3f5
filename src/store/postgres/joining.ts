// How a gateway becomes a node of a store on a server, and remains one after a lost connection: takes the store's lock, its own lock and its
// name.
import { hostname } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { KeryxError } from "../../errors.ts";
import type { ServerSettings } from "./address.ts";
import { Connection } from "./connection.ts";
import { toKeryxError } from "./faults.ts";
import { freeName, nameTaken } from "./names.ts";
import { bury, NOW_MS, type NodeSettings, nodeLock, nodeLost, OURS, renew, seenNodes } from "./nodes.ts";
import { Sealing } from "./sealing.ts";
import { lockOf } from "./server.ts";

/** How long the row of a dead node is kept, for diagnosis. */
const KEPT_MS = 86_400_000;
const TELLING_KEY = "telling_key";

export async function join(
	settings: ServerSettings,
	{ name, nodes, leaseMs, startedAt }: NodeSettings & { readonly startedAt: number },
): Promise<{ readonly epoch: number; readonly connection: Connection; readonly key: string }> {
	const connection = await openNode(settings, leaseMs);
	try {
		if (!(await lockSoon(connection, settings, nodes))) await takeFromHanging(connection, settings, nodes);
		if (name !== undefined) await freeName(connection, settings, { name, nodes });
		await connection.exec("BEGIN");
		// Locks that row: nodes join one after the other.
		const { rows } = await connection.exec(
			`INSERT INTO settings (name, value) VALUES ('epoch', '1')
			ON CONFLICT (name) DO UPDATE SET value = (settings.value::bigint + 1)::text RETURNING value`,
		);
		const epoch = Number((rows[0] as { value: string }).value);
		// A node without a row is dead, too.
		await connection.exec(`DELETE FROM nodes WHERE ended_at < ${NOW_MS} - ${KEPT_MS}`);
		await connection.exec(`SELECT pg_advisory_lock(${nodeLock(settings)}, $1::int)`, [epoch]);
		const called = name ?? `${hostname()} (process ${process.pid}, ${epoch})`;
		const { count } = await connection.exec(
			`INSERT INTO nodes (epoch, name, started_at, expires_at) SELECT $1::bigint, $2, $3::bigint, ${NOW_MS} + $4::bigint
			WHERE NOT EXISTS (SELECT 1 FROM nodes WHERE name = $2 AND ended_at IS NULL)`,
			[epoch, called, startedAt, leaseMs],
		);
		if (count === 0) throw nameTaken(called);
		await connection.exec("INSERT INTO writers (epoch, slot, last) VALUES ($1, 1, '')", [epoch]);
		const key = await tellingKey(connection);
		await connection.exec("COMMIT");
		return { epoch, connection, key };
	} catch (error) {
		await connection.close();
		throw toKeryxError(error);
	}
}

/** The first node makes it. */
async function tellingKey(connection: Connection): Promise<string> {
	const { rows } = await connection.exec(
		`INSERT INTO settings (name, value) VALUES ('${TELLING_KEY}', $1)
		ON CONFLICT (name) DO UPDATE SET value = settings.value RETURNING value`,
		[Sealing.newKey()],
	);
	return (rows[0] as { value: string }).value;
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
		if ((await renew(connection, epoch, leaseMs)) === null) throw nodeLost();
		return connection;
	} catch (error) {
		await connection.close();
		throw error;
	}
}

/** The server may not have noticed that the previous connection is gone, and would keep its locks. */
async function endBefore(connection: Connection, settings: ServerSettings, epoch: number): Promise<void> {
	await connection.exec(
		`SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid AND ${OURS}
		WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2 AND l.objid::bigint = $1
			AND l.classid::bigint = (${nodeLock(settings)})::bigint & 4294967295
			AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
		[epoch],
	);
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
	tries = TRIES,
): Promise<boolean> {
	for (let n = 0; n < tries; n++) {
		if (await tryLock(connection, settings, nodes)) return true;
		await pause(TRY_MS);
	}
	return false;
}

const TRIES = 10;
/** On a busy machine a connection needs longer to end. */
const TRIES_AFTER_END = 100;
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
	// Before their connections end: one that reconnects at once has lost the store, and releases its lock again.
	await bury(
		connection,
		settings,
		live.map(({ epoch }) => epoch),
		{ anyway: false },
	);
	await connection.exec(
		`SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid
		WHERE a.application_name = '${NODE_NAME}' AND ${OURS} AND l.locktype = 'advisory' AND l.granted
			AND (l.classid::bigint, l.objid::bigint) IN (SELECT k.class, k.object & 4294967295 FROM (VALUES (${lockOf("own", settings.schema)})) AS k (class, object))`,
	);
	if (!(await lockSoon(connection, settings, nodes, TRIES_AFTER_END)))
		throw new KeryxError("store.owned", "the store is in use by another Keryx");
}

const NODE_NAME = "keryx node";

function openNode(settings: ServerSettings, leaseMs: number): Promise<Connection> {
	return Connection.open(settings, { name: NODE_NAME, timeoutMs: leaseMs });
}
