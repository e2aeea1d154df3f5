import { expect, test } from "vitest";
import { isZombieOf } from "./processes.ts";

test.each([
	["7 (sh) Z 1 7 7 0 -1", true],
	["7 (a) Z 1 (b) S 1 7 7 0 -1", false],
	["7 (x) y) Z 1 7 7 0 -1", true],
	["7 (sh) Z 12 7 7 0 -1", false],
	["7 (sh) S 1 7 7 0 -1", false],
	["", false],
])("of %j it is %s that process 1 has not collected it", (stat, expected) => {
	expect(isZombieOf(stat, 1)).toBe(expected);
});
