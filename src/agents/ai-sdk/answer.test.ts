import { expect, test } from "vitest";
import { Answer } from "./answer.ts";

function call(toolCallId: string, input: string) {
	return { type: "tool-call", toolCallId, toolName: "echo", input } as const;
}

test("arguments are read as JSON; none are an empty object, and what is no JSON stays as it came", () => {
	const answer = new Answer({ history: [] });
	for (const [index, input] of ["", " ", '{"a":1}', "[1]", "{a"].entries())
		answer.take(call(`c${index}`, input));
	expect(answer.toolCalls.map(({ input }) => input)).toEqual([{}, {}, { a: 1 }, [1], "{a"]);
});

test("a call without an id gets one, and no two are alike", () => {
	const answer = new Answer({ history: [] });
	for (const id of ["", "", "x", "x", "x_2"]) answer.take(call(id, "{}"));
	const ids = answer.toolCalls.map(({ id }) => id);
	expect(new Set(ids).size).toBe(5);
	expect(ids[2]).toBe("x");
	expect(ids).not.toContain("");
});

test("what belongs to one block is put together, whatever comes between", () => {
	const answer = new Answer({ history: [] });
	answer.take({ type: "reasoning-start", id: "r", providerMetadata: { p: { a: 1 } } });
	answer.take({ type: "text-start", id: "t" });
	answer.take({ type: "reasoning-delta", id: "r", delta: "Hm" });
	answer.take({ type: "text-delta", id: "t", delta: "Yes" });
	answer.take({ type: "reasoning-delta", id: "r", delta: ".", providerMetadata: { p: { signature: "s" } } });
	answer.take({ type: "text-delta", id: "t", delta: "." });
	answer.take({ type: "text-end", id: "t" });
	answer.take({ type: "reasoning-end", id: "r" });
	expect(answer.text).toBe("Yes.");
	expect(answer.items()).toEqual([
		{ type: "reasoning", text: "Hm.", metadata: { p: { a: 1, signature: "s" } } },
		{ type: "text", length: 4 },
	]);
});
