// The rules of .gitignore files against git itself, and what would hold a look at a workspace up.
import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { IgnoreRules, ignoreBudget } from "../../src/checkpoints/ignore.ts";
import type { RawPath } from "../../src/checkpoints/names.ts";
import { type Bench, makePipe, openBench, put, treeOf } from "./support.ts";

/** Random ones in `npm run test:crash`. */
const RUNS = process.env.KERYX_RESTORE_RUNS;

let bench: Bench;
beforeAll(async () => {
	bench = await openBench();
});
afterAll(() => bench.end());

const sign = fc.constantFrom(
	..."aab*?/.!#\\ -[]^",
	"**",
	"**/",
	"/**",
	"[a-b]",
	"[!a]",
	"[[:alpha:]]",
	"\\*",
	"é",
);
const pattern = fc.array(sign, { minLength: 1, maxLength: 7 }).map((signs) => signs.join(""));
const rules = fc.array(pattern, { minLength: 1, maxLength: 4 }).map((lines) => lines.join("\n"));
const part = fc.constantFrom(
	"a",
	"b",
	"ab",
	"ba",
	"aab",
	".a",
	"a.b",
	"é",
	"a b",
	"*",
	"[a]",
	"!a",
	"#a",
	"A",
);
const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));

test("say of every path what git says", { timeout: 600_000 }, () => {
	const folder = mkdtempSync(join(tmpdir(), "keryx-ignore-"));
	const git = (args: readonly string[], input: Buffer | string = "") =>
		execFileSync("git", args, { cwd: folder, input, env: { PATH: process.env.PATH, HOME: folder } });
	try {
		git(["init", "-q"]);
		fc.assert(
			fc.property(
				rules,
				rules,
				fc.uniqueArray(path, { minLength: 5, maxLength: 20 }),
				(above, below, files) => {
					for (const name of readdirSync(folder))
						if (name !== ".git") rmSync(join(folder, name), { recursive: true });
					mkdirSync(join(folder, "a"));
					for (const file of files) tryPut(folder, file);
					writeFileSync(join(folder, ".gitignore"), above);
					writeFileSync(join(folder, "a/.gitignore"), below);
					const all = [...treeOf(folder).keys()].filter((one) => !/^\.git(ignore$|\/)/.test(one)).sort();
					expect(ignoredByUs(folder, all)).toEqual(ignoredByGit(git, all));
				},
			),
			{
				...(RUNS === undefined ? { seed: 17, numRuns: 100 } : { numRuns: Number(RUNS) }),
				// To git two stars are special where its wildcards begin, too.
				examples: [["aa", ".**/**\na", ["a", "ab", "A", "b", "[a]"]]],
			},
		);
	} finally {
		rmSync(folder, { recursive: true });
	}
});

/** Unless a file stands where a folder is needed, or the other way. */
function tryPut(folder: string, path: string): void {
	const parts = path.split("/");
	const isBlocked = parts.some((_, n) => {
		const stats = lstatSync(join(folder, ...parts.slice(0, n + 1)), { throwIfNoEntry: false });
		return stats !== undefined && stats.isDirectory() === (n === parts.length - 1);
	});
	if (!isBlocked) put(folder, path, "x");
}

/** A path that ends with / is a folder; one in a folder that is ignored is ignored. Names as bytes. */
function ignoredByUs(folder: string, paths: readonly string[]): readonly string[] {
	const top = new IgnoreRules(folder, "", null);
	const below = new IgnoreRules(folder, "a/", top);
	const budget = ignoreBudget();
	return paths.filter((path) => {
		const isFolder = path.endsWith("/");
		const parts = path.replace(/\/$/, "").split("/");
		return parts.some((_, n) => {
			const one = parts.slice(0, n + 1).join("/") as RawPath;
			const rules = one.startsWith("a/") ? below : top;
			return rules.ignores(one, isFolder || n < parts.length - 1, budget);
		});
	});
}

function ignoredByGit(
	git: (args: readonly string[], input?: Buffer) => Buffer,
	paths: readonly string[],
): readonly string[] {
	let out = "";
	try {
		out = git(
			["check-ignore", "-z", "--stdin", "--no-index"],
			Buffer.from(paths.map((path) => `./${path.replace(/\/$/, "")}\0`).join(""), "latin1"),
		).toString("latin1");
	} catch (error) {
		// 1: none of them.
		if ((error as { status?: number }).status !== 1) throw error;
	}
	const found = new Set(out.split("\0"));
	return paths.filter((path) => found.has(`./${path.replace(/\/$/, "")}`));
}

test("rules that ignored their own file are gone with it", async () => {
	const folder = bench.workspace();
	put(folder, ".gitignore", "*.tmp\n");
	put(folder, "out/.gitignore", "*\n");
	put(folder, "out/notes", "1");
	const taken = await bench.checkpoints.take({ workspace: folder, label: "x" });
	expect(taken).toMatchObject({ checkpoint: { files: 1 } });
	rmSync(join(folder, "out/.gitignore"));
	expect(await bench.checkpoints.take({ workspace: folder, label: "x" })).toMatchObject({
		checkpoint: { files: 2, excluded: [] },
	});
});

test("a pipe, a link or a folder called .gitignore holds nothing up, and is no rule", async () => {
	const folder = bench.workspace();
	put(folder, "a/x.tmp", "1");
	put(folder, "b/x.tmp", "1");
	put(folder, "rules", "*.tmp\n");
	makePipe(join(folder, ".gitignore"));
	symlinkSync("../rules", join(folder, "a/.gitignore"));
	mkdirSync(join(folder, "b/.gitignore"));
	const taken = await bench.checkpoints.take({ workspace: folder, label: "x" });
	expect(taken).toMatchObject({
		kind: "taken",
		checkpoint: { files: 4, excluded: [{ reason: "special", count: 1 }] },
	});

	rmSync(join(folder, ".gitignore"));
	put(folder, ".gitignore", "*.tmp\n");
	expect(await bench.checkpoints.take({ workspace: folder, label: "x" })).toMatchObject({
		checkpoint: { files: 3, excluded: [{ reason: "gitignore", count: 2 }] },
	});
	rmSync(join(folder, ".gitignore"));
	makePipe(join(folder, ".gitignore"));
	expect(await bench.checkpoints.take({ workspace: folder, label: "x" })).toMatchObject({
		checkpoint: { files: 4 },
	});
});

test("a pattern on which git would try every way is decided in bounded time", async () => {
	const folder = bench.workspace();
	const name = "a".repeat(200);
	put(folder, ".gitignore", `${"*a".repeat(60)}b\n${"**/*a*a*a*a/".repeat(12)}b\n${"[a*]*".repeat(40)}c\n`);
	for (let n = 0; n < 50; n++) put(folder, `${"aaaaaaaaaaaaaaaaaaaa/".repeat(15)}${name}${n}`, "1");
	expect(await bench.checkpoints.take({ workspace: folder, label: "x" })).toMatchObject({
		kind: "taken",
		checkpoint: { files: 51 },
	});
});

test("a class of half a million characters costs no more than a short one", async () => {
	const folder = bench.workspace();
	put(folder, ".gitignore", `*[${"b-z".repeat(170_000)}]x\n`);
	for (let n = 0; n < 1000; n++) put(folder, `${"a".repeat(100)}${n}x`, "1");
	put(folder, "acx", "1");
	expect(await bench.checkpoints.take({ workspace: folder, label: "x" })).toMatchObject({
		kind: "taken",
		checkpoint: { files: 1001, excluded: [{ reason: "gitignore", count: 1, examples: ["acx"] }] },
	});
});

test("the rules of an everyday project are followed with as many files as a workspace may have", () => {
	const folder = bench.workspace();
	const kinds = (n: number) => [
		`*.ext${n}`,
		`[Tt]ool${n}`,
		`**/out${n}/*`,
		`/gen${n}`,
		`*.r${n}.user`,
		`name${n}`,
	];
	put(folder, ".gitignore", Array.from({ length: 40 }, (_, n) => kinds(n).join("\n")).join("\n"));
	const rules = new IgnoreRules(folder, "", null);
	const budget = ignoreBudget();
	for (let n = 0; n < 50_000; n++) {
		const path = `packages/component-${n % 100}/src/lib/some-module-name-${n}.test.ts` as RawPath;
		expect(rules.ignores(path, false, budget)).toBe(false);
	}
	expect(rules.ignores("packages/out7/a" as RawPath, false, budget)).toBe(true);
	expect(rules.ignores("src/a.r39.user" as RawPath, false, budget)).toBe(true);
});

test("reading rules counts: a file of them in each of many folders is no way around the limit", () => {
	const folder = bench.workspace();
	put(folder, ".gitignore", `${"[a]".repeat(100_000)}\n`);
	const budget = ignoreBudget();
	const look = () => new IgnoreRules(folder, "", null).ignores("a" as RawPath, false, budget);
	expect(() => {
		for (let n = 0; n < 10; n++) look();
	}).toThrow("its patterns take too long");
});

test("rules that are too large or take too long are a reason to take none, in words", async () => {
	const folder = bench.workspace();
	put(folder, "sub/a", "1");
	put(folder, "sub/.gitignore", "x\n".repeat(600_000));
	expect(await bench.checkpoints.take({ workspace: folder, label: "x" })).toMatchObject({
		kind: "failed",
		code: "checkpoint.failed",
		reason: "the rules in sub/.gitignore cannot be followed: it is larger than 1 MB",
	});
	put(folder, "sub/.gitignore", `${"*a".repeat(100)}[bc]\n`.repeat(4000));
	for (let n = 0; n < 20; n++) put(folder, `sub/${"a".repeat(200)}${n}`, "1");
	expect(await bench.checkpoints.take({ workspace: folder, label: "x" })).toMatchObject({
		kind: "failed",
		reason: "the rules in sub/.gitignore cannot be followed: its patterns take too long",
	});
});
