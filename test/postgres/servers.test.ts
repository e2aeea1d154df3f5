// What is said of servers that cannot keep a store's promises, or refuse: what is wrong and what to do, and never the password.
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { inspect } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
	type MigrationProgress,
	migrateStore,
	NO_SECRETS,
	openStore,
	SCHEMA_VERSION,
} from "../../src/store/index.ts";
import { migration } from "../../src/store/schema.ts";
import { countedIds, createWallClock } from "../support/clock.ts";
import { startPgBouncer } from "../support/pgbouncer.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { onServer } from "../support/postgres-store.ts";

let server: PostgresServer;
beforeAll(async () => {
	server = await startPostgres();
});
afterAll(() => server.remove());

const given = () => ({ clock: createWallClock(), ids: countedIds(), secrets: NO_SECRETS });

describe("a server that refuses", () => {
	const refusedBy = (url: string) =>
		openStore({ url, ...given() }).then(
			(store) => store.close().then(() => "opened"),
			({ code, message, hint }: { code: string; message: string; hint: string }) =>
				`${code}: ${message}; ${hint}`,
		);

	it("is named with what is wrong and what to do, and never with the password", async () => {
		await onServer(server.url(), "CREATE USER other");
		await onServer(
			server.url(),
			"CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'",
		);
		const nobody = await refusedBy(server.url().replace("keryx@", "nobody:secretpassword@"));
		expect(nobody).toContain("store.refused: cannot open postgres://nobody:***@127.0.0.1");
		expect(nobody).not.toContain("secretpassword");
		expect(await refusedBy(server.url("latin"))).toContain(
			"store.server: the database has the encoding LATIN1",
		);
		expect(await refusedBy(server.url("nothing"))).toContain("the database does not exist");
		expect(await refusedBy(server.url().replace("keryx@", "other@"))).toContain("GRANT CREATE ON DATABASE");
		expect(await refusedBy("postgres://x@127.0.0.1:1/x")).toContain("store.unreachable");
		expect(await refusedBy(`${server.url()}?sslmode=verify-full`)).toContain("correct sslmode");
		expect(await refusedBy(`${server.url()}?sslmode=verify-full&sslrootcert=/no/file`)).toContain(
			"store.refused: cannot open",
		);
		const unread = await openStore({
			...given(),
			url: "postgres://nobody:secretpassword@host:99999/x",
		}).catch((error: unknown) => inspect(error, { depth: null }));
		expect(unread).toContain("store.url is not a URL");
		expect(unread).not.toContain("secretpassword");
	});

	it("is refused with a wrong password, which is not shown, and taken with the right one", async () => {
		const asking = await startPostgres({ password: "right-password" });
		try {
			const urlWith = (password: string) => asking.url().replace("keryx@", `keryx:${password}@`);
			const refused = await refusedBy(urlWith("wrong-password"));
			expect(refused).toContain("store.refused");
			expect(refused).not.toContain("wrong-password");
			const store = await openStore({ ...given(), url: urlWith("right-password") });
			await store.close();
		} finally {
			await asking.remove();
		}
	});

	it("is left alone where the schema is somebody else's, whatever is in it", async () => {
		for (const [n, thing] of [
			"TABLE s.other (a int)",
			"TABLE s.settings (other int)",
			"TABLE s.settings (name text, value text); INSERT INTO s.settings VALUES ('schema', 'dark')",
			"VIEW s.settings AS SELECT 1 AS name, 2 AS value",
			"FUNCTION s.search_words(a text) RETURNS int LANGUAGE sql AS 'SELECT 1'",
			"TYPE s.mood AS ENUM ('fine')",
		].entries()) {
			const schema = `foreign${n}`;
			const make = `CREATE ${thing.replaceAll("s.", `${schema}.`)}`;
			await onServer(server.url(), `CREATE SCHEMA ${schema}; ${make}`);
			expect(await refusedBy(`${server.url()}?schema=${schema}`)).toContain("store.corrupt: the schema");
		}
		await onServer(server.url(), "CREATE SCHEMA closed; CREATE USER outsider");
		expect(await refusedBy(`${server.url().replace("keryx@", "outsider@")}?schema=closed`)).toContain(
			"GRANT USAGE, CREATE ON SCHEMA closed",
		);
	});

	it("is refused where it is older than 14", async () => {
		// The real one with another number: no older one can be installed here.
		const older = createServer((near) => {
			const far = connect(server.port, "127.0.0.1");
			near.on("error", () => far.destroy()).pipe(far);
			far.on("error", () => near.destroy());
			far.on("data", (data) =>
				near.write(data.toString("latin1").replace(/1[4-9](00\d\d)/g, "13$1"), "latin1"),
			);
			far.on("close", () => near.destroy());
			near.on("close", () => far.destroy());
		}).listen(0, "127.0.0.1");
		await once(older, "listening");
		const { port } = older.address() as AddressInfo;
		expect(await refusedBy(server.url().replace(String(server.port), String(port)))).toMatch(
			/^store\.server: the database server is PostgreSQL .*; Keryx needs 14 or newer; use a PostgreSQL server of version 14/,
		);
		older.close();
	});

	it("is refused behind PgBouncer in transaction mode, and taken in session mode", async () => {
		const pooler = await startPgBouncer(server.port, "transaction");
		try {
			const refused = await refusedBy(pooler.url);
			expect(refused).toContain("store.server: store.url leads to a pooler in transaction mode");
			expect(refused).toContain("name the PostgreSQL server itself in store.url");
		} finally {
			await pooler.stop();
		}
		const session = await startPgBouncer(server.port, "session");
		try {
			expect(await refusedBy(session.url)).toBe("opened");
		} finally {
			await session.stop();
		}
	});
});

it("is brought up to date again when a read held one of the tables and waited for another", async () => {
	const url = `${server.url()}?schema=crossed`;
	const earlier = Array.from({ length: BEFORE }, (_, from) => migration(from, "postgres"));
	await onServer(
		server.url(),
		`CREATE SCHEMA crossed; SET search_path = crossed; ${earlier.join("\n")}
		INSERT INTO settings (name, value) VALUES ('schema', '${BEFORE}')`,
	);
	const reader = new pg.Client({ connectionString: server.url() });
	await reader.connect();
	await reader.query("BEGIN; SELECT 1 FROM crossed.restores");
	const told: MigrationProgress[] = [];
	const migrated = migrateStore(url, (progress) => told.push(progress));
	const waiting =
		"SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'crossed.restores'::regclass AND mode = 'AccessExclusiveLock'";
	await expect.poll(async () => (await onServer(server.url(), waiting)).length).toBe(1);
	// Whoever has waited longer is refused by the server; the other goes on.
	const crossed = reader.query("SELECT 1 FROM crossed.turns").catch(() => {});
	await crossed;
	await reader.query("ROLLBACK");
	await reader.end();
	expect(await migrated).toEqual({ from: BEFORE, to: SCHEMA_VERSION });
	const steps = told.slice(0, -1);
	const of = SCHEMA_VERSION - BEFORE;
	expect(steps.slice(-of).map((one) => one.kind === "step" && [one.step, one.of])).toEqual(
		Array.from({ length: of }, (_, n) => [n + 1, of]),
	);
	expect(told.at(-1)).toEqual({ kind: "done", bytes: expect.any(Number), ms: expect.any(Number) });
	expect(told.at(-1)?.bytes).toBeGreaterThan(0);
});

/** The step after it changes several tables that a reader may hold. */
const BEFORE = 23;
