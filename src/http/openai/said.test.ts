// What a client of the streaming endpoints receives of an answer that is missed in part, or begun again.
import { expect, test } from "vitest";
import { Said } from "./said.ts";

function heard(...deltas: readonly (readonly [offset: number, text: string])[]): {
	said: Said;
	text: string;
} {
	const said = new Said();
	const text = deltas.flatMap(([offset, part]) => [...said.delta({ index: 1, offset, text: part })]).join("");
	return { said, text };
}

test("text that was heard before is not repeated, and missing text comes with the row", () => {
	const { said, text } = heard([0, "Hello"], [3, "lo wor"], [20, "lost before it"]);
	expect(text).toBe("Hello wor");
	expect([...said.row(1, "Hello world")]).toEqual(["ld"]);
});

test("an answer that is begun again with the same words goes on where it was", () => {
	const { said, text } = heard([0, "Hello wor"], [0, "Hel"], [3, "lo world"]);
	expect(text).toBe("Hello world");
	expect([...said.row(1, "Hello world")]).toEqual([]);
});

test("one that is begun again with other words is not mixed with the first: it comes whole, once", () => {
	const { said, text } = heard([0, "Hello wor"], [0, "Hel"], [3, "p is near, "], [14, "and more"]);
	expect(text).toBe("Hello wor");
	expect([...said.row(1, "Help is near, and more")]).toEqual(["\n\nHelp is near, and more"]);
});
