// A secret's name is hidden from everyone but the owner after rendering, in each message. So it must stay recognisable: in one piece, and
// without markup inside.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withoutNames } from "../secrets/index.ts";
import { MARKUPS, renderParts } from "./index.ts";

const named = (name: string) => `\u0024{secret:${name}}`;
const UTF16 = { unit: "utf16" } as const;

function hidden(source: string, markup: (typeof MARKUPS)[number], max: number): string[] {
	return renderParts(source, { markup, limit: { max, ...UTF16 } }).flatMap(({ text, plain }) => [
		withoutNames(text),
		withoutNames(plain),
	]);
}

describe.each(MARKUPS)("in %s", (markup) => {
	test("a cut is made before a name, not inside it", () => {
		const source = `${"x".repeat(4082)}${named("DEPLOY_TOKEN")} end`;
		const [first, second] = renderParts(source, { markup, limit: { max: 4096, ...UTF16 } });
		expect(first?.plain).toBe("x".repeat(4082));
		expect(second?.plain).toBe(`${named("DEPLOY_TOKEN")} end`);
	});

	test("a name in a run of names, in code and in a quote is not cut either", () => {
		const run = named("DEPLOY_TOKEN").repeat(20);
		for (const source of [run, `\`${run}\``, `\`\`\`\n${run}\n\`\`\``, `> ${run}`, `**${run}**`, `- ${run}`])
			for (const text of hidden(source, markup, 200)) expect(text).not.toMatch(/DEPLOY|TOKEN/);
	});

	test.each(["_ODD_NAME_", "__ODD__", "_ODD", "ODD_", "_", "A__B__C"])("%s is literal text", (name) => {
		for (const written of [
			named(name),
			`\\${named(name)}`,
			named(name).replaceAll(/[${}]/g, "\\$&"),
			`_${named(name)}_ and **${named(name)}**`,
			`*a${named(name)} ${named(name)}*`,
			`try [${named(name)}](https://example.org/) ${named(name)}`,
		]) {
			const [part] = renderParts(`try ${written} now`, { markup, limit: { max: 4096, ...UTF16 } });
			if (markup !== "markdown") expect(part?.plain).toContain(named(name));
			expect(withoutNames(part?.text ?? "")).not.toMatch(/ODD|NAME|[ABC]/);
			expect(withoutNames(part?.plain ?? "")).not.toMatch(/ODD|NAME|[ABC]/);
		}
	});

	test("no part of a name is shown, whatever the text and the limit", () => {
		const name = fc.string({ unit: fc.constantFrom(..."QXZ_"), minLength: 3, maxLength: 20 });
		const other = fc.oneof(
			fc.constantFrom(
				"ab",
				" ",
				"\n",
				"\n\n",
				"`",
				"**",
				"_",
				"> ",
				"- ",
				"😀",
				"```\n",
				"\\",
				"(",
				"[",
				"]",
				"~~",
			),
			fc.integer({ min: 1, max: 120 }).map((length) => "b".repeat(length)),
		);
		const texts = fc.array(fc.oneof(name.map(named), other), { maxLength: 14 }).map((all) => all.join(""));
		fc.assert(
			fc.property(texts, fc.integer({ min: 100, max: 220 }), (source, max) => {
				for (const text of hidden(source, markup, max)) expect(text).not.toMatch(/[QXZ_]*[QXZ][QXZ_]{2}/);
			}),
			{ numRuns: 1000 },
		);
	});
});
