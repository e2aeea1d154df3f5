// Keryx's own ids: time-ordered UUIDs as 32 hex digits, so that new rows are adjacent in every index.
import { randomFillSync } from "node:crypto";
import type { Clock } from "../time/index.ts";
import type { Ids } from "./store.ts";

export function systemIds(clock: Pick<Clock, "now">): Ids {
	const pool = new Uint8Array(4096);
	let used = pool.length;
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
			const random = Buffer.from(bytes(10)).toString("hex");
			const time = clock.now().toString(16).padStart(12, "0");
			return `${time}7${random.slice(0, 3)}${"89ab"[Number.parseInt(random[3] as string, 16) & 3]}${random.slice(4, 19)}`;
		},
	};
}
