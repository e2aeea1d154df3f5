import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isSessionId, newSessionId } from "./session-id.ts";

describe("newSessionId", () => {
	test("is the UTC time and eight hex digits", () => {
		const at = Date.parse("2026-03-09T04:05:06.789Z");
		expect(newSessionId(at, () => Uint8Array.of(0, 10, 255, 128))).toBe("20260309_040506_000aff80");
	});

	test("asks for exactly the bytes it uses", () => {
		const asked: number[] = [];
		newSessionId(0, (bytes) => {
			asked.push(bytes);
			return new Uint8Array(bytes);
		});
		expect(asked).toEqual([4]);
	});

	test("every id made is a session id, and ids sort by time", () => {
		const time = fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) });
		fc.assert(
			fc.property(time, time, fc.uint8Array({ minLength: 4, maxLength: 4 }), (a, b, bytes) => {
				const [first, second] = [
					newSessionId(Math.min(a, b), () => bytes),
					newSessionId(Math.max(a, b), () => bytes),
				];
				expect(isSessionId(first)).toBe(true);
				expect(first <= second).toBe(true);
			}),
		);
	});

	test.each([Number.NaN, -1, Date.UTC(10_000, 0, 1)])("a time of %d is refused", (now) =>
		expect(() => newSessionId(now, (n) => new Uint8Array(n))).toThrow(/now must be a time/),
	);
});

test.each([
	"20260309_040506_000aff8",
	"20260309_040506_000AFF80",
	"20260309_040506_000aff80\n",
	"../60309_040506_000aff80",
	"20260309-040506-000aff80",
	"",
	null,
	20260309,
])("%j is no session id", (value) => expect(isSessionId(value)).toBe(false));
