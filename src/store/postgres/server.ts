// Checks whether a server can hold the store, and migrates its tables. Migrations run under a lock, each step in a transaction.
import { performance } from "node:perf_hooks";
import { KERYX } from "../../called.ts";
import { KeryxError } from "../../errors.ts";
import type { MigrationProgress } from "../engine.ts";
import { migration, SCHEMA_VERSION } from "../schema.ts";
import { type ServerSettings, shownUrl } from "./address.ts";
import { Connection, quoted } from "./connection.ts";
import { isCollision, toKeryxError } from "./faults.ts";

const OLDEST_SERVER = 140_000;

/** Advisory locks of Keryx in this database: a class, and a purpose. The store's schema is part of each. */
const LOCKS = { migrate: 1, own: 2, write: 3 } as const;
const LOCK_CLASS = 0x6b657279;

/** The two numbers of a lock, as SQL. */
export function lockOf(what: keyof typeof LOCKS, schema: string): string {
	return `${LOCK_CLASS}, hashtext('${schema}:${LOCKS[what]}')`;
}

/** Refuses a server that cannot keep the store's promises, before anything is written. */
export async function checkServer(connection: Connection, settings: ServerSettings): Promise<void> {
	const facts = (
		await connection.exec(
			`SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS shown,
				current_setting('server_encoding') AS encoding, pg_backend_pid() AS pid`,
		)
	).rows[0] as { version: number; shown: string; encoding: string; pid: number };
	if (facts.version < OLDEST_SERVER)
		throw new KeryxError(
			"store.server",
			`the database server is PostgreSQL ${facts.shown}; Keryx needs 14 or newer`,
		);
	if (facts.encoding !== "UTF8")
		throw new KeryxError(
			"store.server",
			`the database has the encoding ${facts.encoding}; Keryx needs UTF8`,
			{
				hint: "create the database with ENCODING 'UTF8' TEMPLATE template0",
			},
		);
	if (facts.pid !== connection.pid && (await sharesServers(connection, settings)))
		throw new KeryxError(
			"store.server",
			"store.url leads to a pooler in transaction mode, such as PgBouncer: it hands connections over between transactions, and Keryx's locks would be lost",
			{
				hint: "name the PostgreSQL server itself in store.url, or set pool_mode = session for this database",
			},
		);
}

/** Detects a pooler. In transaction mode a second client gets the first one's server process, which is idle now. */
async function sharesServers(first: Connection, settings: ServerSettings): Promise<boolean> {
	const others: Connection[] = [];
	try {
		const pids = new Set<number>();
		for (let n = 0; n < 4; n++) {
			const other = await Connection.open(settings, { name: "keryx probe", timeoutMs: 10_000 });
			others.push(other);
			for (const connection of [first, ...others]) pids.add(await pidOf(connection));
		}
		return pids.size < others.length + 1;
	} finally {
		await Promise.all(others.map((other) => other.close()));
	}
}

async function pidOf(connection: Connection): Promise<number> {
	return ((await connection.exec("SELECT pg_backend_pid() AS pid")).rows[0] as { pid: number }).pid;
}

/** Null: there is no store yet. */
export async function schemaVersion(connection: Connection, schema: string): Promise<number | null> {
	const { rows } = await connection.exec(
		`SELECT has_schema_privilege(n.oid, 'USAGE') AS usable,
			EXISTS (SELECT FROM pg_class c WHERE c.relnamespace = n.oid)
				OR EXISTS (SELECT FROM pg_proc p WHERE p.pronamespace = n.oid)
				OR EXISTS (SELECT FROM pg_type t WHERE t.typnamespace = n.oid) AS filled,
			(SELECT count(*) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
				WHERE c.relnamespace = n.oid AND c.relname = 'settings' AND c.relkind = 'r' AND a.attname IN ('name', 'value'))::int AS columns
		FROM pg_namespace n WHERE n.nspname = $1`,
		[schema],
	);
	const found = rows[0] as { usable: boolean; filled: boolean; columns: number } | undefined;
	if (found && !found.usable)
		throw new KeryxError("store.refused", `the database user may not use the schema ${schema}`, {
			hint: `GRANT USAGE, CREATE ON SCHEMA ${schema} TO <user>, or name another one in store.url: ?schema=<name>`,
		});
	if (!found?.filled) return null;
	const version =
		found.columns === 2
			? (await connection.exec("SELECT value FROM settings WHERE name = 'schema'")).rows[0]
			: undefined;
	const value = String((version as { value: unknown } | undefined)?.value);
	if (!/^[0-9]{1,9}$/.test(value))
		throw new KeryxError(
			"store.corrupt",
			`the schema ${schema} of the database is not Keryx's: it contains other things`,
			{
				hint: "name another one in store.url: ?schema=<name>",
			},
		);
	return Number(value);
}

/** Refuses a store of a version this Keryx does not write. */
export function assertVersion(version: number): void {
	if (version > SCHEMA_VERSION)
		throw new KeryxError(
			"store.newer",
			`the store has version ${version}; this Keryx knows versions up to ${SCHEMA_VERSION}`,
		);
	if (version < SCHEMA_VERSION)
		throw new KeryxError(
			"store.older",
			`the store has version ${version}; this Keryx writes version ${SCHEMA_VERSION}`,
			{ hint: `run \`${KERYX} store migrate\` once` },
		);
}

/** Creates or migrates the tables. Returns the previous version; null: there was no store. */
export async function migrate(
	connection: Connection,
	{ schema }: ServerSettings,
	which: "new" | "all",
	tell: (progress: MigrationProgress) => void = () => {},
): Promise<number | null> {
	await connection.exec(`SELECT pg_advisory_lock(${lockOf("migrate", schema)})`);
	try {
		const before = await schemaVersion(connection, schema);
		if (before !== null && which === "new") return before;
		if (before !== null && before > SCHEMA_VERSION) assertVersion(before);
		for (let tries = 1; ; tries++)
			try {
				await migrateFrom(connection, schema, before, tell);
				return before;
			} catch (error) {
				await connection.exec("ROLLBACK").catch(() => {});
				// A read of a running gateway had one table and waited for another.
				if (!isCollision(error) || tries === TRIES) throw error;
			}
	} finally {
		if (!connection.isLost) await connection.exec(`SELECT pg_advisory_unlock(${lockOf("migrate", schema)})`);
	}
}

const TRIES = 10;

async function migrateFrom(
	connection: Connection,
	schema: string,
	before: number | null,
	tell: (progress: MigrationProgress) => void,
): Promise<void> {
	const began = performance.now();
	await connection.exec("BEGIN");
	// Gateways may be running: a writer would wait for one table and hold another.
	await connection.exec(`SELECT pg_advisory_xact_lock(${lockOf("write", schema)})`);
	if (before === null) await createSchema(connection, schema);
	const first = before ?? 0;
	const bytes = await sizeOf(connection, schema);
	for (let from = first; from < SCHEMA_VERSION; from++) {
		tell({ kind: "step", bytes, step: from - first + 1, of: SCHEMA_VERSION - first });
		await connection.exec(migration(from, "postgres"));
	}
	await connection.exec(
		"INSERT INTO settings (name, value) VALUES ('schema', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
		[String(SCHEMA_VERSION)],
	);
	await connection.exec("COMMIT");
	if (first < SCHEMA_VERSION) tell({ kind: "done", bytes, ms: performance.now() - began });
}

async function sizeOf(connection: Connection, schema: string): Promise<number> {
	const { rows } = await connection.exec(
		`SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint AS bytes
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'`,
		[schema],
	);
	return (rows[0] as { bytes: number }).bytes;
}

/** An existing schema needs no right to create one. */
async function createSchema(connection: Connection, schema: string): Promise<void> {
	const { rows } = await connection.exec("SELECT 1 AS found FROM pg_namespace WHERE nspname = $1", [schema]);
	if (rows.length === 0) await connection.exec(`CREATE SCHEMA ${quoted(schema)}`);
}

/** The same error, with the address that was opened. */
export function openingFault(error: unknown, url: string): KeryxError {
	if (error instanceof KeryxError) return error;
	const { code, message, hint } = toKeryxError(error);
	return new KeryxError(code, `cannot open ${shownUrl(url)}: ${message}`, { hint, cause: error });
}
