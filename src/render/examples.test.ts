// What each platform gets, by example.
import { describe, expect, test } from "vitest";
import { type Format, type Markup, type Part, renderParts } from "./index.ts";

const GAP = "\u200b";

/** The only message for a short answer. */
function rendered(source: string, markup: Markup): Part {
	const format: Format = { markup, limit: { max: 4096, unit: "utf16" } };
	const [part, ...more] = renderParts(source, format);
	expect(more).toEqual([]);
	return part ?? { text: "", plain: "" };
}

const FENCE = "```";
const CODE = `${FENCE}ts\nif (a < b && c) {\n\tgo("${FENCE}");\n}\n${FENCE}`;
const TABLE =
	"| Name | Qty | Note |\n|:--|--:|:-:|\n| Apple | 3 | *fresh* |\n| 梨 | 1200 | [shop](https://s.example) |";
const LIST = "1. First\n   - inner\n     goes on\n   - [x] done\n2. Second\n\n   Apart";
const QUOTE = "> Said **this\n> and** that\n>\n> > deeper\n\nafter";

describe("Telegram HTML", () => {
	test.each<[string, string, string]>([
		["**b** *i* <u>u</u> ~~s~~", "<b>b</b> <i>i</i> <u>u</u> <s>s</s>", "b i u ~~s~~"],
		["**b *bi* b**", "<b>b <i>bi</i> b</b>", "b bi b"],
		["1 < 2 & 3 > 2", "1 &lt; 2 &amp; 3 &gt; 2", "1 < 2 & 3 > 2"],
		["<details>x</details>", "&lt;details&gt;x&lt;/details&gt;", "<details>x</details>"],
		["# Head **er**", "<b>Head er</b>", "Head er"],
		["`a < b`", "<code>a &lt; b</code>", "a < b"],
		[
			'[t](https://e.example/?a=1&b="2")',
			'<a href="https://e.example/?a=1&amp;b=&quot;2&quot;">t</a>',
			't (https://e.example/?a=1&b="2")',
		],
		["[t](javascript:alert(1))", "t (javascript:alert(1))", "t (javascript:alert(1))"],
		[
			"![cat](https://e.example/c.png)",
			'<a href="https://e.example/c.png">cat</a>',
			"cat (https://e.example/c.png)",
		],
		["<https://e.example>", "https://e.example", "https://e.example"],
		[
			"[https://good.example](https://bad.example)",
			"https://good.example (https://bad.example)",
			"https://good.example (https://bad.example)",
		],
		[
			"[good.example](https://bad.example)",
			"good.example (https://bad.example)",
			"good.example (https://bad.example)",
		],
		[
			"[https://good.example@bad.example](https://bad.example)",
			"https://good.example@bad.example (https://bad.example)",
			"https://good.example@bad.example (https://bad.example)",
		],
		[
			"[e.example/x](https://e.example/y)",
			'<a href="https://e.example/y">e.example/x</a>',
			"e.example/x (https://e.example/y)",
		],
		[
			"[\u202eelpmaxe](https://e.example)",
			"\u202eelpmaxe (https://e.example)",
			"\u202eelpmaxe (https://e.example)",
		],
		["a\n\n---\n\nb", "a\n\n---\n\nb", "a\n\n---\n\nb"],
		[
			CODE,
			`<pre><code class="language-ts">if (a &lt; b &amp;&amp; c) {\n\tgo("${FENCE}");\n}</code></pre>`,
			`if (a < b && c) {\n\tgo("${FENCE}");\n}`,
		],
		[
			LIST,
			"1. First\n   • inner\n     goes on\n   • [x] done\n2. Second\n\n   Apart",
			"1. First\n   - inner\n     goes on\n   - [x] done\n2. Second\n\n   Apart",
		],
		["> - a\n> - b", "<blockquote>• a\n• b</blockquote>", "> - a\n> - b"],
		["- > a", "• <blockquote>a</blockquote>", "- > a"],
		[
			QUOTE,
			"<blockquote>Said <b>this\nand</b> that\n\n&gt; deeper</blockquote>\n\nafter",
			"> Said this\n> and that\n> \n> > deeper\n\nafter",
		],
		[
			TABLE,
			"<pre>Name  |  Qty |           Note\n------+------+-------------------------\nApple |    3 |          fresh\n梨    | 1200 | shop (https://s.example)</pre>",
			"Name  |  Qty |           Note\n------+------+-------------------------\nApple |    3 |          fresh\n梨    | 1200 | shop (https://s.example)",
		],
	])("%j", (source, text, plain) => {
		expect(rendered(source, "telegram_html")).toEqual({ text, plain });
	});
});

describe("Discord", () => {
	test.each<[string, string, string]>([
		["**b** *i* <u>u</u> ~~s~~", "**b** *i* __u__ ~~s~~", "b i u ~~s~~"],
		[
			"\\*no\\* snake_case 2 * 3 a__b__c",
			"\\*no\\* snake_case 2 * 3 a\\_\\_b\\_\\_c",
			"*no* snake_case 2 * 3 a__b__c",
		],
		["## Two\n\n##### Five", "## Two\n\n**Five**", "Two\n\nFive"],
		[
			"\\# no heading\n\\- no item\n1986\\. A year",
			"\\# no heading\n\\- no item\n1986\\. A year",
			"# no heading\n- no item\n1986. A year",
		],
		[
			"@everyone `@here` <@12> a@b.example",
			`@${GAP}everyone \`@${GAP}here\` <@${GAP}12> a@b.example`,
			`@${GAP}everyone @${GAP}here <@${GAP}12> a@b.example`,
		],
		[
			"@**everyone** @[here](https://e.example)",
			`@${GAP}**everyone** @${GAP}[here](https://e.example)`,
			`@${GAP}everyone @${GAP}here (https://e.example)`,
		],
		["> - ```js\n>   a\n>   ```", "- ```js\na\n```", "> - a"],
		["- > a", "- > a", "- > a"],
		["[t](https://e.example/a(b))", "[t](https://e.example/a%28b%29)", "t (https://e.example/a(b))"],
		[
			"[https://good.example](https://bad.example)",
			"https://good.example (https://bad.example)",
			"https://good.example (https://bad.example)",
		],
		["https://e.example/a_b_c", "https://e.example/a_b_c", "https://e.example/a_b_c"],
		["`` a`b ``", "`` a`b ``", "a`b"],
		[
			CODE,
			`${FENCE}ts\nif (a < b && c) {\n\tgo("\`${GAP}\`${GAP}\`");\n}\n${FENCE}`,
			`if (a < b && c) {\n\tgo("${FENCE}");\n}`,
		],
		[
			QUOTE,
			"> Said **this**\n> **and** that\n> \n> > deeper\n\nafter",
			"> Said this\n> and that\n> \n> > deeper\n\nafter",
		],
	])("%j", (source, text, plain) => {
		expect(rendered(source, "discord")).toEqual({ text, plain });
	});
});

describe("Slack mrkdwn", () => {
	test.each<[string, string, string]>([
		["**b** *i* <u>u</u> ~~s~~", "*b* _i_ u ~s~", "b i u ~~s~~"],
		["**中文**后", `*中文*${GAP}后`, "中文后"],
		["<!channel> & <@U1>", "&lt;!channel&gt; &amp; &lt;@U1&gt;", "&lt;!channel&gt; &amp; &lt;@U1&gt;"],
		[
			"[a|b > c](https://e.example/x|y)",
			"<https://e.example/x%7Cy|a|b &gt; c>",
			"a|b &gt; c (https://e.example/x|y)",
		],
		["# Head", "*Head*", "Head"],
		["`x > y`", "`x &gt; y`", "x &gt; y"],
		["**two\nlines**", "*two*\n*lines*", "two\nlines"],
		[`${FENCE}js\na\n\nb\n${FENCE}`, `${FENCE}\na\n\nb\n${FENCE}`, "a\n\nb"],
		[
			QUOTE,
			"> Said *this*\n> *and* that\n> \n> &gt; deeper\n\nafter",
			"&gt; Said this\n&gt; and that\n&gt; \n&gt; &gt; deeper\n\nafter",
		],
		[
			LIST,
			"1. First\n   • inner\n     goes on\n   • [x] done\n2. Second\n\n   Apart",
			"1. First\n   - inner\n     goes on\n   - [x] done\n2. Second\n\n   Apart",
		],
	])("%j", (source, text, plain) => {
		expect(rendered(source, "slack")).toEqual({ text, plain });
	});
});

describe("IRC", () => {
	test.each<[string, string[]]>([
		["# Head\n\ntext", ["\x02Head\x0f", "text"]],
		["**b *bi* b** *i*", ["\x02b \x1dbi\x1d b\x0f \x1di\x0f"]],
		["**two\nlines**", ["\x02two\x0f", "\x02lines\x0f"]],
		["a\r\n\r\n\r\nb", ["a", "b"]],
		["say \x03this\x07", ["say ␃this␇"]],
		["[t](https://e.example)", ["t (https://e.example)"]],
		["> a\n> b", ["> a", "> b"]],
		[`${FENCE}\n  x\n\n  y\n${FENCE}`, ["  x", "  y"]],
		[TABLE, ["Name | Qty | Note", "Apple | 3 | fresh", "梨 | 1200 | shop (https://s.example)"]],
	])("%j", (source, lines) => {
		const parts = renderParts(source, { markup: "irc", limit: { max: 400, unit: "bytes" } });
		expect(parts.map(({ text }) => text)).toEqual(lines);
		expect(parts.map(({ plain }) => plain)).toEqual(lines.map((line) => line.replaceAll(/\p{Cc}/gu, "")));
	});
});

test("plain text is both twins", () => {
	const text = `Head\n\nb (https://e.example) code ~~gone~~\n\n- one\n  1. two\n\n> said\n\na = 1;`;
	const source = `# Head\n\n[**b**](https://e.example) \`code\` ~~gone~~\n\n* one\n  1. two\n\n> said\n\n${FENCE}js\na = 1;\n${FENCE}`;
	expect(rendered(source, "plain")).toEqual({ text, plain: text });
});

test("Markdown is sent as it was written, with a plain twin", () => {
	const source = "#  Head\r\n\r\n*  one\r\n__two__ [t](/u)   \r\n";
	expect(rendered(source, "markdown")).toEqual({ text: source, plain: "Head\n\n- one\n  two t (/u)" });
});
