import { join } from "node:path";
// @ts-expect-error: a script without types
import { buildThread } from "../../scripts/built-threads.mjs";

/** Before all tests: processes that they start inherit it. */
export function setup(): void {
	const root = join(import.meta.dirname, "../..");
	process.env.KERYX_STORE_THREAD = buildThread(root, "src/store/sqlite/worker.ts");
	process.env.KERYX_CHECKPOINTS_THREAD = buildThread(root, "src/checkpoints/worker.ts");
}
