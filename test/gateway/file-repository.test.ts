// A model edits a repository of 2,000 files with the tools for files. What /diff shows and /undo --files takes back is exact.
import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Workbench } from "./workbench.ts";

const FILES = 2000;
const EDITED = 12;

let bench: Workbench;
beforeEach(() => {
	bench = new Workbench();
});
afterEach(() => bench.end());

const nameOf = (index: number) => `src/part${index % 40}/module${index}.ts`;
const sourceOf = (index: number) =>
	`import { shared } from "../shared";\n\nexport function module${index}() {\n\treturn shared(${index});\n}\n`;

/** Every file with its mode and content. */
function treeOf(folder: string): Map<string, string> {
	const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
	return new Map(
		names.toSorted().map((name) => {
			const path = join(folder, name);
			const facts = lstatSync(path);
			if (facts.isDirectory()) return [name, "folder"];
			if (facts.isSymbolicLink()) return [name, `-> ${readlinkSync(path)}`];
			return [
				name,
				`${facts.mode.toString(8)} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`,
			];
		}),
	);
}

test("edits, new files and a replaced one in a repository of 2,000 files", { timeout: 180_000 }, async () => {
	for (let index = 0; index < FILES; index++) bench.write(nameOf(index), sourceOf(index));
	bench.write("README.md", "# Project\n");
	symlinkSync("README.md", join(bench.work, "LINK.md"));
	const edited = Array.from({ length: EDITED }, (_, index) => index * 83);
	await bench.start({
		script: {
			rules: [
				{
					when: "rename",
					steps: [
						{ tools: [{ name: "find_in_files", input: { pattern: "module166\\(", files: "*.ts" } }] },
						{
							tools: edited.map((index) => ({
								name: "edit_file",
								input: {
									path: nameOf(index),
									edits: [
										{ old: `module${index}()`, new: `renamed${index}()` },
										{ old: "\treturn", new: "\t// checked\n\treturn" },
									],
								},
							})),
						},
						{
							tools: [
								{ name: "write_file", input: { path: "src/new/deep/added.ts", content: "export {};\n" } },
								{ name: "write_file", input: { path: "README.md", content: "# Renamed\n" } },
								{ name: "list_files", input: { pattern: "src/new/**" } },
							],
						},
						{ text: "all renamed" },
					],
				},
			],
			otherwise: [{ text: "ready" }],
		},
	});
	const before = treeOf(bench.work);
	expect(before.size).toBe(FILES + 40 + 1 + 2);
	const id = await bench.say("rename them");
	expect(bench.scene.texts().at(-1)).toBe("all renamed");
	const results = await bench.results(id);
	expect(results.filter(({ isError }) => isError)).toEqual([]);
	expect(results[0]?.content).toBe(`${nameOf(166)}:3: export function module166() {`);
	expect(results.at(-1)?.content).toBe("src/new/deep/\nsrc/new/deep/added.ts (11 bytes)");

	const after = treeOf(bench.work);
	const changed = [...after].filter(([name, value]) => before.get(name) !== value).map(([name]) => name);
	const expected = [...edited.map(nameOf), "README.md", "src/new", "src/new/deep", "src/new/deep/added.ts"];
	expect(changed.toSorted()).toEqual(expected.toSorted());
	for (const index of edited)
		expect(bench.read(nameOf(index))).toBe(
			sourceOf(index)
				.replace(`module${index}()`, `renamed${index}()`)
				.replace("\treturn", "\t// checked\n\treturn"),
		);

	const diff = (await bench.ask("/diff")).replaceAll(/<[^>]+>/g, "").split("\n");
	expect(diff[0]).toBe(`Changes made by the last turn that changed files: ${EDITED + 2} files`);
	const listed = [
		...edited.map((index) => `• ${nameOf(index)}: changed, +2 -1`),
		"• README.md: changed, +1 -1",
		"• src/new/deep/added.ts: new, +1 -0",
	];
	expect(diff.filter((line) => line.startsWith("• ")).toSorted()).toEqual(listed.toSorted());
	const undone = await bench.ask("/undo --files");
	expect(undone).toContain(`${EDITED + 1} files restored, 1 removed`);
	const again = treeOf(bench.work);
	// A folder that is empty now may stay.
	for (const name of ["src/new", "src/new/deep"]) again.delete(name);
	expect(again).toEqual(before);
	expect(existsSync(join(bench.work, "src/new/deep/added.ts"))).toBe(false);
});
