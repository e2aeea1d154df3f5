// `npm run bench -- <area> [--json]`: sets up what is not current, then measures.
import { join } from "node:path";
import { prepare, root, run } from "./setup.mjs";

const { node, env } = await prepare();
process.exitCode = await run(
	node,
	["--expose-gc", join(root, "bench", "main.ts"), ...process.argv.slice(2)],
	env,
);
