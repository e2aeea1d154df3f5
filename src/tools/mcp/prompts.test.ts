import { expect, test } from "vitest";
import { promptArguments, readPrompt } from "./prompts.ts";

const takes = (...names: readonly string[]) => ({
	arguments: names.map((name) => ({ name, isRequired: true })),
});

test("a prompt is asked for by server and name", () => {
	expect(readPrompt("/files:summary path=a.txt")).toEqual({
		server: "files",
		prompt: "summary",
		rest: "path=a.txt",
	});
	expect(readPrompt("/files:summary")).toMatchObject({ rest: "" });
	for (const text of ["/help", "/usr/bin is full", "files:summary", "/Files:x", "look at /files:summary"])
		expect(readPrompt(text), text).toBe(null);
});

test("arguments by name, in quotes where they have spaces; one alone needs no name", () => {
	expect(promptArguments(takes("city", "state"), 'city="New York" state=NY other=x')).toEqual({
		city: "New York",
		state: "NY",
	});
	expect(promptArguments(takes("topic"), "all about tea")).toEqual({ topic: "all about tea" });
	expect(promptArguments(takes("topic"), "topic=tea")).toEqual({ topic: "tea" });
	expect(promptArguments(takes(), "whatever")).toEqual({});
});
