import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { coversArguments, grantPatternProblem } from "./grant-pattern.ts";

describe("a grant's pattern", () => {
	test("covers each value on its own, with * for anything inside it", () => {
		const pattern = '{"command":"npm run *","background":false}';
		expect(coversArguments(pattern, { command: "npm run test", background: false })).toBe(true);
		expect(coversArguments(pattern, { command: "npm run ", background: false })).toBe(true);
		expect(coversArguments(pattern, { command: "npm ci", background: false })).toBe(false);
		expect(coversArguments(pattern, { command: "npm run test", background: true })).toBe(false);
	});

	test("never reaches across values: nothing may be said beside what it names", () => {
		const pattern = '{"path":"/tmp/*"}';
		expect(coversArguments(pattern, { path: '/tmp/a","mode":"777' })).toBe(true);
		expect(coversArguments(pattern, { path: "/tmp/a", mode: "777" })).toBe(false);
		expect(coversArguments('{"a":{"b":"*"}}', { a: { b: "x", c: "y" } })).toBe(false);
		expect(coversArguments('{"a":["*"]}', { a: ["x", "y"] })).toBe(false);
		expect(coversArguments('{"a":"*"}', { a: ["x"] })).toBe(false);
		expect(coversArguments('{"a":"*"}', { a: 1 })).toBe(true);
		expect(coversArguments('{"a":"1*"}', { a: 1 })).toBe(false);
	});

	test("of an earlier form covers nothing", () => {
		expect(coversArguments('{"path":"/tmp/*', { path: "/tmp/a" })).toBe(false);
		expect(coversArguments("*", { path: "/tmp/a" })).toBe(false);
	});

	test("is the arguments as JSON, or is refused in words", () => {
		expect(grantPatternProblem('{"command":"ls *"}')).toBeNull();
		for (const wrong of ["*", "ls", "[]", "null", '"x"', '{"a":'])
			expect(grantPatternProblem(wrong)).toContain("must be the arguments as JSON");
	});

	test("that is the arguments themselves covers them, and none with another name", () => {
		fc.assert(
			fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (details) => {
				const kept = JSON.parse(JSON.stringify(details)) as Record<string, unknown>;
				const pattern = JSON.stringify(kept);
				expect(coversArguments(pattern, kept)).toBe(true);
				expect(coversArguments(pattern, { ...kept, [`${Object.keys(kept).join("")}+`]: 1 })).toBe(false);
			}),
		);
	});
});
