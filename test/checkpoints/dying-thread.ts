// The thread of a child that kills itself before the change of a file that has a given number.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname } from "node:path";
import type { ChildOrders } from "./child.ts";

const { folder, work } = JSON.parse(process.env.KERYX_TEST_ORDERS ?? "") as ChildOrders;
const dieAt = work.kind === "restore" ? work.dieAt : Number.POSITIVE_INFINITY;
let changes = 0;
for (const name of ["renameSync", "unlinkSync"] as const) {
	const original = fs[name] as (...args: unknown[]) => void;
	(fs as unknown as Record<string, unknown>)[name] = (...args: unknown[]) => {
		if (isInFolder(String(args.at(-1))) && ++changes === dieAt) process.kill(process.pid, "SIGKILL");
		original.apply(fs, args);
	};
}
syncBuiltinESMExports();

/** Paths go by the descriptor of an open folder. */
function isInFolder(path: string): boolean {
	return `${fs.realpathSync(dirname(path))}/`.startsWith(`${folder}/`);
}

await import("../../src/checkpoints/worker.ts");
