// When a failed server is tried again. Each has its own count, so that one that cannot start costs the others nothing. Pure.

/** Failures in a row after which the breaker opens. */
const MOST_FAILURES = 5;
const FIRST_WAIT_MS = 1000;
const OPEN_MS = 300_000;
/** A connection that held this long was good: earlier failures no longer count. */
export const GOOD_AFTER_MS = 60_000;

export interface Restart {
	/** waiting: for the next try, soon. broken: the breaker is open, and one try follows much later. */
	readonly kind: "waiting" | "broken";
	readonly ms: number;
}

/** `failures`: in a row, this one included. */
export function decideRestart(failures: number): Restart {
	if (failures > MOST_FAILURES) return { kind: "broken", ms: OPEN_MS };
	return { kind: "waiting", ms: FIRST_WAIT_MS * 2 ** (failures - 1) };
}
