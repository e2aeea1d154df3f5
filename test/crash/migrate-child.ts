// Opens a store of an earlier version, and with it brings it up to date. `migrate-child.ts <path>`.
import "../support/keep-compiled.ts";
import { open } from "./support.ts";

const [path = ""] = process.argv.slice(2);
await (await open(path)).close();
