// The documentation site, built from docs/ as it is: `npm run docs`. It needs no network, neither to build nor to read.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";

const docs = fileURLToPath(new URL("..", import.meta.url));

/** What a newcomer reads first stands first; the others follow by name. */
const FIRST = [
	"getting-started.md",
	"page.md",
	"models.md",
	"telegram.md",
	"discord.md",
	"slack.md",
	"irc.md",
	"email.md",
	"xmpp.md",
	"matrix.md",
];

export default defineConfig({
	title: "Keryx",
	description: "The session gateway for AI agents",
	lang: "en-GB",
	outDir: "../.cache/site",
	cacheDir: "../.cache/vitepress",
	// A broken link fails the build.
	ignoreDeadLinks: false,
	markdown: {
		// `<code>` in prose stands for a value, not for markup.
		html: false,
		config: (md) => {
			// {{ }} in code is text.
			md.core.ruler.push("inert", (state) => {
				for (const token of state.tokens) if (token.type === "inline") inert(token.children ?? []);
			});
		},
	},
	themeConfig: {
		search: { provider: "local" },
		outline: [2, 3],
		sidebar: [
			{ text: "Guides", items: pagesIn("guides") },
			{ text: "Reference", items: [...pagesIn("reference"), page("errors.md"), page("dependencies.md")] },
		],
	},
});

interface Token {
	readonly type: string;
	attrSet(name: string, value: string): void;
}

interface Item {
	readonly text: string;
	readonly link: string;
}

function pagesIn(folder: string): Item[] {
	const rank = (name: string): number => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
	return readdirSync(`${docs}/${folder}`)
		.filter((name) => name.endsWith(".md"))
		.sort((a, b) => rank(a) - rank(b) || a.localeCompare(b))
		.map((name) => page(`${folder}/${name}`));
}

/** Named by its heading. */
function page(path: string): Item {
	const [, heading] = /^# (.+)$/m.exec(readFileSync(`${docs}/${path}`, "utf8")) ?? [];
	return { text: (heading ?? path).replaceAll("`", ""), link: `/${path.replace(/\.md$/, "")}` };
}

function inert(tokens: readonly Token[]): void {
	for (const token of tokens) if (token.type === "code_inline") token.attrSet("v-pre", "");
}
