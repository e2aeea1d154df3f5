// The gateway's scenarios and kill tests once more, with their stores on a PostgreSQL server. In `npm test` those that need no
// process; in `npm run test:crash` also kills, recovery, and the order of messages.
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe } from "vitest";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { storesOn } from "../support/store-url.ts";

const FILES = [
	"scenarios.test.ts",
	...(process.env.KERYX_SCENARIOS_ON_SERVER === "all"
		? [
				"scenarios-rules.test.ts",
				"kill.test.ts",
				"kill-confirmation.test.ts",
				"compaction-kill.test.ts",
				"recovery.test.ts",
				"order.test.ts",
				"turns.test.ts",
				"turn-ends.test.ts",
				"lanes.test.ts",
				"outbox.test.ts",
				"confirmations.test.ts",
				"schedules.test.ts",
				"sessions.test.ts",
				"shutdown.test.ts",
				"watchers.test.ts",
			]
		: []),
];

let server: PostgresServer;
beforeAll(async () => {
	server = await startPostgres();
	await storesOn(server);
});
afterAll(async () => {
	await storesOn(null);
	await server.remove();
});

for (const file of FILES)
	describe(`on PostgreSQL: ${file}`, async () => {
		// Not the same module as where these tests run with a file.
		await import(`${fileURLToPath(new URL(`../gateway/${file}`, import.meta.url))}?server`);
	});
