// `npm start`: sets up what is not current, then runs Keryx.
import { join } from "node:path";
import { prepare, root, run } from "./setup.mjs";

const { node, env } = await prepare();
process.exitCode = await run(node, [join(root, "bin", "keryx.mjs"), ...process.argv.slice(2)], env);
