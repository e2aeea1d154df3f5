// Keryx's own ids: UUIDs as 32 hex digits, ordered by time and, within a millisecond, by a count. New rows are then the last in every
// index, whose pages stay full.
import { randomBytes, randomFillSync } from "node:crypto";
import type { Clock } from "../time/index.ts";
import type { Ids } from "./store.ts";

export function systemIds(clock: Pick<Clock, "now">): Ids {
	const pool = new Uint8Array(4096);
	let used = pool.length;
	let last = -1;
	let time = "";
	let n = 0;
	let digits = "";
	let taken = 0;
	const bytes = (length: number): Uint8Array => {
		if (used + length > pool.length) {
			randomFillSync(pool);
			used = 0;
		}
		used += length;
		return pool.slice(used - length, used);
	};
	/** Many at a time: a buffer for each would cost more than the digits. */
	const hex = (length: number): string => {
		if (taken + length > digits.length) {
			digits = randomBytes(2048).toString("hex");
			taken = 0;
		}
		taken += length;
		return digits.slice(taken - length, taken);
	};
	return {
		bytes,
		uuid: () => {
			const random = hex(16);
			const at = clock.now();
			if (at !== last) {
				last = at;
				n = 0;
				time = at.toString(16).padStart(12, "0");
			} else n = (n + 1) % 0x1000;
			// More than fit into a millisecond are in no order, and still differ.
			const count = n.toString(16).padStart(3, "0");
			return `${time}7${count}${"89ab"[Number.parseInt(random[0] as string, 16) & 3]}${random.slice(1)}`;
		},
	};
}
