// Time and ids that only a test moves.
import type { Ids } from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";
import { createVirtualClock } from "../virtual-clock.ts";

/** The wall clock alone, which is all that a store looks at. */
export interface WallClock extends Pick<Clock, "now"> {
	advance(ms: number): void;
	set(at: number): void;
}

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

/** Noon in UTC, far from every daily boundary. */
export const NOON = Date.UTC(2026, 2, 10, 12);

export function createWallClock(start: number = NOON): WallClock {
	const { now, jump } = createVirtualClock(start);
	return { now, advance: jump, set: (to) => jump(to - now()) };
}

/** Ids that are the same in every run, and unique within one. */
export function countedIds(): Ids {
	let drawn = 0;
	return {
		uuid: () => (++drawn).toString(16).padStart(32, "0"),
		bytes: (length) => {
			const bytes = new Uint8Array(length);
			new DataView(bytes.buffer).setUint32(Math.max(0, length - 4), ++drawn);
			return bytes;
		},
	};
}
