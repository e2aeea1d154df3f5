import { expect, test } from "vitest";
import { describeDuration } from "./duration.ts";

const HOUR = 3_600_000;

test.each([
	[-5, "0 s"],
	[0, "0 s"],
	[59_999, "59 s"],
	[60_000, "1 min"],
	[2 * HOUR - 1, "119 min"],
	[2 * HOUR, "2 h"],
	[26 * HOUR, "26 h"],
	[27 * HOUR - 1, "26 h"],
	[48 * HOUR - 1, "47 h"],
	[48 * HOUR, "2 days"],
	[100 * HOUR, "4 days"],
])("%d ms reads %s", (ms, text) => expect(describeDuration(ms)).toBe(text));
