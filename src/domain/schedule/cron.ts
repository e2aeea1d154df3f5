// Cron patterns as wall times, without a zone. croner knows the calendar; `next.ts` applies the zone, because croner skips listed times
// in a gap ("0 2,14 * * *" in spring), and runs them twice in autumn.
import { Cron } from "croner";
import { KeryxError } from "../../errors.ts";

const MOST_KEPT = 256;
const kept = new Map<string, Cron>();

/** The first wall time of the pattern after the given one, in naive milliseconds; null: there is none. Throws schedule.invalid. */
export function walls(pattern: string): (after: number) => number | null {
	const cron = parsed(pattern);
	return (after) => cron.nextRun(new Date(after))?.getTime() ?? null;
}

/** Whether a pattern runs in every hour of its days. Such a job goes by elapsed time; any other names times of day. */
export function isEveryHour(pattern: string): boolean {
	const fields = fieldsOf(pattern);
	const hour = fields[fields.length - 4] as string;
	return hour === "*" || hour === "*/1" || hour === "0-23";
}

/** Both a day of the month and a day of the week: either one is enough, which few people expect. */
export function mixesDays(pattern: string): boolean {
	const [day, , weekday] = fieldsOf(pattern).slice(-3) as [string, string, string];
	return day !== "*" && weekday !== "*" && !weekday.startsWith("+");
}

function parsed(pattern: string): Cron {
	const known = kept.get(pattern);
	if (known) return known;
	const made = parse(pattern);
	if (kept.size >= MOST_KEPT) kept.clear();
	kept.set(pattern, made);
	return made;
}

function parse(pattern: string): Cron {
	const count = fieldsOf(pattern).length;
	if (count !== 5 && count !== 6) throw invalid(pattern, `it has ${count} fields instead of five or six`);
	// croner replaces it by the time at which the pattern is read.
	if (pattern.includes("?")) throw invalid(pattern, "? is not allowed; use *");
	try {
		// Without a function to call, it never sets a timer.
		return new Cron(pattern, { utcOffset: 0, mode: "5-or-6-parts" });
	} catch (error) {
		const why = error instanceof Error ? error.message.replace(/^CronPattern: /, "") : String(error);
		throw invalid(pattern, why);
	}
}

function fieldsOf(pattern: string): string[] {
	return pattern.trim().split(/\s+/);
}

function invalid(pattern: string, why: string): KeryxError {
	return new KeryxError("schedule.invalid", `${JSON.stringify(pattern)} is not a cron pattern: ${why}`, {
		field: "when",
		hint: "five fields: minute hour day month weekday, such as 0 9 * * 1-5",
	});
}
