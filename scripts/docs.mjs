// `npm run docs`: builds the documentation site into .cache/site, then checks it: every page is there, its search finds a word that is only
// on that page, every link leads somewhere, and nothing is loaded from elsewhere.
import { cpSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "vitepress";

const root = fileURLToPath(new URL("..", import.meta.url));
const site = join(root, ".cache/site");
const began = Date.now();
await build(join(root, "docs"));
// Files that pages link to.
cpSync(join(root, "docs/monitoring"), join(site, "monitoring"), { recursive: true });

const files = readdirSync(site, { recursive: true, encoding: "utf8" });
const pages = files.filter((name) => name.endsWith(".html") && name !== "404.html");
const problems = [...(await searchProblems()), ...linkProblems()];
for (const problem of problems) console.error(problem);
console.log(
	`${pages.length} pages in ${((Date.now() - began) / 1000).toFixed(1)} s, ${problems.length} problems: ${relative(root, site)}`,
);
process.exitCode = problems.length === 0 ? 0 : 1;

/** The index as the page loads it, asked for the rarest word of each page. */
async function searchProblems() {
	const chunk = files.find((name) => /localSearchIndexroot.*\.js$/.test(name));
	if (!chunk) return ["there is no search index"];
	const { default: json } = await import(pathToFileURL(join(site, chunk)).href);
	const { default: MiniSearch } = await import(
		pathToFileURL(createRequire(createRequire(import.meta.url).resolve("vitepress")).resolve("minisearch"))
			.href
	);
	const index = MiniSearch.loadJSON(json, {
		fields: ["title", "titles", "text"],
		storeFields: ["title", "titles"],
	});
	const words = new Map(pages.map((page) => [page, wordsOf(page)]));
	const uses = new Map();
	for (const own of words.values()) for (const word of own) uses.set(word, (uses.get(word) ?? 0) + 1);
	return pages.flatMap((page) => {
		const rarest = [...words.get(page)]
			.sort((a, b) => uses.get(a) - uses.get(b) || b.length - a.length)
			.slice(0, 5);
		const address = `/${page}`;
		const found = rarest.some((word) =>
			index.search(word).some(({ id }) => id.split("#")[0] === address.replace(/index\.html$/, "")),
		);
		return found ? [] : [`search finds none of ${rarest.join(", ")} on ${page}`];
	});
}

function wordsOf(page) {
	const html = readFileSync(join(site, page), "utf8");
	const main = /<main[^>]*>([\s\S]*?)<\/main>/.exec(html)?.[1] ?? "";
	const text = main.replace(/<[^>]+>/g, " ").toLowerCase();
	return new Set(text.match(/\b[a-z]{5,}\b/g) ?? []);
}

function linkProblems() {
	return pages.flatMap((page) => {
		const html = readFileSync(join(site, page), "utf8");
		const loaded = [...html.matchAll(/<(?:script|link|img)[^>]*(?:src|href)="(https?:[^"]+)"/g)].map(
			([, address]) => `${page} loads ${address}`,
		);
		const broken = [...html.matchAll(/<a [^>]*href="([^"#?:]+)(?:#([^"]*))?"/g)].flatMap(([, path, hash]) => {
			const target = resolve(site, path.startsWith("/") ? `.${path}` : join(dirname(page), path));
			const file = exists(target) && statSync(target).isDirectory() ? join(target, "index.html") : target;
			const real = [file, `${file}.html`].find(exists);
			if (!real) return [`${page} links to ${path}, which is not there`];
			if (!hash || !real.endsWith(".html")) return [];
			return readFileSync(real, "utf8").includes(`id="${decodeURIComponent(hash)}"`)
				? []
				: [`${page} links to ${path}#${hash}, which is not there`];
		});
		return [...loaded, ...broken];
	});
}

function exists(path) {
	return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
