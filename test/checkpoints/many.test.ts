// A restore of thousands of files, which several threads write side by side.
import { linkSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { partsOf } from "../../src/checkpoints/restore/parts.ts";
import type { WriteRequest } from "../../src/checkpoints/restore/write.ts";
import { type Bench, filesOf, openBench, put, takeTurn } from "./support.ts";

let bench: Bench;
beforeAll(async () => {
	bench = await openBench({ maxFiles: 10_000 });
});
afterAll(() => bench.end());

const FILES = 2400;

test("thousands of files come back exactly, with their modes, their folders and their other names, and the restore is undone alike", async () => {
	const folder = bench.workspace();
	const pathOf = (n: number): string => (n % 3 === 0 ? `flat-${n}` : `deep/${n % 7}/${n % 5}/file-${n}`);
	for (let n = 0; n < FILES; n++) put(folder, pathOf(n), `old ${n % 1000}\n`, n % 11 === 0 ? 0o600 : 0o644);
	put(folder, "persons", "old\n");
	// Names of one file, far apart in the order of paths.
	for (const name of ["a-name", "deep/name", "zz-name"])
		linkSync(join(folder, pathOf(0)), join(folder, name));
	const then = filesOf(folder);
	const before = await takeTurn(bench, folder, () => {
		// Whole folders are gone, and every thread makes some of them again.
		rmSync(join(folder, "deep"), { recursive: true });
		for (let n = 0; n < FILES; n += 3) put(folder, pathOf(n), `agent ${n}\n`);
	});
	put(folder, "persons", "person\n");
	const torn = filesOf(folder);

	const report = await bench.checkpoints.restore(folder, before);
	expect(report.restored).toHaveLength(FILES + 3);
	expect(report.kept).toEqual([{ path: "persons", reason: "changed_since" }]);
	expect(filesOf(folder)).toEqual({ ...then, persons: "file person\n" });
	expect(statSync(join(folder, pathOf(33))).mode & 0o777).toBe(0o600);
	expect(readdirSync(folder).filter((name) => name.startsWith(".keryx"))).toEqual([]);

	await bench.checkpoints.restore(folder, report.before.id);
	expect(filesOf(folder)).toEqual(torn);
});

test("every file is in one part, and the names of one file are in the same", () => {
	const writes = Array.from({ length: 101 }, (_, n) => ({
		path: `${n}`,
		now: null,
		want: { mode: "100644", oid: `${n}` },
		number: n,
		seen: { ino: BigInt(n % 25 === 0 ? 7777 : n) },
	}));
	const request = { writes, part: 0, parts: 1 } as unknown as WriteRequest;
	const parts = partsOf(request, 3);
	expect(parts.map(({ part, parts: count }) => [part, count])).toEqual([
		[0, 3],
		[1, 3],
		[2, 3],
	]);
	const numbers = parts.map((part) => part.writes.map(({ number }) => number));
	expect(numbers.flat().toSorted((a, b) => a - b)).toEqual(writes.map(({ number }) => number));
	expect(numbers.filter((own) => [0, 25, 50, 75, 100].some((n) => own.includes(n)))).toHaveLength(1);
});
