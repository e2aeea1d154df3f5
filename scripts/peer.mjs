// `npm run peer -- <platform> [port]`: sets up what is not current, then runs a chat platform to try Keryx on.
import { join } from "node:path";
import { prepare, root, run } from "./setup.mjs";

const { node, env } = await prepare();
process.exitCode = await run(node, [join(root, "test", "peers", "main.ts"), ...process.argv.slice(2)], env);
