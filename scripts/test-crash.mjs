// `npm run test:crash [-- <kills> [<messages> [<schedules>]]]`: the crash tests of the store, the gateway, its programs and their walls
// alone, with many more kills, messages and random schedules than `npm test` has, drawn from a seed of their own (KERYX_SEED), and with
// every operation of the net. KERYX_NET_RUNS=<n> takes a sample of the net. The programs of the guide to embedding run on the package as it
// is published, where `npm test` runs them on the sources.
import { join } from "node:path";
import { leaveTmp } from "./outside-tmp.mjs";
import { prepare, root, run } from "./setup.mjs";
import { prepareTestTools } from "./test-tools.mjs";

await leaveTmp("test-crash.mjs");
const { node, env } = await prepare();
await prepareTestTools();
const kills = process.argv[2] ?? env.KERYX_CRASH_RUNS ?? "200";
const messages = process.argv[3] ?? env.KERYX_TORTURE_MESSAGES ?? "10000";
const schedules = process.argv[4] ?? env.KERYX_ORDER_SCHEDULES ?? "10000";
const seed = env.KERYX_SEED ?? String(Date.now() % 1_000_000);
console.log(`seed ${seed}: KERYX_SEED=${seed} draws the same again`);
const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
process.exitCode = await run(
	node,
	[
		vitest,
		"run",
		"test/store-crash.test.ts",
		"test/store-migration-kills.test.ts",
		"test/schedules/zones.test.ts",
		"test/schedules/downtimes.test.ts",
		"test/torture.test.ts",
		"test/gateway/kill.test.ts",
		"test/gateway/kill-confirmation.test.ts",
		"test/gateway/order-schedules.test.ts",
		"test/gateway/net.test.ts",
		"test/processes-crash.test.ts",
		"test/processes/walled-host.test.ts",
		"test/walls/kill.test.ts",
		"test/walls/lines.test.ts",
		"test/acp/walled.test.ts",
		"test/mcp/kills.test.ts",
		"test/gateway/rights-model.test.ts",
		"test/store-model.test.ts",
		"test/transfer.test.ts",
		"test/postgres/cuts.test.ts",
		"test/postgres/scenarios.test.ts",
		"test/postgres/model.test.ts",
		"test/postgres/torture.test.ts",
		"test/postgres/search.test.ts",
		"test/postgres/storm.test.ts",
		"test/postgres/move.test.ts",
		"test/checkpoints/property.test.ts",
		"test/checkpoints/refused.test.ts",
		"test/checkpoints/ignore.test.ts",
		"test/http/port-fuzz.test.ts",
		"test/app/embedding.test.ts",
		"test/channels/telegram-storm.test.ts",
		"test/channels/discord-storm.test.ts",
		"test/channels/slack-storm.test.ts",
		"test/channels/irc-storm.test.ts",
		"test/channels/xmpp-storm.test.ts",
		"test/channels/irc-flood.test.ts",
		"test/channels/email-storm.test.ts",
		"test/channels/matrix-storm.test.ts",
		"test/update.test.ts",
		"test/keeping/backup.test.ts",
		"test/keeping/retention.test.ts",
		"test/page/large.test.ts",
	],
	{
		...env,
		KERYX_SEED: seed,
		KERYX_CRASH_RUNS: kills,
		KERYX_TORTURE_MESSAGES: messages,
		KERYX_RIGHTS_RUNS: env.KERYX_RIGHTS_RUNS ?? "10000",
		KERYX_ORDER_SCHEDULES: schedules,
		KERYX_RESTORE_RUNS: env.KERYX_RESTORE_RUNS ?? "2000",
		KERYX_STORM_MESSAGES: env.KERYX_STORM_MESSAGES ?? "10000",
		KERYX_FUZZ_REQUESTS: env.KERYX_FUZZ_REQUESTS ?? "20000",
		KERYX_BACKUP_SENDERS: env.KERYX_BACKUP_SENDERS ?? "64",
		KERYX_BACKUP_BEFORE: env.KERYX_BACKUP_BEFORE ?? "50000",
		KERYX_RETENTION_CONVERSATIONS: env.KERYX_RETENTION_CONVERSATIONS ?? "2000",
		KERYX_MIGRATION_CONVERSATIONS: env.KERYX_MIGRATION_CONVERSATIONS ?? "20000",
		KERYX_MIGRATION_KILLS: env.KERYX_MIGRATION_KILLS ?? "50",
		KERYX_MIGRATION_LARGE: env.KERYX_MIGRATION_LARGE ?? "1000000",
		KERYX_UPDATE_RUNS: env.KERYX_UPDATE_RUNS ?? "20",
		KERYX_PACKED: "1",
		KERYX_ZONES: "all",
		KERYX_CUTS: "all",
		KERYX_SCENARIOS_ON_SERVER: "all",
		KERYX_CLIENT_RUNS: env.KERYX_CLIENT_RUNS ?? "20",
		KERYX_TORTURE_ON_SERVER: env.KERYX_TORTURE_ON_SERVER ?? "1000",
		KERYX_CLUSTER_MESSAGES: env.KERYX_CLUSTER_MESSAGES ?? "10000",
		KERYX_SEARCH_QUERIES: env.KERYX_SEARCH_QUERIES ?? "2000",
		KERYX_SEARCH_MESSAGES: env.KERYX_SEARCH_MESSAGES ?? "100000",
		KERYX_MOVE_MESSAGES: env.KERYX_MOVE_MESSAGES ?? "1000000",
		KERYX_MODEL_RUNS: env.KERYX_MODEL_RUNS ?? "200",
		KERYX_TRANSFER_RUNS: env.KERYX_TRANSFER_RUNS ?? "200",
		KERYX_SCROLL_ROWS: env.KERYX_SCROLL_ROWS ?? "10000",
		KERYX_JOBS: env.KERYX_JOBS ?? "10000",
		KERYX_NET_RUNS: env.KERYX_NET_RUNS ?? "all",
	},
);
