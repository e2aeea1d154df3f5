// The thread of a child that kills itself before the change of a file that has a given number.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import type { ChildOrders } from "./child.ts";

const { folder, work } = JSON.parse(process.env.KERYX_TEST_ORDERS ?? "") as ChildOrders;
const dieAt = work.kind === "restore" ? work.dieAt : Number.POSITIVE_INFINITY;
let changes = 0;
for (const name of ["renameSync", "unlinkSync"] as const) {
	const original = fs[name] as (...args: unknown[]) => void;
	(fs as unknown as Record<string, unknown>)[name] = (...args: unknown[]) => {
		if (String(args.at(-1)).startsWith(`${folder}/`) && ++changes === dieAt)
			process.kill(process.pid, "SIGKILL");
		original.apply(fs, args);
	};
}
syncBuiltinESMExports();
await import("../../src/checkpoints/worker.ts");
