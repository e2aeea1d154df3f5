// The connection is cut at every statement of an operation, before the server has it and after: the caller gets the operation's answer,
// and what it wrote is there once.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NO_SECRETS, storeOn, type WriteName } from "../../src/store/index.ts";
import { writes } from "../../src/store/operations/index.ts";
import { Scene } from "../../src/testing/conformance/store/scene.ts";
import { storeConformance } from "../../src/testing/conformance/store.ts";
import { countedIds, virtualClock } from "../support/clock.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { emptied, onServer, openEmptied, openOn } from "../support/postgres-store.ts";
import { type StatementProxy, startStatementProxy } from "../support/statement-proxy.ts";
import { Cuts } from "./storm/cuts.ts";

describe("a connection that is cut at a statement", () => {
	let server: PostgresServer;
	let proxy: StatementProxy;
	beforeAll(async () => {
		server = await startPostgres();
		proxy = await startStatementProxy(server.port);
	});
	afterAll(async () => {
		await proxy.close();
		await server.remove();
	});

	/** An exchange, a second one that is cut where the test says, and what is there afterwards. */
	const exchangeCut = async (at: number, when: "before" | "after") => {
		await emptied(server.url());
		const clock = virtualClock();
		const url = server.url().replace(String(server.port), String(proxy.port));
		proxy.cutAt(0, when);
		const engine = await openOn(url, { readers: 1 });
		const store = storeOn(engine, { clock, ids: countedIds(), secrets: NO_SECRETS });
		const scene = new Scene({ store, clock, close: () => store.close() });
		await scene.exchange("one", "1");
		proxy.cutAt(at, when);
		const { conversation } = await scene.exchange("two", "2");
		const { statements, isCut } = proxy;
		proxy.cutAt(0, when);
		const texts = await scene.texts(conversation);
		await store.close();
		return { statements, isCut, texts, rows: await rowsIn(server.url()) };
	};

	it("changes nothing of what was asked for, wherever it is cut", { timeout: 600_000 }, async () => {
		const whole = await exchangeCut(0, "before");
		expect(whole.texts).toEqual(["one", "1", "two", "2"]);
		expect(whole.statements).toBeGreaterThan(20);
		for (let at = 1; at <= whole.statements; at += STEP)
			for (const when of ["before", "after"] as const) {
				const { statements: _, isCut, ...left } = await exchangeCut(at, when);
				expect({ at, when, ...left, isCut }).toEqual({
					at,
					when,
					texts: whole.texts,
					rows: whole.rows,
					isCut: true,
				});
			}
	});
});

/** `npm run test:crash` tries every statement, and those of every operation. */
const IS_WHOLE = process.env.KERYX_CUTS === "all";
const STEP = IS_WHOLE ? 1 : 7;

if (IS_WHOLE)
	describe("an operation whose connection is cut at each of its statements in turn", () => {
		let server: PostgresServer;
		let proxy: StatementProxy;
		const cuts = new Cuts();
		beforeAll(async () => {
			server = await startPostgres();
			proxy = await startStatementProxy(server.port);
		});
		afterAll(async () => {
			await proxy.close();
			await server.remove();
		});
		const open = () =>
			openEmptied(
				server.url().replace(String(server.port), String(proxy.port)),
				{ readers: 1, reconnects: 1000 },
				(engine) => cuts.on(engine, proxy),
			);
		storeConformance("PostgreSQL behind a line that is cut", open);
		it("is every operation that writes", () => {
			console.log(`cut: ${cuts.everywhere.length} operations at each statement, ${cuts.made} cuts`);
			const missing = Object.keys(writes).filter((name) => !cuts.everywhere.includes(name as WriteName));
			expect(missing).toEqual([]);
		});
	});

/** How many rows each table has, and the events in their order. */
async function rowsIn(url: string): Promise<unknown> {
	const counts = await onServer<{ name: string; n: string }>(
		url,
		`SELECT tablename AS name, (xpath('/row/n/text()', query_to_xml(format('SELECT count(*) AS n FROM keryx.%I', tablename), false, true, '')))[1]::text AS n
		FROM pg_tables WHERE schemaname = 'keryx' ORDER BY tablename`,
	);
	const events = await onServer(
		url,
		"SELECT type, conversation, session, turn FROM keryx.events ORDER BY id",
	);
	return { counts, events };
}
