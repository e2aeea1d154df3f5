// Stores on the tests' PostgreSQL server: created once and emptied for each test, which takes a tenth of the time.
import pg from "pg";
import { type Engine, NO_SECRETS, type Store, storeOn } from "../../src/store/index.ts";
import { openPostgres, type PostgresOptions } from "../../src/store/postgres/engine.ts";
import type { Opened } from "../../src/testing/conformance/store.ts";
import { AUDIT_KEY } from "./audit-key.ts";
import { countedIds, createWallClock } from "./clock.ts";
import { emptying } from "./emptied.ts";

/** Connections shared by all tests of a file: a new one would read the whole catalogue again. They end with their server. */
const kept = new Map<string, Promise<pg.Client>>();

function keptClient(url: string): Promise<pg.Client> {
	const known = kept.get(url);
	if (known) return known;
	const client = new pg.Client({ connectionString: url });
	for (const end of ["error", "end"] as const) client.on(end, () => kept.delete(url));
	const connected = client.connect().then(() => client);
	kept.set(url, connected);
	return connected;
}

/** Runs one statement, or several without parameters, on a separate connection. */
export async function onServer<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
	const client = new pg.Client({ connectionString: url });
	await client.connect();
	try {
		return (await client.query<Row>(sql)).rows;
	} finally {
		await client.end();
	}
}

/** Removes every row of the store in that database. */
export async function emptied(url: string): Promise<void> {
	const client = await keptClient(url);
	await client.query(emptying("keryx"));
}

export type Connections = Pick<PostgresOptions, "readers" | "reconnects" | "node">;

export function openOn(url: string, connections: Connections = {}): Promise<Engine> {
	return openPostgres({ url, startedAt: 0, access: "own", auditKey: AUDIT_KEY, ...connections });
}

/** An empty store for one test of the conformance suite; `on` may put something between the two. */
export async function openEmptied(
	url: string,
	connections: Connections = {},
	on: (engine: Engine) => Engine = (engine) => engine,
): Promise<Opened> {
	await emptied(url);
	const given = { clock: createWallClock(), ids: countedIds(), secrets: NO_SECRETS };
	const open = async (): Promise<Store> => storeOn(on(await openOn(url, connections)), given);
	let store = await open();
	return {
		store,
		clock: given.clock,
		reopen: async () => {
			await store.close();
			store = await open();
			return store;
		},
		close: () => store.close(),
	};
}
