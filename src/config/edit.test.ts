import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { editConfig } from "./edit.ts";

const BEFORE = `# My Keryx.
session_reset:
  idle_minutes: 60 # an hour
agent:
  # what answers
  kind: offline
  instructions: |
    Be kind.
    Be brief.
`;

describe("editing config.yaml", () => {
	test("only what changes is touched: comments, order and long texts stay", () => {
		const after = editConfig(BEFORE, { "agent.kind": "ai-sdk", "agent.provider": "ollama" });
		expect(after).toBe(BEFORE.replace("kind: offline", "kind: ai-sdk").concat("  provider: ollama\n"));
	});

	test("a key that is taken out is gone, one that is not there is no matter", () => {
		const after = editConfig(BEFORE, { "agent.kind": undefined, "agent.base_url": undefined });
		expect(parse(after).agent).toEqual({ instructions: "Be kind.\nBe brief.\n" });
	});

	test("an empty or missing file becomes a right one", () => {
		expect(editConfig("", { "agent.kind": "ai-sdk" })).toBe("agent:\n  kind: ai-sdk\n");
		expect(editConfig("# nothing yet\n", { "agent.kind": "x" })).toContain("# nothing yet");
	});

	test("what is no configuration is left alone", () => {
		for (const text of ["- a list\n", "a: [\n", "just text\n"])
			expect(() => editConfig(text, { "agent.kind": "x" })).toThrow(/not right YAML/);
	});

	test("whatever is written is read back", () => {
		fc.assert(
			fc.property(fc.string({ unit: "grapheme" }), (value) => {
				const after = editConfig(BEFORE, { "agent.model": value });
				expect(parse(after)).toEqual({ ...parse(BEFORE), agent: { ...parse(BEFORE).agent, model: value } });
			}),
		);
	});
});
