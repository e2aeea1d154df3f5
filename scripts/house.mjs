// How the house looks: files per folder, lengths, casts and repeats of src, tests beside the code not counted. `node scripts/house.mjs`
import { readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

const RUN = 8;
const files = readdirSync("src", { recursive: true, encoding: "utf8" })
	.filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
	.map((name) => `src/${name}`);
const texts = new Map(files.map((file) => [file, readFileSync(file, "utf8").split("\n").slice(0, -1)]));
const byLength = files.toSorted((a, b) => texts.get(b).length - texts.get(a).length);
const perFolder = Object.entries(Object.groupBy(files, dirname))
	.map(([folder, { length }]) => [folder, length])
	.toSorted(([, a], [, b]) => b - a);

console.log(`files: ${files.length}, lines: ${[...texts.values()].flat().length}`);
console.log(`median file: ${texts.get(byLength[files.length >> 1]).length} lines`);
for (const file of byLength.slice(0, 8)) console.log(`  ${texts.get(file).length}  ${file}`);
console.log(
	`folders: ${perFolder.length}, over 25 files: ${perFolder.filter(([, count]) => count > 25).length}`,
);
for (const [folder, count] of perFolder.slice(0, 8)) console.log(`  ${count}  ${folder}`);

const isComment = (line) => /^\s*(\/\/|\/?\*)/.test(line);
const castsIn = (line) =>
	line.replace(/(["'`]).*?\1/g, "").match(/(?<=[\w)\]}] )as (?!const\b)[\w({[]/g) ?? [];
const code = [...texts.values()]
	.flat()
	.filter((line) => !isComment(line) && !/^(import|export|\t\w+ as)\b/.test(line));
console.log(`casts: ${code.flatMap(castsIn).length}`);

/** A line that says something: not an import, a bracket or a name in a list. */
const says = (line) =>
	!isComment(line) && !/^\s*(import\b.*|export [*{].*|\} from .*|[\w\s:?"']*,|\W*)$/.test(line);
const seen = new Map();
for (const [file, lines] of texts) {
	const said = lines.map((line, at) => ({ line: line.trim(), at: at + 1 })).filter(({ line }) => says(line));
	for (let first = 0; first + RUN <= said.length; first++) {
		const run = said.slice(first, first + RUN);
		const text = run.map(({ line }) => line).join("\n");
		seen.set(text, [...(seen.get(text) ?? []), `${file}:${run[0].at}`]);
	}
}
const repeated = [...seen.values()].filter(({ length }) => length > 1);
console.log(`runs of ${RUN} lines that stand twice: ${repeated.length}`);
for (const found of repeated.slice(0, 8)) console.log(`  ${found.join(" = ")}`);
