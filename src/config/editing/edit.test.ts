import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { editConfig, writtenValue } from "./edit.ts";

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

	test("lines that do not change keep their form, whatever it is", () => {
		const odd =
			"http:   {port: 1}\n\n\nauth:\n    telegram: {allow: ['7',  \"8\"]}   # us\nagent:\n    kind:   offline\n";
		expect(editConfig(odd, { "agent.kind": "ai-sdk", "agent.model": "x" })).toBe(
			odd.replace("    kind:   offline\n", "  kind: ai-sdk\n  model: x\n"),
		);
		const windows = "# mine\r\nagent:\r\n  kind: offline\r\n";
		expect(editConfig(windows, { "agent.kind": "acp" })).toBe(windows.replace("offline", "acp"));
	});

	test("what was put in and taken out again leaves nothing behind, unless somebody wrote about it", () => {
		const odd = "# mine\nhttp: {port: 0}   # any\n";
		const put = editConfig(odd, { "session_reset.mode": "idle", "channels.a.platform": "fax" });
		expect(editConfig(put, { "session_reset.mode": undefined, "channels.a.platform": undefined })).toBe(odd);
		const original = "# mine\nhttp:\n  port: 0\n# how it ends\nsession_reset:\n  mode: idle\n";
		const after = editConfig(original, { "session_reset.mode": undefined });
		expect(after).toContain("# how it ends\nsession_reset: {}\n");
		expect(editConfig(after, { "session_reset.mode": "idle" })).toBe(original);
		expect(editConfig("{}\n", { "agent.kind": "x" })).toBe("agent:\n  kind: x\n");
	});

	test("a section that is named and left empty is filled; an alias is refused with what to do", () => {
		expect(parse(editConfig("agent:\n", { "agent.kind": "x" }))).toEqual({ agent: { kind: "x" } });
		expect(() => editConfig("a: &a\n  x: 1\nagent: *a\n", { "agent.kind": "x" })).toThrow(
			/agent.kind is written/,
		);
	});

	test("what is written is found again", () => {
		expect(writtenValue(BEFORE, "session_reset.idle_minutes")).toBe(60);
		expect(writtenValue(BEFORE, "session_reset.at_hour")).toBe(undefined);
		expect(writtenValue(BEFORE, "agent.kind.x")).toBe(undefined);
		expect(writtenValue("", "agent.kind")).toBe(undefined);
	});

	test("what is no configuration is left alone", () => {
		for (const text of ["- a list\n", "a: [\n", "just text\n"])
			expect(() => editConfig(text, { "agent.kind": "x" })).toThrow(/not valid YAML/);
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
