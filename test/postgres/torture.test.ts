// The torture of a gateway whose store is on a PostgreSQL server. In `npm test` with 120 messages, in `npm run test:crash` with 1,000.
import { afterAll, beforeAll, test } from "vitest";
import { Workbench } from "../crash/support.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { torture } from "../torture/run.ts";

const MESSAGES = Number(process.env.KERYX_TORTURE_ON_SERVER ?? 120);

const bench = new Workbench();
let server: PostgresServer;
beforeAll(async () => {
	server = await startPostgres();
});
afterAll(async () => {
	bench.end();
	await server.remove();
});

test(
	`of ${MESSAGES} messages through kills, redeliveries, pauses and lost answers each has one end on PostgreSQL, too`,
	({ onTestFailed }) => torture({ bench, messages: MESSAGES, url: server.url(), onTestFailed }),
	120_000 + MESSAGES * 1000,
);
