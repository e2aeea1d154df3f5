// Every change of the clock that the runtime knows from 1990 to 2040, in every zone, against a wall clock that is read minute by minute
// and knows nothing of croner, gaps or offsets. `npm test` takes a sample; `npm run test:crash` takes all.
import fc from "fast-check";
import { expect, test } from "vitest";
import { firstInstant, nextInstant } from "../../src/domain/index.ts";
import { SEED } from "../support/seed.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const FROM = Date.UTC(1990, 0, 1);
const TO = Date.UTC(2040, 11, 31);
const AROUND = 27 * HOUR;
const ALL = process.env.KERYX_ZONES === "all";
const ZONES = Intl.supportedValuesOf("timeZone");

const clocks = new Map<string, Intl.DateTimeFormat>();

/** Read off the runtime's clock for that zone. */
function offsetAt(instant: number, zone: string): number {
	let clock = clocks.get(zone);
	if (!clock) {
		clock = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "medium" });
		clocks.set(zone, clock);
	}
	return Date.parse(`${clock.format(instant).replace(" ", "T")}Z`) - Math.floor(instant / 1000) * 1000;
}

interface Change {
	readonly zone: string;
	readonly at: number;
	readonly before: number;
	readonly after: number;
}

/** A pattern as the test reads it: sets of allowed values, null for any. */
interface Fields {
	readonly minute: readonly number[] | null;
	readonly hour: readonly number[] | null;
	readonly day: readonly number[] | null;
	readonly month: readonly number[] | null;
	readonly weekday: readonly number[] | null;
}

function changesOf(zone: string): Change[] {
	const found: Change[] = [];
	let before = offsetAt(FROM, zone);
	for (let at = FROM; at < TO; at += 12 * HOUR) {
		const after = offsetAt(at + 12 * HOUR, zone);
		if (after === before) continue;
		let [early, late] = [at, at + 12 * HOUR];
		while (late - early > 1) {
			const middle = Math.floor((early + late) / 2);
			if (offsetAt(middle, zone) === before) early = middle;
			else late = middle;
		}
		found.push({ zone, at: late, before, after });
		before = after;
	}
	return found;
}

function text({ minute, hour, day, month, weekday }: Fields): string {
	return [minute, hour, day, month, weekday].map((field) => field?.join(",") ?? "*").join(" ");
}

function shows(fields: Fields, wall: number): boolean {
	const has = (field: readonly number[] | null, value: number) => field === null || field.includes(value);
	if (!has(fields.minute, (wall / MINUTE) % 60) || !has(fields.hour, Math.floor(wall / HOUR) % 24))
		return false;
	const date = new Date(wall);
	if (!has(fields.month, date.getUTCMonth() + 1)) return false;
	const isDay = has(fields.day, date.getUTCDate());
	const isWeekday = has(fields.weekday, date.getUTCDay());
	return fields.day !== null && fields.weekday !== null ? isDay || isWeekday : isDay && isWeekday;
}

/** When a job would run whose clock is looked at once a minute. */
function bruteForce(fields: Fields, { at, before, after }: Change, around: number): number[] {
	const fired: number[] = [];
	const local = (instant: number) => instant + (instant < at ? before : after);
	/** The latest time that the clock has shown. */
	let shown = local(at - around) - MINUTE;
	const dates = new Set<number>();
	for (let instant = at - around; instant < at + around; instant += MINUTE)
		dates.add(Math.floor(local(instant) / DAY));
	for (let instant = at - around; instant < at + around; instant += MINUTE) {
		const now = local(instant);
		if (fields.hour === null) {
			if (shows(fields, now)) fired.push(instant);
			continue;
		}
		let reached = false;
		// Times that the clock reaches, or has jumped over.
		for (let wall = shown + MINUTE; wall <= now; wall += MINUTE)
			if (shows(fields, wall) && dates.has(Math.floor(wall / DAY))) reached = true;
		shown = Math.max(shown, now);
		if (reached) fired.push(instant);
	}
	return fired;
}

function computed(fields: Fields, { zone, at }: Change, around: number): number[] {
	const timing = { when: { kind: "cron", pattern: text(fields) }, zone } as const;
	const fired: number[] = [];
	let next = firstInstant(timing, at - around - 1);
	while (next !== null && next < at + around) {
		fired.push(next);
		next = nextInstant(timing, next);
	}
	return fired;
}

/** Jobs that the change could go wrong for: at its edges, within it, and away from it. */
function jobsAt({ at, before, after }: Change): Fields[] {
	const any = { minute: null, hour: null, day: null, month: null, weekday: null };
	const [from, to] = [at + Math.min(before, after), at + Math.max(before, after)];
	const middle = Math.floor((from + to) / 2 / MINUTE) * MINUTE;
	const of = (wall: number) => new Date(wall);
	const daily = (wall: number) => ({
		...any,
		minute: [of(wall).getUTCMinutes()],
		hour: [of(wall).getUTCHours()],
	});
	const inside = of(middle);
	return [
		daily(from - MINUTE),
		daily(from),
		daily(middle),
		daily(to - MINUTE),
		daily(to),
		{ ...daily(middle), day: [inside.getUTCDate()], month: [inside.getUTCMonth() + 1] },
		{ ...daily(middle), weekday: [inside.getUTCDay()] },
		{ ...any, minute: [0, 30], hour: [inside.getUTCHours(), (inside.getUTCHours() + 12) % 24] },
		{ ...any, minute: [0], hour: [9], weekday: [1, 2, 3, 4, 5] },
	];
}

function check(change: Change): void {
	for (const fields of jobsAt(change))
		expect({ ...change, job: text(fields), fires: computed(fields, change, AROUND) }).toEqual({
			...change,
			job: text(fields),
			fires: bruteForce(fields, change, AROUND),
		});
	for (const minute of [[0, 30], [15]]) {
		const fields = { minute, hour: null, day: null, month: null, weekday: null };
		const around = 3 * HOUR + Math.abs(change.after - change.before);
		expect({ ...change, job: text(fields), fires: computed(fields, change, around) }).toEqual({
			...change,
			job: text(fields),
			fires: bruteForce(fields, change, around),
		});
	}
}

test("every job runs exactly when a wall clock says so, at every change of the clock from 1990 to 2040", {
	timeout: 7_200_000,
}, () => {
	const zones = ALL ? ZONES : fc.sample(fc.constantFrom(...ZONES), { numRuns: 12, seed: SEED });
	let changes = 0;
	for (const zone of zones) {
		const all = changesOf(zone);
		const some =
			ALL || all.length === 0 ? all : fc.sample(fc.constantFrom(...all), { numRuns: 8, seed: SEED });
		for (const change of some) check(change);
		changes += some.length;
	}
	console.log(`${zones.length} zones, ${changes} changes of the clock, ${changes * 11} jobs checked`);
	expect(changes).toBeGreaterThan(ALL ? 10_000 : 20);
});

test("dates that exist in few years, and in no other, are met in every zone from 1990 to 2040", {
	timeout: 7_200_000,
}, () => {
	const zones = ALL ? ZONES : fc.sample(fc.constantFrom(...ZONES), { numRuns: 4, seed: SEED });
	const jobs: Fields[] = [
		{ minute: [30], hour: [2], day: [29], month: [2], weekday: null },
		{ minute: [0], hour: [0], day: [31], month: null, weekday: null },
	];
	let runs = 0;
	for (const zone of zones)
		for (const fields of jobs) {
			const expected: number[] = [];
			for (let day = FROM; day < TO; day += DAY) {
				const wall = day + (fields.hour?.[0] ?? 0) * HOUR + (fields.minute?.[0] ?? 0) * MINUTE;
				if (!shows(fields, wall)) continue;
				let at = wall - 15 * HOUR;
				while (at + offsetAt(at, zone) < wall) at += 15 * MINUTE;
				// A zone that skipped the whole day has no such time.
				if (at + offsetAt(at, zone) < day + DAY) expected.push(at);
			}
			const timing = { when: { kind: "cron", pattern: text(fields) }, zone } as const;
			const fired: number[] = [];
			for (let at = firstInstant(timing, FROM - 1); at !== null && at < TO; at = nextInstant(timing, at))
				fired.push(at);
			const inside = (at: number) => at > FROM + DAY && at < TO - DAY;
			expect({ zone, job: text(fields), fires: fired.filter(inside) }).toEqual({
				zone,
				job: text(fields),
				fires: expected.filter(inside),
			});
			runs += fired.length;
		}
	console.log(`${zones.length} zones, ${runs} runs`);
});
