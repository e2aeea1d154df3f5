import { describe, expect, test } from "vitest";
import type { KeryxError } from "../errors.ts";
import { checkScript, parseScript } from "./script.ts";

const YAML = `
rules:
  - when: weather
    steps:
      - { text: Looking., tools: [{ name: session_search, input: { query: weather } }] }
      - { chunks: ["It ", "rains."], chunk_delay_ms: 200 }
  - when: { regex: "^loop", flags: i }
    repeat: true
    steps: [{ tools: [{ name: echo }] }]
otherwise:
  - text: "{{input}}"
`;

function fault(read: () => unknown): KeryxError {
	try {
		read();
	} catch (error) {
		return error as KeryxError;
	}
	throw new Error("nothing was wrong with it");
}

describe("a script", () => {
	test("is read from YAML and from JSON alike", () => {
		const script = parseScript(YAML);
		expect(parseScript(JSON.stringify(script))).toEqual(script);
		expect(checkScript(script).rules.map(({ steps, repeat }) => [steps.length, repeat])).toEqual([
			[2, false],
			[1, true],
		]);
	});

	test.each([
		["rules: 3", "rules", "must be a list"],
		["[]", "script", "must be a map"],
		["", "script", "must be a map"],
		["rulez: []", "script", "rulez"],
		["rules: [{ when: a }]", "rules[0].steps", "must be a list"],
		["rules: [{ when: a, steps: [] }]", "rules[0].steps", "at least one step"],
		["rules: [{ when: { regex: '(' }, steps: [{}] }]", "rules[0].when", "regular expression"],
		["rules: [{ when: { regex: a, flags: qq }, steps: [{}] }]", "rules[0].when", "regular expression"],
		["rules: [{ when: 4, steps: [{}] }]", "rules[0].when", "text to find"],
		["otherwise: [{}, { delay_ms: -1 }]", "otherwise[1].delay_ms", "whole number from 0"],
		["otherwise: [{ delay_ms: soon }]", "otherwise[0].delay_ms", "whole number from 0"],
		["otherwise: [{ texd: a }]", "otherwise[0]", "texd"],
		["otherwise: [{ text: a, chunks: [b] }]", "otherwise[0].chunks", "combined with text"],
		["otherwise: [{ hang: true, throws: a }]", "otherwise[0].throws", "one way"],
		["otherwise: [{ fail: { kind: broken } }]", "otherwise[0].fail.kind", "must be one of rate_limited"],
		["otherwise: [{ hang: true, tools: [{ name: a }] }]", "otherwise[0].tools", "combined with hang"],
		["otherwise: [{ tools: [{ input: {} }] }]", "otherwise[0].tools[0].name", "must be text"],
		["otherwise: [{ usage: { input_tokens: 1.5 } }]", "otherwise[0].usage.input_tokens", "whole number"],
	])("that says %j is refused by the name of the field", (text, field, words) => {
		const error = fault(() => parseScript(text));
		expect(error).toMatchObject({ code: "script.invalid", field });
		expect(error.message).toContain(words);
	});

	test("that is no YAML is refused with line and column", () => {
		expect(fault(() => parseScript("rules: []\notherwise: [")).message).toMatch(/^line \d+, column \d+: /);
		expect(fault(() => parseScript("a: 1\na: 2")).message).toMatch(/^line 2, column 1: /);
	});
});
