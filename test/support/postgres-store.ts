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

/** Removes every row of the store in that database. `open`: somebody has it open, and goes on. */
export async function emptied(url: string, { open = false } = {}): Promise<void> {
	const client = await keptClient(url);
	await client.query(emptying("keryx", { open }));
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

/**
 * Opens an empty store for one test after another on one engine, which stays open between them: its four connections cost more than most
 * tests. A test that reopens its store has a new engine, and so have those after it.
 */
export class SharedStore {
	readonly #url: string;
	readonly #connections: Connections;
	#engine: Engine | null = null;

	constructor(url: string, connections: Connections = {}) {
		this.#url = url;
		this.#connections = connections;
	}

	async open(): Promise<Opened> {
		await emptied(this.#url, { open: this.#engine !== null });
		const given = { clock: createWallClock(), ids: countedIds(), secrets: NO_SECRETS };
		const listening = new Set<() => void>();
		const onEngine = async (): Promise<Store> => {
			this.#engine ??= await openOn(this.#url, this.#connections);
			return storeOn(heard(this.#engine, listening), given);
		};
		return {
			store: await onEngine(),
			clock: given.clock,
			reopen: async () => {
				await this.close();
				return await onEngine();
			},
			close: async () => {
				for (const end of listening) end();
			},
		};
	}

	async close(): Promise<void> {
		const engine = this.#engine;
		this.#engine = null;
		await engine?.close();
	}
}

/** The same engine; `listening` gets what ends each of its listeners. */
function heard(engine: Engine, listening: Set<() => void>): Engine {
	return {
		epoch: engine.epoch,
		cluster: engine.cluster,
		write: (name, args, drawn) => engine.write(name, args, drawn),
		read: (name, args) => engine.read(name, args),
		onCommit: (listener) => {
			const end = engine.onCommit(listener);
			listening.add(end);
			return end;
		},
		close: () => engine.close(),
	};
}
