// Keryx's own ids: UUIDs as 32 hex digits, ordered by time and, within a millisecond, by a count. New rows are then the last in every
// index, whose pages stay full.
import { randomFillSync } from "node:crypto";
import type { Clock } from "../time/index.ts";
import type { Ids } from "./store.ts";

export function systemIds(clock: Pick<Clock, "now">): Ids {
	const pool = new Uint8Array(4096);
	let used = pool.length;
	let last = { at: 0, n: 0 };
	const bytes = (length: number): Uint8Array => {
		if (used + length > pool.length) {
			randomFillSync(pool);
			used = 0;
		}
		used += length;
		return pool.slice(used - length, used);
	};
	return {
		bytes,
		uuid: () => {
			const random = Buffer.from(bytes(8)).toString("hex");
			const at = clock.now();
			// More than fit into a millisecond are in no order, and still differ.
			last = { at, n: at === last.at ? (last.n + 1) % 0x1000 : 0 };
			const time = at.toString(16).padStart(12, "0");
			const count = last.n.toString(16).padStart(3, "0");
			return `${time}7${count}${"89ab"[Number.parseInt(random[0] as string, 16) & 3]}${random.slice(1)}`;
		},
	};
}
