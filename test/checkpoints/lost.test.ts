// What a restore does when the repository lacks something, and what a large one leaves behind.
import { execFileSync } from "node:child_process";
import { existsSync, linkSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bench, filesOf, openBench, put, takeTurn } from "./support.ts";

let bench: Bench;
beforeAll(async () => {
	bench = await openBench();
});
afterAll(() => bench.end());

/** Of the workspaces that were saved. */
function repositories(): readonly string[] {
	const folder = join(bench.home, "checkpoints");
	if (!existsSync(folder)) return [];
	return readdirSync(folder)
		.filter((name) => /^[0-9a-f]{32}$/.test(name))
		.map((name) => join(folder, name));
}

async function savedIn(work: () => Promise<string>): Promise<{ id: string; repository: string }> {
	const before = new Set(repositories());
	const id = await work();
	const [repository = ""] = repositories().filter((one) => !before.has(one));
	return { id, repository };
}

function git(repository: string, args: readonly string[], input: string | Buffer = ""): Buffer {
	return execFileSync("git", args, {
		input,
		env: { PATH: process.env.PATH, GIT_DIR: repository, GIT_CONFIG_NOSYSTEM: "1" },
	});
}

function oidOf(text: string): string {
	return execFileSync("git", ["hash-object", "--stdin"], { input: text, encoding: "utf8" }).trim();
}

/** Packs everything anew but for this content. */
function lose(repository: string, text: string): void {
	const packs = join(repository, "objects", "pack");
	const lost = oidOf(text);
	const all = git(repository, ["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"])
		.toString()
		.trim()
		.split("\n");
	expect(all).toContain(lost);
	const old = readdirSync(packs);
	const rest = all.filter((oid) => oid !== lost).join("\n");
	git(repository, ["pack-objects", "--quiet", join(packs, "pack")], `${rest}\n`);
	for (const file of old) rmSync(join(packs, file));
}

/** Flips bits of this content where it stands, with the object's head left as it is. */
function damage(repository: string, text: string): void {
	const packs = join(repository, "objects", "pack");
	const index = readdirSync(packs).find((file) => {
		if (!file.endsWith(".idx")) return false;
		return git(repository, ["show-index"], readFileSync(join(packs, file))).includes(oidOf(text));
	}) as string;
	const line = git(repository, ["show-index"], readFileSync(join(packs, index)))
		.toString()
		.split("\n")
		.find((one) => one.includes(oidOf(text))) as string;
	const file = join(packs, index.replace(".idx", ".pack"));
	const bytes = readFileSync(file);
	const at = Number(line.split(" ")[0]);
	for (let n = at + 8; n < at + 16; n++) bytes[n] = (bytes[n] as number) ^ 0xff;
	rmSync(file);
	writeFileSync(file, bytes);
}

for (const [how, spoil] of [
	["missing", lose],
	["damaged", damage],
] as const)
	test(`a content that is ${how} in the repository is named, and the restore of the others ends`, async () => {
		const folder = bench.workspace();
		const lost = `lost ${how} ${"0123456789 abcdefgh\n".repeat(40)}`;
		for (const name of ["a", "c", "e"]) put(folder, name, `old ${how} ${name}`);
		put(folder, "b", lost);
		const { id, repository } = await savedIn(() =>
			takeTurn(bench, folder, () => {
				for (const name of ["a", "b", "c", "e"]) put(folder, name, `agent ${name}`);
				put(folder, "d", "agent d");
			}),
		);
		spoil(repository, lost);
		const report = await bench.checkpoints.restore(folder, id);
		expect(report).toMatchObject({
			restored: ["a", "c", "e"],
			removed: ["d"],
			kept: [{ path: "b", reason: "lost" }],
		});
		expect(filesOf(folder)).toEqual({
			a: `file old ${how} a`,
			b: "file agent b",
			c: `file old ${how} c`,
			e: `file old ${how} e`,
		});
		expect(await bench.checkpoints.recover()).toEqual([]);
		// The next one is not in its way.
		expect(await bench.checkpoints.restore(folder, report.before.id)).toMatchObject({
			restored: ["a", "c", "d", "e"],
		});
	});

for (const [how, spoil] of [
	["missing", lose],
	["damaged", damage],
] as const)
	test(`a content that is ${how} keeps no later checkpoint from being taken`, async () => {
		const folder = bench.workspace();
		const lost = `later ${how} ${"0123456789 abcdefgh\n".repeat(40)}`;
		put(folder, "a", `first ${how}`);
		put(folder, "b", lost);
		const { repository } = await savedIn(() => takeTurn(bench, folder, () => put(folder, "a", `old ${how}`)));
		spoil(repository, lost);
		const id = await takeTurn(bench, folder, () => {
			put(folder, "a", "agent a");
			put(folder, "b", "agent b");
		});
		expect(await bench.checkpoints.restore(folder, id)).toMatchObject({
			restored: ["a"],
			kept: [{ path: "b", reason: "lost" }],
		});
		expect(filesOf(folder)).toEqual({ a: `file old ${how}`, b: "file agent b" });
	});

test("what was not saved and is gone is named, though nothing else has changed", async () => {
	const folder = bench.workspace();
	put(folder, ".env", "KEY=1");
	put(folder, "a", "old");
	const taken = await bench.checkpoints.take({ workspace: folder, label: "now" });
	rmSync(join(folder, ".env"));
	const id = taken.kind === "failed" ? "" : taken.id;
	expect(await bench.checkpoints.plan(folder, id)).toMatchObject({ untouched: [".env"] });
	expect(await bench.checkpoints.restore(folder, id)).toMatchObject({ untouched: [".env"] });
});

test("a large restore frees what it replaced, keeps nothing of it, and leaves other names of a file alone", async () => {
	const folder = bench.workspace();
	const names = Array.from({ length: 1100 }, (_, n) => `f${n % 7}/${n}`);
	for (const name of names) put(folder, name, `old ${name}`);
	const { id, repository } = await savedIn(() =>
		takeTurn(bench, folder, () => {
			for (const name of names) put(folder, name, `agent ${name}`);
			put(folder, "made", "agent");
		}),
	);
	const outside = join(bench.folder, "outside");
	linkSync(join(folder, "made"), outside);
	const report = await bench.checkpoints.restore(folder, id);
	expect([report.restored.length, report.removed, report.kept]).toEqual([1100, ["made"], []]);
	for (const name of names) expect(readFileSync(join(folder, name), "utf8")).toBe(`old ${name}`);
	expect(await bench.checkpoints.restore(folder, report.before.id)).toMatchObject({ kept: [] });
	for (const name of names) expect(readFileSync(join(folder, name), "utf8")).toBe(`agent ${name}`);
	// What is not freed when it closes is freed after the next start.
	await bench.checkpoints.close();
	const next = bench.again();
	await next.recover();
	await expect.poll(() => existsSync(`${repository}.replaced`)).toBe(false);
	expect(readFileSync(outside, "utf8")).toBe("agent");
	expect(statSync(outside).nlink).toBe(1);
});
