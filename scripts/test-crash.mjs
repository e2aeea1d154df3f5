// `npm run test:crash [-- <kills>]`: the store's crash test alone, with many more kills than `npm test` makes.
import { join } from "node:path";
import { prepare, root, run } from "./setup.mjs";

const { node, env } = await prepare();
const kills = process.argv[2] ?? env.KERYX_CRASH_RUNS ?? "200";
const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
process.exitCode = await run(node, [vitest, "run", "test/store-crash.test.ts"], {
	...env,
	KERYX_CRASH_RUNS: kills,
});
