import fc from "fast-check";
import { expect, test } from "vitest";
import { renderMarkdown } from "./markdown.ts";
import { type Piece, PieceSplitter } from "./split.ts";

test.each<[string, string[], string]>([
	["a\nb\n\nc", ["a\nb\n\n"], "c"],
	["a\n\n", [], "a\n\n"],
	["```\na\n\nb\n```\n\nc", ["```\na\n\nb\n```\n\n"], "c"],
	["```\na\n\nb", [], "```\na\n\nb"],
	["- a\n- b\n  c\n- d", ["- a\n", "- b\n  c\n"], "- d"],
	["- a\n\n  b\n\nc", ["- a\n\n  b\n\n"], "c"],
	["1. a\n2. b\n3. c", ["1. a\n", "2. b\n"], "3. c"],
	["1. a\n1. b\n2. c", [], "1. a\n1. b\n2. c"],
	["text:\n- a", ["text:\n"], "- a"],
	["a\n-", [], "a\n-"],
	["a\n- -", [], "a\n- -"],
	["- a\n  ```\n  x\n\n  y\n- b", ["- a\n  ```\n  x\n\n  y\n"], "- b"],
	["> ```\n> x\n\nb", ["> ```\n> x\n\n"], "b"],
	["a\n\n2", [], "a\n\n2"],
	["a\n\n2x", ["a\n\n"], "2x"],
	["a\r\n\r\nb", ["a\r\n\r\n"], "b"],
])("%j gives %j and keeps %j", (source, given, open) => {
	const splitter = new PieceSplitter();
	expect(splitter.add(source).map((piece) => piece.source)).toEqual(given);
	expect(splitter.open.source).toBe(open);
});

const block = fc.constantFrom(
	"One paragraph.",
	"Two lines\nof text.",
	"# Heading",
	"# Heading\ntext below",
	"Setext\n---",
	"---",
	"- a\n- b\n- c",
	"- a\n\n- b",
	"* a\n  - inner\n  - more\n* b",
	"1. a\n2. b\n3. c",
	"1. a\n1. b\n1. c",
	"3. a\n4. b",
	"1. a\n\n   more of a\n2. b",
	"1) a\n2) b\nlazy\n3) c",
	"- a\n  ```\n  code\n\n  more\n  ```\n- b",
	"```ts\nconst a = 1;\n\n- no list\n```",
	"~~~\n```\n~~~",
	"> quote\n> more\n>\n> end",
	"> - a\n> - b",
	"| a | b |\n|---|---|\n| 1 | 2 |",
	"    indented\n\n    code",
	"Text:\n- a\n- b",
	"Text:\n1. a\n2. b",
	"**bold** `code`",
	"`inline ``` ticks`",
);
const document = fc
	.array(fc.tuple(block, fc.constantFrom("\n\n", "\n\n\n", "\n \n")), { maxLength: 8 })
	.map((blocks) => blocks.flat().join(""));

/** The pieces printed one by one, as a chat does. */
function printed(pieces: readonly Piece[]): string[] {
	return pieces.flatMap(({ source, apart }, index) => {
		const lines = renderMarkdown(source, { columns: 60, colour: false });
		return apart && index > 0 && lines.length > 0 ? ["", ...lines] : lines;
	});
}

test("pieces printed one by one look like the whole", () => {
	fc.assert(
		fc.property(document, (source) => {
			const splitter = new PieceSplitter();
			const pieces = [...splitter.add(source), splitter.open];
			expect(printed(pieces)).toEqual(renderMarkdown(source, { columns: 60, colour: false }));
		}),
		{ numRuns: 1000 },
	);
});

test("the pieces do not depend on how the text arrived, and none of it is lost", () => {
	const text = fc.oneof(
		document,
		fc.string({ unit: fc.constantFrom("a", "-", " ", "\n", "`", "1", ".", ">", "*", "\t"), maxLength: 60 }),
	);
	fc.assert(
		fc.property(text, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (source, sizes) => {
			const whole = new PieceSplitter();
			const expected = whole.add(source);
			const splitter = new PieceSplitter();
			const pieces: Piece[] = [];
			for (let at = 0, turn = 0; at < source.length; turn++) {
				const size = sizes[turn % sizes.length] ?? 1;
				pieces.push(...splitter.add(source.slice(at, at + size)));
				at += size;
			}
			expect(pieces).toEqual(expected);
			expect(splitter.open).toEqual(whole.open);
			const kept = pieces.map((piece) => piece.source).join("") + splitter.open.source;
			expect(kept.trim()).toBe(source.trim());
			expect(splitter.source.slice(0, splitter.given) + splitter.open.source).toBe(source);
		}),
		{ numRuns: 500 },
	);
});
