import { expect, test } from "vitest";
import { toAttachments, toResult } from "./result.ts";

const hide = (text: string): string => text.replaceAll("hunter2value99", "***");

test.each([
	["the beginning of the part that is left out", 20_000 - 10, 40_000],
	["its end", 40_000, 30_000 - 4],
])("a secret at %s leaves no part of itself", (_, before, after) => {
	const text = `${"a".repeat(before)}hunter2value99${"b".repeat(after)}`;
	const shown = [
		toResult({ content: [{ type: "text", text }] }, hide),
		toAttachments({ contents: [{ uri: "file:x", text }] }, hide),
	];
	for (const { content } of shown) {
		expect(content).toMatch(/characters left out/);
		expect(content).not.toMatch(/hunter|value/);
	}
});

test("I12: names of resources are cut after hiding", () => {
	const secret = "hunter2value99";
	for (let before = 220; before <= 240; before++) {
		const name = `${"n".repeat(before)}${secret}`;
		const shown = [
			toResult({ content: [{ type: "resource_link", name, uri: "x:y" }] }, hide),
			toResult({ content: [{ type: "resource", resource: { uri: `x:/${name}`, blob: "" } }] }, hide),
			toAttachments({ contents: [{ uri: `x:/${name}`, blob: "" }] }, hide),
		];
		for (const { content } of shown) expect(JSON.stringify(content)).not.toMatch(/nh/);
	}
});
