import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { finalLimitText, limitInfo, limitNote, nearLimitText, toWireLimitInfo } from "./limits.ts";

describe("limitInfo", () => {
	test("an unknown conversation has zeros", () => {
		expect(limitInfo(null, 200)).toEqual({
			messageCount: 0,
			maxMessages: 0,
			remaining: 0,
			nearLimit: false,
			atLimit: false,
			threshold: 0,
		});
	});

	test("without a limit nothing is ever near it", () => {
		expect(limitInfo(5000, 0)).toEqual({
			messageCount: 5000,
			maxMessages: 0,
			remaining: null,
			nearLimit: false,
			atLimit: false,
			threshold: 0,
		});
	});

	test("near begins at 85 percent, rounded down, without rounding errors", () => {
		fc.assert(
			fc.property(fc.integer({ min: 1, max: 1_000_000_000 }), (max) => {
				const near = Number((BigInt(max) * 85n) / 100n);
				expect(limitInfo(near, max).nearLimit).toBe(true);
				if (near > 0) expect(limitInfo(near - 1, max).nearLimit).toBe(false);
			}),
		);
	});

	test("a higher count never looks farther from the limit", () => {
		const count = fc.integer({ min: 0, max: 2000 });
		fc.assert(
			fc.property(count, count, fc.integer({ min: 1, max: 1000 }), (a, b, max) => {
				const [low, high] = [limitInfo(Math.min(a, b), max), limitInfo(Math.max(a, b), max)];
				expect(high.remaining as number).toBeLessThanOrEqual(low.remaining as number);
				expect(Number(high.nearLimit)).toBeGreaterThanOrEqual(Number(low.nearLimit));
				expect(Number(high.atLimit)).toBeGreaterThanOrEqual(Number(low.atLimit));
			}),
		);
	});
});

test("scenario 18: of 20 messages the one that would be row 17 is warned and row 20 is told it is the last", () => {
	const notes = Array.from({ length: 21 }, (_, rows) => limitNote(limitInfo(rows + 1, 20)));
	expect(notes.indexOf("near") + 1).toBe(17);
	expect(notes.indexOf("final") + 1).toBe(20);
	expect(notes.slice(16)).toEqual(["near", "near", "near", "final", "final"]);
});

test("the near note has the count, what remains, the rotation, and the advice to wrap up and save", () => {
	expect(nearLimitText(limitInfo(17, 20))).toMatch(/17 of 20; 3 remain.*new one begins.*Wrap up.*save/);
});

test("the final note says that this is the last response and asks for what was done and what is next", () => {
	expect(finalLimitText(limitInfo(20, 20))).toMatch(/last response.*20 messages.*done.*next/);
});

test("on the wire the names are snake_case", () => {
	expect(toWireLimitInfo(limitInfo(170, 200))).toEqual({
		message_count: 170,
		max_messages: 200,
		remaining: 30,
		near_limit: true,
		at_limit: false,
		threshold: 0.85,
	});
});
