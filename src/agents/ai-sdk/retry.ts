// How long to wait before the next attempt.

const FIRST_MS = 500;
const LONGEST_MS = 20_000;
/** A longer requested pause is not waited for within a step. */
export const LONGEST_PAUSE_MS = 60_000;

/** Doubles each time, with jitter; at least what the provider asked for. */
export function pauseBefore(attempt: number, retryAfterMs: number | undefined, random: () => number): number {
	const backoff = Math.min(FIRST_MS * 2 ** attempt, LONGEST_MS);
	const jittered = backoff * (0.5 + random() / 2);
	return Math.round(retryAfterMs === undefined ? jittered : retryAfterMs + jittered / 2);
}

/** The pause the provider asked for, in its headers or body. */
export function retryAfter(
	headers: Readonly<Record<string, string>>,
	body: string,
	now: number,
): number | undefined {
	const ms = Number(headers["retry-after-ms"] ?? Number.NaN);
	if (ms >= 0) return Math.round(ms);
	const given = headers["retry-after"];
	if (given !== undefined) {
		const seconds = Number(given);
		const until = seconds >= 0 ? seconds * 1000 : Date.parse(given) - now;
		if (!Number.isNaN(until)) return Math.max(0, Math.round(until));
	}
	const delay = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body);
	return delay ? Math.round(Number(delay[1]) * 1000) : undefined;
}
