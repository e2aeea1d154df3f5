import { describe, expect, test } from "vitest";
import { Said } from "./said.ts";

describe("what a client is told of an answer", () => {
	test("a text that comes twice, or in overlapping pieces, is told once", () => {
		const said = new Said();
		const deltas = [
			...said.delta({ index: 1, offset: 0, text: "one " }),
			...said.delta({ index: 1, offset: 0, text: "one two " }),
			...said.delta({ index: 1, offset: 4, text: "two " }),
			...said.row(1, "one two three"),
			...said.row(1, "one two three"),
			...said.rest("one two three"),
		];
		expect(deltas).toEqual(["one ", "two ", "three"]);
	});

	test("a piece behind a gap is left to the row", () => {
		const said = new Said();
		const deltas = [
			...said.delta({ index: 1, offset: 0, text: "one " }),
			...said.delta({ index: 1, offset: 8, text: "three" }),
			...said.row(1, "one two three"),
		];
		expect(deltas).toEqual(["one ", "two three"]);
	});

	test("a text that was begun anew follows what cannot be taken back", () => {
		const said = new Said();
		const deltas = [...said.delta({ index: 1, offset: 0, text: "I th" }), ...said.row(1, "No.")];
		expect(deltas.join("")).toBe("I th\n\nNo.");
	});

	test("messages stand apart, and one without a text is none", () => {
		const said = new Said();
		const deltas = [
			...said.row(1, "Let me see."),
			...said.row(3, ""),
			...said.row(5, "There."),
			...said.rest("There."),
		];
		expect(deltas.join("")).toBe("Let me see.\n\nThere.");
		expect(said.all).toBe("Let me see.\n\nThere.");
	});

	test("a reply without a message is told at the end", () => {
		const said = new Said();
		expect([...said.row(1, ""), ...said.rest("Done.")]).toEqual(["Done."]);
	});

	test("an answer that is begun again with other words is not mixed with the first: it comes whole, once", () => {
		const said = new Said();
		const deltas = [
			[0, "Hello wor"],
			[0, "Hel"],
			[3, "p is near, "],
			[14, "and more"],
		] as const;
		const heard = deltas.flatMap(([offset, text]) => [...said.delta({ index: 1, offset, text })]);
		expect(heard).toEqual(["Hello wor"]);
		expect([...said.row(1, "Help is near, and more")]).toEqual(["\n\nHelp is near, and more"]);
	});
});
