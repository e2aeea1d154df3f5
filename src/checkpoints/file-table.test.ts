// The table of files against a plain map of them, through the file that the next look reads.
import type { BigIntStats } from "node:fs";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { readCache, writeCache } from "./cache.ts";
import { FileTable, type Found, FoundFiles, NO_FILES } from "./file-table.ts";
import type { RawPath } from "./names.ts";
import { foundOf, isUnchanged } from "./read-file.ts";

const folder = mkdtempSync(join(tmpdir(), "keryx-table-"));
const file = join(folder, "scan.cache");
afterAll(() => rmSync(folder, { recursive: true }));

const rest = {
	commit: "c".repeat(40),
	tree: "d".repeat(40),
	manifest: Buffer.from("m"),
	facts: Buffer.from("f"),
};
const name = fc.stringMatching(/^[ab\xff]{1,2}$/);
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/") as RawPath);
const found: fc.Arbitrary<Found> = fc.record({
	mode: fc.constantFrom("100644", "100755"),
	permissions: fc.integer({ min: 0, max: 0o7777 }),
	oid: fc.stringMatching(/^[0-9a-f]{40}$/),
	size: fc.nat(),
	mtime: fc.double({ min: 0, max: 2e12, noNaN: true }),
	ctime: fc.double({ min: 0, max: 2e12, noNaN: true }),
	ino: fc.maxSafeNat(),
});

test("a look keeps some files, changes and adds others, and the next look reads all of them", () => {
	const files = fc.dictionary(path as fc.Arbitrary<string>, found);
	fc.assert(
		fc.property(files, files, fc.array(path), (first, second, asked) => {
			const before = written(NO_FILES, [], first);
			const kept = Object.keys(first).filter((one) => !(one in second)) as RawPath[];
			// Not all of them: some are gone.
			const still = kept.filter((_, n) => n % 3 !== 0);
			const after = written(before, still, second);
			const expected = new Map([
				...still.map((one) => [one, first[one]] as const),
				...Object.entries(second),
			]);
			expect(after.size).toBe(expected.size);
			for (const one of [...expected.keys(), ...Object.keys(first), ...asked] as RawPath[])
				expect(after.get(one)).toEqual(expected.get(one));
		}),
	);
});

test("a look names the files that it did not keep, and those with unusual permissions", () => {
	const usual = { ...plain("a"), permissions: 0o644 };
	const secret = { ...plain("b"), permissions: 0o600 };
	const before = written(NO_FILES, [], { "x/a": usual, "x/b": secret, c: secret });
	const files = new FoundFiles(before);
	files.keep(before.rowOf("x/b" as RawPath));
	files.set("d" as RawPath, usual);
	expect([...files.unkept()].sort()).toEqual(["c", "x/a"]);
	expect([...files.unusual(() => 0o644)]).toEqual([["x/b", 0o600]]);
	expect(files.has("x/b" as RawPath)).toBe(true);
	expect(files.has("c" as RawPath)).toBe(false);
});

test("two large inode numbers that differ in their last digit are two files", () => {
	const stats = (ino: bigint) =>
		({
			ino,
			mode: 0o100644n,
			size: 1n,
			mtimeNs: 5n,
			ctimeNs: 7n,
			isSymbolicLink: () => false,
		}) as BigIntStats;
	const large = 2n ** 60n;
	expect(isUnchanged(foundOf("", stats(large + 1n)), stats(large + 1n))).toBe(true);
	expect(isUnchanged(foundOf("", stats(large + 1n)), stats(large + 2n))).toBe(false);
});

function plain(letter: string): Found {
	return { mode: "100644", permissions: 0o644, oid: letter.repeat(40), size: 1, mtime: 2, ctime: 3, ino: 4 };
}

/** As the next look reads it. */
function written(
	before: FileTable,
	kept: readonly RawPath[],
	others: Readonly<Record<string, Found>>,
): FileTable {
	const files = new FoundFiles(before);
	for (const one of kept) files.keep(before.rowOf(one));
	for (const [one, is] of Object.entries(others)) files.set(one as RawPath, is);
	writeCache(file, files.columns(), rest);
	const read = readCache(file);
	expect({ ...read, files: null }).toEqual({ ...rest, files: null });
	return read?.files ?? new FileTable(NO_FILES.columns);
}
