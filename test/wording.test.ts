// What Keryx says stays plain: sentences that people stumbled over do not come back, and the page says nothing outside its texts.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { documents, proseOf, ROOT, textOf } from "./support/documents.ts";

/** Each in the words in which it was shown. */
const GONE = [
	"This one is 198 left.",
	"This one is",
	"Its first message begins it.",
	"A slash lists what can be commanded.",
	"Decide about it",
	"What asks before it acts",
	"No answer is not consent.",
	"What it says:",
	"Its arguments:",
	"Put away what is decided",
	"What is found stands here.",
	"They go on when the conversation rests",
	"when Keryx is started anew.",
	"The outbox is empty.",
	"What an answer waits for before it is sent will stand here.",
	"As the system",
	"This Keryx",
	"Only what is not the default",
	"Everything has its default.",
	"The audit calls its holder by it.",
	"Why: its whole path",
	"had its end",
	"Leave it as it is",
	"Otherwise it is asked to end, and made to after 5 seconds.",
	"that is why marathons are capped",
	"No conversation that was looked through fits.",
	"check the id; what you may not see is answered the same way",
	"earlier ones; words: search",
	"what a message does meanwhile",
	"To Keryx you are principal",
];

/** Sources without their comments, and documents, each with single spaces. */
const said = new Map<string, string>([
	...[...filesIn("src"), ...filesIn("web/src")].map((file) => [file, spaced(code(file))] as const),
	...documents().map((file) => [file, spaced(textOf(file))] as const),
]);

function filesIn(folder: string): string[] {
	return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
		.filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".test.ts"))
		.map((name) => `${folder}/${name}`);
}

function code(file: string): string {
	return readFileSync(join(ROOT, file), "utf8").replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, "");
}

function spaced(text: string): string {
	return text.replaceAll('{" "}', " ").replace(/\s+/g, " ");
}

test.each(GONE)("nothing says %j any more", (phrase) => {
	expect([...said].filter(([, text]) => text.includes(phrase)).map(([file]) => file)).toEqual([]);
});

test('no button is called "Go on"', () => {
	expect([...said].filter(([, text]) => /["'>]\s*Go on\s*["'<]/.test(text)).map(([file]) => file)).toEqual(
		[],
	);
});

describe("the page", () => {
	/** Names of products, keys and machines; what is sent as data. */
	const NO_SENTENCES = new Set(["web/src/ui/platform-icon.tsx"]);
	const views = filesIn("web/src").filter(
		(file) => file.endsWith(".tsx") && !file.startsWith("web/src/texts/") && !NO_SENTENCES.has(file),
	);

	test.each(views)("%s shows only words of web/src/texts", (file) => {
		expect(wordsShown(file)).toEqual([]);
	});
});

/** Texts between tags, and the attributes that people see or hear. */
function wordsShown(file: string): string[] {
	const source = ts.createSourceFile(file, textOf(file), ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
	const words: string[] = [];
	const visit = (node: ts.Node): void => {
		if (ts.isJsxText(node) && /[A-Za-z]{2}/.test(node.text.replace(/&\w+;/g, "")))
			words.push(node.text.trim());
		if (
			ts.isJsxAttribute(node) &&
			SHOWN.has(node.name.getText()) &&
			node.initializer &&
			ts.isStringLiteral(node.initializer)
		)
			if (/[A-Za-z]{2} [A-Za-z]|^[A-Z][a-z]/.test(node.initializer.text)) words.push(node.initializer.text);
		ts.forEachChild(node, visit);
	};
	visit(source);
	return words;
}
const SHOWN = new Set(["label", "title", "about", "placeholder", "aria-label", "alt"]);

describe("the documents", () => {
	test.each(documents())("%s links to what is there", (file) => {
		const links = [...proseOf(file).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
		for (const [link, path, anchor] of links) {
			const target = path === "" ? file : join(file, "..", path as string);
			const text = () => textOf(target);
			if (!target.endsWith(".md")) expect(() => statSync(join(ROOT, target)), link).not.toThrow();
			else expect(text, link).not.toThrow();
			if (anchor !== undefined) expect(anchorsIn(text()), `${file}: ${link}`).toContain(anchor);
		}
	});

	test("what README links to is in the package", () => {
		const { files } = JSON.parse(textOf("package.json")) as { files: string[] };
		const links = [...proseOf("README.md").matchAll(/\]\((?!https?:)([^)#\s]+)/g)].map(
			([, path]) => path as string,
		);
		expect(links.length).toBeGreaterThan(10);
		expect(
			links.filter((path) => !files.some((name) => path === name || path.startsWith(`${name}/`))),
		).toEqual([]);
	});

	test("models have the same names everywhere", () => {
		const named = documents().flatMap(
			(file) => textOf(file).match(/\b(?:claude|gpt|gemini|llama)[\w.-]*\d\w*/g) ?? [],
		);
		const families = Map.groupBy(new Set(named), (name) => /^[a-z]+/.exec(name)?.[0]);
		expect([...families.values()].filter((names) => names.length > 1)).toEqual([]);
	});
});

function anchorsIn(text: string): string[] {
	return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
		(heading as string)
			.toLowerCase()
			.replace(/[^\w\- ]/g, "")
			.trim()
			.replaceAll(" ", "-"),
	);
}
