// Describes when a job runs, unambiguously: with date, time and zone.
import {
	firstInstant,
	instantsAfter,
	isEveryHour,
	localTime,
	mixesDays,
	nextZoneChange,
	type Timing,
	type When,
	wallTime,
} from "../domain/index.ts";

const DAY = 86_400_000;
const MINUTE = 60_000;
const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = [
	"January",
	"February",
	"March",
	"April",
	"May",
	"June",
	"July",
	"August",
	"September",
	"October",
	"November",
	"December",
];

/** "every weekday at 09:00 (Europe/Berlin)". */
export function describeTiming({ when, zone }: Timing): string {
	return `${inWords(when, zone)} (${zone})`;
}

/** "Tuesday 17 November 2026, 09:00", as clocks of the zone show it. */
export function localWords(instant: number, zone: string): string {
	return wallWords(localTime(instant, zone));
}

function inWords(when: When, zone: string): string {
	switch (when.kind) {
		case "once":
			return `once, on ${localWords(when.at, zone)}`;
		case "wall":
			return `once, on ${wallWords(wallTime(when.at))}`;
		case "every":
			return `every ${spanWords(when.seconds)}, counted in elapsed time`;
		case "cron":
			return cronWords(when.pattern);
	}
}

export function spanWords(seconds: number): string {
	for (const [unit, size] of [
		["day", 86_400],
		["hour", 3600],
		["minute", 60],
	] as const)
		if (seconds % size === 0) return seconds === size ? unit : `${seconds / size} ${unit}s`;
	return seconds === 1 ? "second" : `${seconds} seconds`;
}

function cronWords(pattern: string): string {
	const fields = pattern.split(" ");
	const [minute, hour, day, month, weekday] = fields.slice(-5) as [string, string, string, string, string];
	const seconds = fields.length === 6 ? fields[0] : "0";
	const plain = seconds === "0" && month === "*" && /^\d+$/.test(minute);
	if (plain && /^\d+$/.test(hour)) {
		const time = `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
		if (day === "*") return `${weekdayWords(weekday)} at ${time}`;
		if (/^\d+$/.test(day) && weekday === "*") return `every month on day ${day} at ${time}`;
	}
	if (plain && isEveryHour(pattern) && day === "*" && weekday === "*")
		return minute === "0" ? "every hour, on the hour" : `every hour, ${minute} minutes past`;
	return `at the times of the cron pattern ${pattern}${mixesDays(pattern) ? ", on its days of the month and also on its weekdays" : ""}`;
}

function weekdayWords(field: string): string {
	if (field === "*") return "every day";
	if (field === "1-5") return "every weekday, Monday to Friday,";
	if (/^[0-7](,[0-7])*$/.test(field))
		return `every ${field
			.split(",")
			.map((day) => WEEKDAYS[Number(day) % 7])
			.join(" and ")}`;
	return `on weekdays ${field}`;
}

function wallWords(wall: number): string {
	const date = new Date(wall);
	const time = date.toISOString().slice(11, wall % MINUTE === 0 ? 16 : 19);
	return `${WEEKDAYS[date.getUTCDay()]} ${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}, ${time}`;
}

/** The effect of the next clock change on a job; null: none within a year. */
export function nextChangeWords(
	timing: Timing,
	now: number,
): { readonly at: number; readonly text: string } | null {
	const { when, zone } = timing;
	const change = nextZoneChange(now, zone);
	if (!change) return null;
	const [from, to] = [change.at + change.before, change.at + change.after];
	const forward = to > from;
	const turned = `On ${wallWords(from)} the clock goes ${forward ? "forward" : "back"} to ${hourOf(to)}.`;
	if (when.kind === "every" || when.kind === "once")
		return { at: change.at, text: `${turned} The job does not change: it counts elapsed time.` };
	const first = firstInstant(timing, now);
	if (when.kind === "wall" && (first === null || first < change.at - DAY || first > change.at + DAY))
		return { at: change.at, text: `${turned} The job does not run around then.` };
	if (when.kind === "cron" && isEveryHour(when.pattern))
		return { at: change.at, text: `${turned} The job goes on in elapsed time, through both.` };
	const runs = instantsAfter(timing, Math.max(now, change.at - 1), 1);
	const moved = forward ? walled(timing, from, to) : null;
	if (moved !== null)
		return {
			at: change.at,
			text: `${turned} ${hourOf(moved)} does not exist that day: the job runs at ${hourOf(to)}.`,
		};
	const repeated = forward ? null : walled(timing, to, from);
	if (repeated !== null)
		return {
			at: change.at,
			text: `${turned} ${hourOf(repeated)} comes twice that day: the job runs once, the first time.`,
		};
	const next = runs[0];
	const after = next === undefined ? "" : ` The first run after it is on ${localWords(next, zone)}.`;
	return { at: change.at, text: `${turned} The job keeps its time of day.${after}` };
}

/** The job's first time between two wall times of one day, ignoring zones. */
function walled({ when }: Timing, from: number, to: number): number | null {
	const [wall] = instantsAfter({ when, zone: "UTC" }, from - 1, 1);
	return wall !== undefined && wall < to ? wall : null;
}

function hourOf(wall: number): string {
	return new Date(wall).toISOString().slice(11, 16);
}
