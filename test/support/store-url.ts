// Where the gateway's tests keep their stores: in memory, in a file, or on a PostgreSQL server, where test/postgres repeats them.
import Database from "better-sqlite3";
import { type Engine, openEngine } from "../../src/store/index.ts";
import { migratePostgres } from "../../src/store/postgres/engine.ts";
import type { PostgresServer } from "./postgres-server.ts";
import { onServer } from "./postgres-store.ts";

const TEMPLATE = "made";

type Open = (url: string, startedAt: number, auditKey: Uint8Array) => Promise<Engine>;

let server: Pick<PostgresServer, "url"> | null = null;
let opening: Open | null = null;
let made = 0;

/** Puts later stores on this server; null: back to SQLite. `open` replaces the usual way to open one. */
export async function storesOn(
	given: Pick<PostgresServer, "url"> | null,
	open: Open | null = null,
): Promise<void> {
	server = given;
	opening = open;
	if (!given) return;
	await onServer(given.url(), `CREATE DATABASE ${TEMPLATE}`);
	await migratePostgres(given.url(TEMPLATE));
}

/** The URL of a new, empty store: this file, or a new database on the server. */
export async function newStoreUrl(file: string): Promise<string> {
	if (!server) return `sqlite:${file}`;
	const name = `store${++made}`;
	await onServer(server.url(), `CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`);
	return server.url(name);
}

export function openAt(url: string, startedAt: number, auditKey: Uint8Array): Promise<Engine> {
	return opening
		? opening(url, startedAt, auditKey)
		: openEngine({ url, clock: { now: () => startedAt }, auditKey });
}

/** How many rows a table has. Opens its own connection. */
export async function rowsAt(url: string, table: string): Promise<number> {
	if (!url.startsWith("sqlite:")) {
		const [row] = await onServer<{ n: number }>(url, `SELECT count(*)::int AS n FROM keryx.${table}`);
		return row?.n ?? 0;
	}
	const database = new Database(url.slice("sqlite:".length));
	try {
		return database.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number;
	} finally {
		database.close();
	}
}
