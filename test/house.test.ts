// The rooms of src: each has a face that says what lives there, and CONTRIBUTING.md names all of them.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const guide = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");

function foldersIn(folder: string): string[] {
	return readdirSync(join(root, folder), { withFileTypes: true })
		.filter((entry) => entry.isDirectory())
		.map(({ name }) => `${folder}/${name}`);
}

// A channel says in its own index.ts what its platform is.
const layers = foldersIn("src").filter((folder) => folder !== "src/channels");

test.each(layers)("%s has a face of three lines that says what never belongs there", (folder) => {
	const face = ["index.ts", "main.ts"].map((name) => join(root, folder, name)).find(existsSync);
	expect(face).toBeDefined();
	const lines = readFileSync(face as string, "utf8").split("\n");
	expect(lines.slice(0, 3)).toEqual(Array(3).fill(expect.stringMatching(/^\/\/ \S/)));
	expect(lines[2]).toMatch(/^\/\/ Never here: /);
	expect(lines[3]).not.toMatch(/^\/\//);
});

test("CONTRIBUTING.md names every room", () => {
	const rooms = layers.flatMap(foldersIn);
	expect(rooms.filter((room) => !guide.includes(`| \`${room}\` |`))).toEqual([]);
});

test("no folder holds more than 25 files beside tests", () => {
	const folders = ["src", "web/src"].flatMap((top) => [
		top,
		...readdirSync(join(root, top), { recursive: true, withFileTypes: true })
			.filter((entry) => entry.isDirectory())
			.map(({ parentPath, name }) => relative(root, join(parentPath, name))),
	]);
	const crowded = folders.filter(
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
