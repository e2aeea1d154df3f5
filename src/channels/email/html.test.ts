import { expect, test } from "vitest";
import { toHtml } from "./html.ts";

const body = (markdown: string) => /<body[^>]*>(.*)<\/body>/s.exec(toHtml(markdown))?.[1];

test("an answer in Markdown is HTML", () => {
	expect(body("# Hi\n\n**bold** and `a<b`\n\n- one\n- two")).toMatch(
		/<h1>Hi<\/h1>\s*<p><strong>bold<\/strong> and <code>a&lt;b<\/code><\/p>\s*<ul><li>one<\/li><li>two<\/li><\/ul>/,
	);
	expect(body("| a | b |\n|---|---|\n| 1 | 2 |")).toMatch(/<table.*<th[^>]*>a<\/th>.*<td[^>]*>2<\/td>/s);
	expect(body("1. one\n2. two\n\n> said\n\n---\n\n```\nx < y\n```")).toMatch(
		/<ol start="1">.*<blockquote.*said.*<hr>.*x &lt; y/s,
	);
	expect(body("[site](https://example.org/?a=1&b=2)")).toContain(
		'<a href="https://example.org/?a=1&amp;b=2">site</a>',
	);
});

test.each([
	"<script>alert(1)</script>",
	"<img src=x onerror=alert(1)>",
	"[x](javascript:alert(1))",
	"[x](data:text/html,hi)",
	'[x](https://a.test/"onmouseover="x)',
	"![x](https://tracker.test/p.gif)",
	"`</code><script>`",
	"a\n\n```html\n</code></pre><script>\n```",
])("nothing in it is run or fetched: %s", (markdown) => {
	const html = body(markdown) ?? "";
	expect(html).not.toMatch(/<script|<img|javascript:[^<]*"|href="data:|" ?onmouseover/);
});
