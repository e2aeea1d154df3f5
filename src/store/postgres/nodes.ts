// The nodes of a store on a server: the gateways that share it. Each has a row with a lease by the server's clock, which it renews, and
// holds a lock as long as its connection lives. The lock quickly shows a crash, the lease shows a hanging or disconnected node. Each node
// has an epoch, and its writer a row that all its transactions change: burying a node deletes that row, so the dead node can commit
// nothing any more.
import { createHash } from "node:crypto";
import { KeryxError } from "../../errors.ts";
import type { ServerSettings } from "./address.ts";
import type { Connection } from "./connection.ts";

/** By the server's clock. */
export const NOW_MS = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

export interface NodeSettings {
	/** Left out: one that no other node has. */
	readonly name?: string | undefined;
	/** one: exclusive use. many: next to others of this kind. */
	readonly nodes: "one" | "many";
	/** How long a lease is valid. */
	readonly leaseMs: number;
}

export interface LiveNode {
	readonly epoch: number;
	readonly name: string;
	readonly started_at: number;
	readonly expires_at: number;
	readonly expired: boolean;
	/** Whether its connection holds its lock. */
	readonly held: boolean;
}

/** The server's time. Null: it was buried. */
export async function renew(connection: Connection, epoch: number, leaseMs: number): Promise<number | null> {
	const { rows } = await connection.exec(
		`UPDATE nodes SET expires_at = ${NOW_MS} + $2 WHERE epoch = $1 AND ended_at IS NULL RETURNING ${NOW_MS} AS now`,
		[epoch, leaseMs],
	);
	return (rows[0] as { now: number } | undefined)?.now ?? null;
}

/** So that nobody waits for the lease. */
export async function leave(connection: Connection, epoch: number): Promise<void> {
	await connection.exec(`UPDATE nodes SET ended_at = ${NOW_MS} WHERE epoch = $1 AND ended_at IS NULL`, [
		epoch,
	]);
}

/** Living nodes, by an index: the number of dead ones does not matter. */
export async function seenNodes(
	connection: Connection,
	settings: ServerSettings,
): Promise<readonly LiveNode[]> {
	const { rows } = await connection.exec(
		`SELECT n.epoch, n.name, n.started_at, n.expires_at, n.expires_at < ${NOW_MS} AS expired, EXISTS (SELECT 1 FROM pg_locks l
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
	settings: ServerSettings,
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
			await endWriter(connection, settings, epoch);
			await connection.exec("DELETE FROM writers WHERE epoch = $1", [epoch]);
		}
		await connection.exec("COMMIT");
		return dead;
	} catch (error) {
		await connection.exec("ROLLBACK").catch(() => connection.drop());
		throw error;
	}
}

/** Shown in pg_stat_activity. The number stands for the schema: other stores in the same database have the same epochs. */
export function writerName({ schema }: ServerSettings, epoch: number): string {
	return `keryx writer ${epoch} of ${createHash("sha256").update(schema).digest("hex").slice(0, 8)}`;
}

/** Any role can give its connections any name, so only those that this role may end are meant. */
export const OURS =
	"a.datname = current_database() AND a.pid <> pg_backend_pid() AND pg_has_role(a.usesysid, 'MEMBER')";

/** Ends what is left of a node's writer on the server. */
export async function endWriter(
	connection: Connection,
	settings: ServerSettings,
	epoch: number,
): Promise<void> {
	await connection.exec(
		`SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a WHERE a.application_name = $1 AND ${OURS}`,
		[writerName(settings, epoch)],
	);
}

export function nodeLost(): KeryxError {
	return new KeryxError("store.owner_lost", "another Keryx has taken over this store");
}

/** The first number of each node's lock; the second is its epoch. */
export function nodeLock({ schema }: ServerSettings): string {
	return `hashtext('keryx nodes:${schema.replaceAll("'", "''")}')`;
}
