// The rooms of src: each has a face that says what lives there, and CONTRIBUTING.md names all of them.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const guide = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");

function foldersBelow(top: string): string[] {
	return readdirSync(join(root, top), { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isDirectory())
		.map(({ parentPath, name }) => relative(root, join(parentPath, name)));
}

function faceOf(folder: string): string | undefined {
	return ["index.ts", "main.ts"]
		.map((name) => join(folder, name))
		.find((face) => existsSync(join(root, face)));
}

const folders = foldersBelow("src");
// Its platforms have the faces.
const layers = folders.filter((folder) => folder.split("/").length === 2 && folder !== "src/channels");

test("every layer has a face", () => {
	expect(layers.filter((folder) => faceOf(folder) === undefined)).toEqual([]);
});

test.each(folders.flatMap((folder) => faceOf(folder) ?? []))(
	"%s starts with three lines and says what never belongs there",
	(face) => {
		const lines = readFileSync(join(root, face), "utf8").split("\n");
		expect(lines.slice(0, 3)).toEqual(Array(3).fill(expect.stringMatching(/^\/\/ \S/)));
		expect(lines[2]).toMatch(/^\/\/ Never here: /);
		expect(lines[3]).not.toMatch(/^\/\//);
	},
);

test("CONTRIBUTING.md names every room that has no face, with what never belongs there", () => {
	const [, table = ""] = /^\| room \| holds \| never \|\n(.*?)\n\n/ms.exec(guide) ?? [];
	const rows = new Set([...table.matchAll(/^\| `([^`]+)` \| [^|]+ \| [^|]+ \|$/gm)].map(([, room]) => room));
	expect(folders.filter((folder) => faceOf(folder) === undefined && !rows.has(folder))).toEqual([]);
});

test("no folder holds more than 25 files beside tests", () => {
	const all = ["src", "web/src"].flatMap((top) => [top, ...foldersBelow(top)]);
	const crowded = all.filter(
		(folder) => readdirSync(join(root, folder)).filter((name) => /(?<!\.test)\.tsx?$/.test(name)).length > 25,
	);
	expect(crowded).toEqual([]);
});

test("every file and folder that CONTRIBUTING.md names is there", () => {
	const named = [...guide.matchAll(/`((?:src|web|test|scripts)\/[\w./-]+)`/g)].map(
		([, path]) => path as string,
	);
	expect(named.length).toBeGreaterThan(50);
	expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test("a message passes no file twice", () => {
	const [, walk = ""] = /\*\*A message\*\*(.*?)\*\*A confirmation\*\*/s.exec(guide) ?? [];
	const files = [...walk.matchAll(/`(src\/[^`]+)`/g)].map(([, path]) => path);
	expect(files.length).toBeGreaterThan(10);
	expect(new Set(files).size).toBe(files.length);
});

test("each recipe of CONTRIBUTING.md names at most five files", () => {
	const [, table = ""] = /^\| to add \| files \|\n\|---\|---\|\n(.*?)\n\n/ms.exec(guide) ?? [];
	const recipes = table.split("\n").map((row) => row.split("|").slice(1, 3));
	expect(recipes.length).toBeGreaterThan(10);
	const long = recipes.filter(([, files = ""]) => [...files.matchAll(/`[^`]*[./][^`]*`/g)].length > 5);
	expect(long.map(([what]) => what)).toEqual([]);
});
