// Who may write. The owner holds a lock of the server for as long as its connection lives, and renews a lease by the server's clock: the
// lock tells at once that an owner has died, the lease that one hangs. Each owner has an epoch. Its writers have a row each, which every
// transaction of theirs changes: whoever takes over deletes these rows, and nothing of the owner before can be committed any more.
import { hostname } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { KeryxError } from "../../errors.ts";
import type { ServerSettings } from "./address.ts";
import { Connection } from "./connection.ts";
import { toKeryxError } from "./faults.ts";
import { lockOf } from "./server.ts";

const LEASE_SECONDS = 10;
export const RENEW_MS = 3000;

const NOW_MS = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

export interface Owning {
	readonly epoch: number;
	readonly connection: Connection;
}

export async function takeOwnership(
	settings: ServerSettings,
	{ startedAt, writers }: { readonly startedAt: number; readonly writers: number },
): Promise<Owning> {
	const connection = await openOwner(settings);
	try {
		if (!(await lockSoon(connection, settings))) await takeFromHanging(connection, settings);
		return { epoch: await nextEpoch(connection, startedAt, writers), connection };
	} catch (error) {
		await connection.close();
		throw error;
	}
}

/** After the connection was lost: the same owner, if nobody has taken over meanwhile. */
export async function keepOwnership(settings: ServerSettings, epoch: number): Promise<Connection> {
	const connection = await openOwner(settings);
	try {
		if (!(await tryLock(connection, settings)) || !(await renew(connection, epoch))) throw ownerLost();
		return connection;
	} catch (error) {
		await connection.close();
		throw error;
	}
}

/** Whether this owner still is one. */
export async function renew(connection: Connection, epoch: number): Promise<boolean> {
	const { count } = await connection.exec(
		`UPDATE nodes SET expires_at = ${NOW_MS} + ${LEASE_SECONDS * 1000} WHERE epoch = $1 AND ended_at IS NULL`,
		[epoch],
	);
	return count === 1;
}

/** So that nobody waits for the lease. */
export async function leave(connection: Connection, epoch: number): Promise<void> {
	await connection.exec(`UPDATE nodes SET ended_at = ${NOW_MS} WHERE epoch = $1 AND ended_at IS NULL`, [
		epoch,
	]);
}

export function ownerLost(): KeryxError {
	return new KeryxError("store.owner_lost", "another Keryx has taken over this store");
}

function openOwner(settings: ServerSettings): Promise<Connection> {
	return Connection.open(settings, { name: "keryx owner", timeoutMs: RENEW_MS * 2 });
}

async function tryLock(connection: Connection, { schema }: ServerSettings): Promise<boolean> {
	const { rows } = await connection.exec(`SELECT pg_try_advisory_lock(${lockOf("own", schema)}) AS got`);
	return (rows[0] as { got: boolean }).got;
}

/** The server needs a moment to notice that an owner was killed. */
async function lockSoon(connection: Connection, settings: ServerSettings): Promise<boolean> {
	for (let n = 0; n < TRIES; n++) {
		if (await tryLock(connection, settings)) return true;
		await pause(TRY_MS);
	}
	return false;
}

const TRIES = 10;
const TRY_MS = 100;

/** The lock is held. Where its holder has not renewed its lease, its connection is ended; where it has, it is the owner. */
async function takeFromHanging(connection: Connection, settings: ServerSettings): Promise<void> {
	const { rows } = await connection.exec(
		`SELECT name, started_at, expires_at < ${NOW_MS} AS expired FROM nodes WHERE ended_at IS NULL ORDER BY epoch DESC LIMIT 1`,
	);
	const owner = rows[0] as { name: string; started_at: number; expired: boolean } | undefined;
	if (!owner?.expired)
		throw new KeryxError(
			"store.owned",
			owner
				? `the store is in use by Keryx on ${owner.name}, which started at ${new Date(owner.started_at).toISOString()}`
				: "the store is in use by another Keryx",
		);
	await connection.exec(
		`SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid
		WHERE a.application_name = 'keryx owner' AND a.pid <> pg_backend_pid() AND l.locktype = 'advisory' AND l.granted
			AND (l.classid::bigint, l.objid::bigint) IN (SELECT k.class, k.object & 4294967295 FROM (VALUES (${lockOf("own", settings.schema)})) AS k (class, object))`,
	);
	await connection.exec(`SELECT pg_advisory_lock(${lockOf("own", settings.schema)})`);
}

/** Deleting the rows of earlier writers waits for what they are about to commit: afterwards nothing of theirs comes. */
async function nextEpoch(connection: Connection, startedAt: number, writers: number): Promise<number> {
	await connection.exec("BEGIN");
	try {
		const { rows } = await connection.exec(
			`INSERT INTO settings (name, value) VALUES ('epoch', '1')
			ON CONFLICT (name) DO UPDATE SET value = (settings.value::bigint + 1)::text RETURNING value`,
		);
		const epoch = Number((rows[0] as { value: string }).value);
		await connection.exec("DELETE FROM writers");
		await connection.exec(`UPDATE nodes SET ended_at = ${NOW_MS} WHERE ended_at IS NULL`);
		await connection.exec(
			`INSERT INTO nodes (epoch, name, started_at, expires_at) VALUES ($1, $2, $3, ${NOW_MS} + ${LEASE_SECONDS * 1000})`,
			[epoch, `${hostname()} (process ${process.pid})`, startedAt],
		);
		await connection.exec(
			"INSERT INTO writers (epoch, slot, last) SELECT $1, n, '' FROM generate_series(1, $2::int) AS n",
			[epoch, writers],
		);
		await connection.exec("COMMIT");
		return epoch;
	} catch (error) {
		await connection.exec("ROLLBACK").catch(() => {});
		throw toKeryxError(error);
	}
}
