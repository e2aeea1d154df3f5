import { join } from "node:path";
// @ts-expect-error: a script without types
import { buildThreads } from "../../scripts/built-threads.mjs";

/** Before all tests: processes that they start inherit it. */
export function setup(): void {
	process.env.KERYX_STORE_THREAD = buildThreads(join(import.meta.dirname, "../.."));
}
