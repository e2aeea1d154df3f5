// Durations in words, for notices and the CLI.
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A span of time as people say it: "45 min", "26 h", "3 days". Rounded down, so that it never claims more than passed. */
export function describeDuration(ms: number): string {
	if (ms >= 2 * DAY) return `${Math.floor(ms / DAY)} days`;
	if (ms >= 2 * HOUR) return `${Math.floor(ms / HOUR)} h`;
	if (ms >= MINUTE) return `${Math.floor(ms / MINUTE)} min`;
	return `${Math.max(0, Math.floor(ms / SECOND))} s`;
}
