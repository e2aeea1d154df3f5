import fc from "fast-check";
import { expect, test } from "vitest";
import type { RawPath } from "../names.ts";
import type { Step } from "./plan.ts";
import { readSteps, writeSteps } from "./step-text.ts";

const name = fc
	.string({ unit: fc.integer({ min: 1, max: 255 }).map((byte) => String.fromCharCode(byte)), minLength: 1 })
	.map((text) => text.replaceAll("/", "-"));
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/") as RawPath);
const file = fc.record({
	mode: fc.constantFrom("100644", "100755"),
	oid: fc.constantFrom("a".repeat(40), "0123456789".repeat(4)),
	permissions: fc.integer({ min: 0, max: 0o7777 }),
});
const entry = fc.oneof(
	fc.constant(null),
	file,
	fc.constantFrom({ mode: "120000", oid: "b".repeat(40) }, { mode: "large", oid: "12.345.6.33188" }),
);

test("steps are the same after they were written as text, whatever their paths hold", () => {
	fc.assert(
		fc.property(fc.array(fc.record({ path, now: entry, want: entry })), (steps: readonly Step[]) => {
			expect(readSteps(writeSteps(steps))).toEqual(steps);
		}),
	);
});
