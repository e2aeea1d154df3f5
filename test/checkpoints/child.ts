// Takes, prunes or restores until somebody kills it; or kills itself at a given step of a restore.
import "../support/keep-compiled.ts";
import fs from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CheckpointSettings } from "../../src/checkpoints/index.ts";

export interface ChildOrders {
	readonly folder: string;
	readonly store: string;
	readonly home: string;
	readonly settings: CheckpointSettings;
	readonly work:
		| { readonly kind: "take" }
		| { readonly kind: "prune" }
		/** Dies before the change of a file that has this number. */
		| { readonly kind: "restore"; readonly id: string; readonly dieAt: number };
}

const orders = JSON.parse(process.argv[2] ?? "") as ChildOrders;
// Files are put back in a thread, which dies with everybody else.
process.env.KERYX_TEST_ORDERS = JSON.stringify(orders);
if (orders.work.kind === "restore")
	process.env.KERYX_CHECKPOINTS_THREAD = fileURLToPath(new URL("./dying-thread.ts", import.meta.url));

// After that: what is imported now uses that thread.
const { createCheckpoints } = await import("../../src/checkpoints/index.ts");
const { NO_SECRETS, openStore, systemClock, systemIds } = await import("../../src/store/index.ts");

const store = await openStore({
	url: `sqlite:${orders.store}`,
	clock: systemClock,
	ids: systemIds(systemClock),
	secrets: NO_SECRETS,
});
const checkpoints = createCheckpoints({
	home: orders.home,
	store,
	clock: systemClock,
	settings: () => orders.settings,
});
process.stdout.write("ready\n");

switch (orders.work.kind) {
	case "take":
		for (let n = 0; ; n++) {
			fs.writeFileSync(join(orders.folder, `file-${n % 7}.txt`), `${process.pid} ${n}\n`.repeat(500));
			say(await checkpoints.take({ workspace: orders.folder, label: `${n}` }));
		}
	case "prune":
		for (let n = 0; ; n++) {
			fs.writeFileSync(join(orders.folder, `file-${n % 7}.txt`), `${process.pid} ${n}\n`.repeat(500));
			say(await checkpoints.take({ workspace: orders.folder, label: `${n}` }));
			await checkpoints.prune(orders.folder);
		}
	case "restore":
		await checkpoints.restore(orders.folder, orders.work.id);
		process.stdout.write("restored\n");
		process.exit(0);
}

function say(outcome: { readonly kind: string; readonly id?: string; readonly reason?: string }): void {
	process.stdout.write(`${outcome.kind} ${outcome.id ?? outcome.reason}\n`);
}
