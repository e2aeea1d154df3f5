import { describe, expect, test } from "vitest";
import { KeryxError } from "../errors.ts";
import { MARKUPS, type Markup, type MessageLimit, renderParts } from "./index.ts";

const TELEGRAM: MessageLimit = { max: 4096, unit: "utf16" };

function texts(source: string, markup: Markup, max: number, unit: MessageLimit["unit"] = "utf16"): string[] {
	return renderParts(source, { markup, limit: { max, unit } }).map(({ text }) => text);
}

test("an answer of 4,681 units is two Telegram messages that join to the answer", () => {
	const answer = "A herald carries each word once, in order. ".repeat(109).slice(0, 4681);
	const parts = renderParts(answer, { markup: "telegram_html", limit: TELEGRAM });
	expect(parts).toHaveLength(2);
	expect(parts.map(({ text }) => text).join("")).toBe(answer);
	expect(parts.map(({ plain }) => plain).join("")).toBe(answer);
});

test("the limit is counted in the platform's unit", () => {
	const answer = "😀".repeat(40);
	expect(texts(answer, "plain", 40, "codepoints")).toEqual([answer]);
	expect(texts(answer, "plain", 40, "utf16")).toEqual(["😀".repeat(20), "😀".repeat(20)]);
	expect(texts(answer, "plain", 40, "bytes")).toEqual(Array(4).fill("😀".repeat(10)));
});

describe("a cut is made", () => {
	test("between blocks rather than inside one", () => {
		const source = `${"one ".repeat(12)}\n\n${"two ".repeat(12)}\n\n${"three ".repeat(12)}`;
		expect(texts(source, "plain", 120)).toEqual([
			`${"one ".repeat(12).trim()}\n\n${"two ".repeat(12).trim()}\n\n`,
			"three ".repeat(12).trim(),
		]);
	});

	test("before a heading, not after it", () => {
		const source = `${"one ".repeat(20)}\n\n## Head\n\n${"two ".repeat(20)}`;
		expect(texts(source, "plain", 110)[1]).toMatch(/^Head\n\ntwo/);
	});

	test("between lines rather than inside one", () => {
		expect(texts("first line here\nsecond line is here\nthird", "plain", 40)).toEqual([
			"first line here\nsecond line is here\n",
			"third",
		]);
	});

	test("between sentences rather than inside one", () => {
		expect(texts("This is the first one. Here is the second, longer one", "plain", 40)).toEqual([
			"This is the first one. ",
			"Here is the second, longer one",
		]);
		expect(
			texts(
				"这是第一句话，不太长也不太短，是吧。这是第二句话，也不太长，也不太短的一句话",
				"plain",
				32,
				"codepoints",
			),
		).toEqual(["这是第一句话，不太长也不太短，是吧。", "这是第二句话，也不太长，也不太短的一句话"]);
	});

	test("between words rather than inside one", () => {
		expect(texts("alpha beta gamma delta epsilon zeta eta", "plain", 32)).toEqual([
			"alpha beta gamma delta epsilon ",
			"zeta eta",
		]);
	});

	test("between characters as a reader sees them", () => {
		const family = "👨‍👩‍👧‍👦";
		expect(texts(family.repeat(5), "plain", 40)).toEqual([family.repeat(3), family.repeat(2)]);
		expect(texts("🇬🇷".repeat(15), "plain", 34)).toEqual(["🇬🇷".repeat(8), "🇬🇷".repeat(7)]);
	});

	test("not between a space and the accent on it", () => {
		expect(texts("one two three four five six sev \u0301ight", "plain", 32)).toEqual([
			"one two three four five six ",
			"sev \u0301ight",
		]);
	});

	test("inside a character only if it alone is too long", () => {
		const parts = texts(`e${"\u0301".repeat(99)}`, "plain", 40);
		expect(parts.map((part) => part.length)).toEqual([40, 40, 20]);
	});
});

describe("what is open at a cut is closed and opened again", () => {
	test("a code block, with its language", () => {
		const source = `\`\`\`py\n${"x = 1\n".repeat(10)}\`\`\``;
		expect(texts(source, "discord", 50)).toEqual([
			`\`\`\`py\n${"x = 1\n".repeat(6)}\`\`\``,
			`\`\`\`py\n${"x = 1\n".repeat(3)}x = 1\n\`\`\``,
		]);
		expect(texts(source, "telegram_html", 100)[1]).toMatch(/^<pre><code class="language-py">x = 1<\/code>/);
		for (const part of texts(source, "markdown", 60)) expect(part).toMatch(/^```py\n(x = 1\n)+```$/);
	});

	test("a style, whose end goes before the space", () => {
		expect(texts("**one two three four five six seven**", "slack", 32)).toEqual([
			"*one two three four five six* ",
			"*seven*",
		]);
	});

	test("a link", () => {
		const parts = texts(`[${"word ".repeat(8)}](https://e.ex)`, "telegram_html", 64);
		for (const part of parts) expect(part).toMatch(/^<a href="https:\/\/e\.ex">[^<]+<\/a> ?$/);
	});

	test("a quote, in the middle of its line", () => {
		expect(texts(`> ${"word ".repeat(8)}`, "discord", 32)).toEqual([
			"> word word word word word word ",
			"> word word",
		]);
	});

	test("a code block of Markdown inside a list", () => {
		const source = `1. a\n   - \`\`\`ts\n${"     go();\n".repeat(20)}     \`\`\`\n2. b`;
		const parts = texts(source, "markdown", 160);
		expect(parts.length).toBeGreaterThan(1);
		expect(parts[1]).toMatch(/^- {2}- ```ts\n {5}go\(\);\n/);
	});
});

test("a link whose address would leave no room is written as text", () => {
	const url = `https://e.example/${"p".repeat(60)}`;
	expect(texts(`[t](${url})`, "telegram_html", 100).join("")).toBe(`t (${url})`);
});

test("a cut in the middle of a line makes no list, heading or quote of what follows", () => {
	for (const sign of ["-", "#", ">", "1."]) {
		const [, second] = texts(`${"a".repeat(30)} ${sign} ${"b".repeat(20)}`, "discord", 32);
		expect(second).not.toMatch(/^(?:[-#>]|1\.) /);
	}
});

test("prefixes deeper than half of a part are left out, so that every part shows something", () => {
	expect(texts(`${"> ".repeat(7)}    code`, "slack", 32)).toEqual(["```\ncode\n```"]);
	expect(texts(`${"> ".repeat(12)}word`, "plain", 32)).toEqual([`${"> ".repeat(8)}word`]);
});

test("white space that would be a message of its own is not sent", () => {
	const source = `\`\`\`\na\n${"\n".repeat(200)}  b\n\`\`\``;
	expect(texts(source, "telegram_html", 64)).toEqual([`<pre>a${"\n".repeat(52)}</pre>`, "<pre>  b</pre>"]);
});

test("nothing comes of nothing", () => {
	for (const markup of MARKUPS) {
		for (const source of ["", " \n\t\n", "\u200b"]) expect(texts(source, markup, 100)).toEqual([]);
	}
});

test("an answer that is only empty syntax is shown as it was written", () => {
	expect(texts("[]()", "telegram_html", 100)).toEqual(["[]()"]);
	expect(texts("```\n```", "slack", 100).join("")).toContain("`");
});

test.each([31, 0, -1, 64.5, Number.NaN])("a limit of %d is refused", (max) => {
	const tooSmall = () => renderParts("text", { markup: "plain", limit: { max, unit: "utf16" } });
	expect(tooSmall).toThrow(KeryxError);
	expect(tooSmall).toThrow(expect.objectContaining({ code: "argument.invalid", field: "limit.max" }));
});
