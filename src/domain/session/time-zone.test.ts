import { describe, expect, test } from "vitest";
import { isTimeZone, offsetAt } from "./time-zone.ts";

const MINUTE = 60_000;

describe("isTimeZone", () => {
	test.each([
		"UTC",
		"Europe/Berlin",
		"Asia/Kolkata",
		"Asia/Calcutta",
		"America/Argentina/Ushuaia",
		"Etc/GMT+5",
	])("%s is a zone", (name) => expect(isTimeZone(name)).toBe(true));

	test.each(["", " ", "Mars/Olympus", "+05:30", "-03", "Europe/Berlin ", "UTC+1", "../UTC"])(
		"%j is none",
		(name) => expect(isTimeZone(name)).toBe(false),
	);
});

describe("offsetAt", () => {
	test.each([
		["UTC", "2026-07-01T00:00:00Z", 0],
		["Europe/Berlin", "2026-01-01T00:00:00Z", 60],
		["Europe/Berlin", "2026-07-01T00:00:00Z", 120],
		["America/St_Johns", "2026-01-01T00:00:00Z", -210],
		["Asia/Kathmandu", "2026-01-01T00:00:00Z", 345],
		["Australia/Lord_Howe", "2026-01-01T00:00:00Z", 660],
		["Australia/Lord_Howe", "2026-07-01T00:00:00Z", 630],
		["Pacific/Kiritimati", "2026-01-01T00:00:00Z", 840],
		["Africa/Monrovia", "1971-01-01T00:00:00Z", -44.5],
	])("%s at %s is %d minutes from UTC", (zone, at, minutes) =>
		expect(offsetAt(Date.parse(at), zone)).toBe(minutes * MINUTE),
	);

	test("an offset changes at the very millisecond of the transition", () => {
		const change = Date.parse("2026-03-29T01:00:00Z");
		expect(offsetAt(change - 1, "Europe/Berlin")).toBe(60 * MINUTE);
		expect(offsetAt(change, "Europe/Berlin")).toBe(120 * MINUTE);
	});

	test("more zones than the memo holds still get their own offsets", () => {
		const zones = Intl.supportedValuesOf("timeZone").slice(0, 150);
		const at = Date.parse("2026-07-01T00:00:00Z");
		const first = zones.map((zone) => offsetAt(at, zone));
		expect(zones.map((zone) => offsetAt(at, zone))).toEqual(first);
		expect(new Set(first).size).toBeGreaterThan(10);
	});
});
