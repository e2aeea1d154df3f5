// Times as ISO 8601 text in UTC. The same text as a Date's, in less than half the time: a page of a list has a hundred of them.

const DAY_MS = 86_400_000;
const TWO = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, "0"));
const THREE = Array.from({ length: 1000 }, (_, n) => String(n).padStart(3, "0"));

/** The last day asked for, and its text up to the T. */
let day = Number.NaN;
let date = "";

/** Throws a RangeError for anything a Date cannot hold. */
export function isoTime(at: number): string {
	const ms = Math.trunc(at);
	const days = Math.floor(ms / DAY_MS);
	if (days !== day) {
		const text = new Date(ms).toISOString();
		date = text.slice(0, text.indexOf("T") + 1);
		day = days;
	}
	const inDay = ms - days * DAY_MS;
	const seconds = Math.floor(inDay / 1000);
	const hour = TWO[Math.floor(seconds / 3600)];
	return `${date}${hour}:${TWO[Math.floor(seconds / 60) % 60]}:${TWO[seconds % 60]}.${THREE[inDay % 1000]}Z`;
}
