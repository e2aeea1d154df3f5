// Stores on a PostgreSQL server of the tests: made once and emptied for each test, which takes a tenth of the time.
import pg from "pg";
import { type Engine, NO_SECRETS, type Store, storeOn } from "../../src/store/index.ts";
import { openPostgres, type PostgresOptions } from "../../src/store/postgres/engine.ts";
import { AUDIT_KEY } from "../../src/testing/conformance/store/confirmations.ts";
import type { Opened } from "../../src/testing/conformance/store.ts";
import { countedIds, virtualClock } from "./clock.ts";

/** One statement, or several without parameters, on a connection of its own. */
export async function onServer<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
	const client = new pg.Client({ connectionString: url });
	await client.connect();
	try {
		return (await client.query<Row>(sql)).rows;
	} finally {
		await client.end();
	}
}

/**
 * Removes every row; those that the migrations wrote are put back. A test fills few of the tables: deleting their rows takes a tenth of
 * the time of giving every table and index new files, as TRUNCATE does. In this role the database checks neither triggers nor references.
 */
export async function emptied(url: string): Promise<void> {
	await onServer(
		url,
		`DO $$ DECLARE relation text; version text; BEGIN
			IF NOT EXISTS (SELECT FROM pg_tables WHERE schemaname = 'keryx') THEN RETURN; END IF;
			SELECT value INTO version FROM keryx.settings WHERE name = 'schema';
			SET LOCAL session_replication_role = replica;
			FOR relation IN SELECT format('keryx.%I', tablename) FROM pg_tables WHERE schemaname = 'keryx' LOOP
				EXECUTE 'DELETE FROM ' || relation;
			END LOOP;
			FOR relation IN SELECT format('keryx.%I', sequencename) FROM pg_sequences
				WHERE schemaname = 'keryx' AND last_value IS NOT NULL LOOP
				EXECUTE format('ALTER SEQUENCE %s RESTART', relation);
			END LOOP;
			INSERT INTO keryx.settings (name, value) VALUES ('audit', 'none'), ('schema', version);
		END $$`,
	);
}

export type Connections = Pick<PostgresOptions, "readers" | "node">;

export function openOn(url: string, connections: Connections = {}): Promise<Engine> {
	return openPostgres({ url, startedAt: 0, access: "own", auditKey: AUDIT_KEY, ...connections });
}

/** An empty store for one test of the conformance suite. */
export async function openEmptied(url: string, connections: Connections = {}): Promise<Opened> {
	await emptied(url);
	const given = { clock: virtualClock(), ids: countedIds(), secrets: NO_SECRETS };
	const open = async (): Promise<Store> => storeOn(await openOn(url, connections), given);
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
