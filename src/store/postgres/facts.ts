// Facts about a server for `keryx doctor`: its version, clock, connections and nodes.
import type { ServerSettings } from "./address.ts";
import { serverSettings } from "./address.ts";
import { Connection } from "./connection.ts";
import { openingFault, schemaVersion } from "./server.ts";

export interface ServerFacts {
	/** As the server says it. */
	readonly version: string;
	/** How far its clock is ahead of this machine's; negative: behind. */
	readonly aheadMs: number;
	readonly connections: { readonly used: number; readonly most: number };
	/** Of the tables; null: there is no store. */
	readonly schema: number | null;
	/** Nodes that live, and how long the lease of each is still good. */
	readonly nodes: readonly { readonly name: string; readonly leaseMs: number }[];
}

export async function serverFacts(url: string, now: () => number): Promise<ServerFacts> {
	const settings = serverSettings(url);
	try {
		const connection = await Connection.open(settings, { name: "keryx doctor", timeoutMs: 10_000 });
		try {
			return await read(connection, settings, now);
		} finally {
			await connection.close();
		}
	} catch (error) {
		throw openingFault(error, url);
	}
}

async function read(
	connection: Connection,
	{ schema }: ServerSettings,
	now: () => number,
): Promise<ServerFacts> {
	const before = now();
	const { rows } = await connection.exec(
		`SELECT current_setting('server_version') AS version, (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now,
			(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')::int AS used,
			current_setting('max_connections')::int AS most`,
	);
	const after = now();
	const found = rows[0] as { version: string; now: number; used: number; most: number };
	const version = await schemaVersion(connection, schema);
	const nodes =
		version === null
			? []
			: ((
					await connection.exec(
						"SELECT name, expires_at FROM nodes WHERE ended_at IS NULL AND expires_at IS NOT NULL ORDER BY epoch",
					)
				).rows as readonly { name: string; expires_at: number }[]);
	return {
		version: found.version,
		aheadMs: Math.round(found.now - (before + after) / 2),
		connections: { used: found.used, most: found.most },
		schema: version,
		nodes: nodes.map(({ name, expires_at }) => ({ name, leaseMs: expires_at - found.now })),
	};
}
