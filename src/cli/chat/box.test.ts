import fc from "fast-check";
import { expect, test } from "vitest";
import { columns, graphemes } from "../io/width.ts";
import { type BoxView, viewBox } from "./box.ts";
import { lineColumns } from "./style.ts";

function textsOf({ rows }: BoxView): string[] {
	return rows.map((row) => row.map(({ text }) => text).join(""));
}

test("an empty box is a prompt", () => {
	expect(viewBox("", 0, 20, 5).cursor).toEqual({ row: 0, column: 2 });
	expect(textsOf(viewBox("", 0, 20, 5))).toEqual(["> "]);
});

test("after a full row the cursor stands in the next", () => {
	const view = viewBox("12345678", 8, 10, 5);
	expect(textsOf(view)).toEqual(["> 12345678", "  "]);
	expect(view.cursor).toEqual({ row: 1, column: 2 });
});

test("a cursor at a line's end stands there, also after a full row of that line", () => {
	expect(viewBox("ab\ncd", 2, 10, 5).cursor).toEqual({ row: 0, column: 4 });
	expect(viewBox("12345678\ncd", 7, 10, 5).cursor).toEqual({ row: 0, column: 9 });
});

test("tabs and what cannot be shown have the width of what is shown for them", () => {
	const view = viewBox("\t\u202ex", 3, 40, 5);
	expect(textsOf(view)).toEqual([">     \\u202ex"]);
	expect(view.cursor.column).toBe(13);
});

test("a box with many lines shows those around the cursor", () => {
	const text = Array.from({ length: 100_000 }, (_, line) => `line ${line}`).join("\n");
	const middle = text.indexOf("line 500\n");
	expect(textsOf(viewBox(text, middle, 40, 3))).toEqual(["  line 498", "  line 499", "  line 500"]);
	expect(textsOf(viewBox(text, 0, 40, 3))).toEqual(["> line 0", "  line 1", "  line 2"]);
	expect(textsOf(viewBox(text, text.length, 40, 2))).toEqual(["  line 99998", "  line 99999"]);
});

test("the cursor stands in a row, right of what precedes it there, and no row is too wide", () => {
	const text = fc.string({
		unit: fc.constantFrom("a", " ", "\n", "名", "👩‍🚀", "e\u0301", "\t"),
		maxLength: 80,
	});
	fc.assert(
		fc.property(
			text,
			fc.nat(),
			fc.integer({ min: 8, max: 40 }),
			fc.integer({ min: 1, max: 6 }),
			(value, pick, width, height) => {
				const characters = graphemes(value);
				const before = characters.slice(0, pick % (characters.length + 1)).join("");
				const view = viewBox(value, before.length, width, height);
				expect(view.rows.length).toBeLessThanOrEqual(height);
				for (const row of view.rows) expect(lineColumns(row)).toBeLessThanOrEqual(width);
				const row = textsOf(view)[view.cursor.row] ?? "missing";
				let left = "";
				for (const character of graphemes(row)) {
					if (columns(left) >= view.cursor.column) break;
					left += character;
				}
				expect(columns(left)).toBe(view.cursor.column);
				const line = (before.split("\n").at(-1) ?? "").replaceAll("\t", "    ");
				expect(line.endsWith(left.slice(2))).toBe(true);
			},
		),
		{ numRuns: 500 },
	);
});
