// What a restore writes aside: nothing of it stays, and it goes nowhere but where it belongs, whatever the disk and other programs do.
import { execFileSync } from "node:child_process";
import { type BigIntStats, lstatSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextRound } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RawPath } from "../../src/checkpoints/names.ts";
import { blobId } from "../../src/checkpoints/read-file.ts";
import { Flush } from "../../src/checkpoints/restore/flush.ts";
import { type WriteRequest, writeShare } from "../../src/checkpoints/restore/writes.ts";
import { type Bench, openBench, put, takeTurn } from "./support.ts";

const FILES = 40;
const FILE_BYTES = 16 * 1024;
const DISK_KB = 1024;

let bench: Bench;
let folder: string;
let isMounted = false;
beforeEach(async () => {
	bench = await openBench();
	folder = bench.workspace();
});
afterEach(async () => {
	if (isMounted) execFileSync("umount", ["-l", folder]);
	isMounted = false;
	await bench.end();
});

test("on a full disk a restore leaves nothing of what it began to write", async () => {
	mountSmall();
	write("old");
	const before = await takeTurn(bench, folder, () => {
		for (let n = 0; n < FILES; n++) put(folder, `file-${n}`, "agent");
	});
	fill(0);
	const { restored, kept } = await bench.checkpoints.restore(folder, before);
	expect(restored.length + kept.length).toBe(FILES);
	for (const { path } of kept) expect(readFileSync(join(folder, path), "utf8")).toBe("agent");
	for (const path of restored) expect(readFileSync(join(folder, path), "utf8")).toBe(contentOf("old"));
	expect(left(folder)).toEqual([]);
});

test("with room for a few files at a time a restore puts all of them back", async () => {
	mountSmall();
	write("old");
	const before = await takeTurn(bench, folder, () => write("agent"));
	fill(4);
	const { restored, kept } = await bench.checkpoints.restore(folder, before);
	expect([restored.length, kept]).toEqual([FILES, []]);
	for (const path of restored) expect(readFileSync(join(folder, path), "utf8")).toBe(contentOf("old"));
	expect(left(folder)).toEqual([]);
});

test("into a folder that is moved away meanwhile nothing is put, and the report says so", async () => {
	const writing = writeShare(await agentWrote());
	// It waits for the disk once all of them are written aside.
	while (left(join(folder, "a")).length < FILES) await nextRound();
	const outside = join(bench.folder, "outside");
	renameSync(join(folder, "a"), outside);
	expect(new Set((await writing).outcomes.values())).toEqual(new Set(["changing"]));
	for (let n = 0; n < FILES; n++) expect(readFileSync(join(outside, `file-${n}`), "utf8")).toBe("agent");
	expect(left(outside)).toEqual([]);
});

test("what a restore that was cut off wrote aside for a file that a person has changed since is gone, too", async () => {
	const request = await agentWrote();
	for (let n = 0; n < FILES; n++) put(folder, `a/.keryx-restore-${request.id}-${n}`, "old");
	put(folder, "a/file-3", "person");
	const { outcomes } = await writeShare(request);
	expect([outcomes.get("a/file-3" as RawPath), outcomes.get("a/file-4" as RawPath)]).toEqual([
		"changing",
		"done",
	]);
	expect(readFileSync(join(folder, "a/file-3"), "utf8")).toBe("person");
	expect(left(join(folder, "a"))).toEqual([]);
});

test("a path that is too long for the system to look at does not stop what is put on the disk", async () => {
	const flush = new Flush(folder);
	flush.passes({ ...lstatSync(folder, { bigint: true }), dev: -1n } as BigIntStats);
	flush.file(`${"folder/".repeat(700)}file` as RawPath, "draft");
	await flush.all();
	expect(flush.left().paths).toEqual([]);
});

/** What undoes it. */
async function agentWrote(): Promise<WriteRequest> {
	for (let n = 0; n < FILES; n++) put(folder, `a/file-${n}`, "old");
	await takeTurn(bench, folder, () => {
		for (let n = 0; n < FILES; n++) put(folder, `a/file-${n}`, "agent");
	});
	const [repository = ""] = readdirSync(join(bench.home, "checkpoints")).filter((name) => /^\w+$/.test(name));
	const entry = (text: string) => ({ mode: "100644", oid: blobId(Buffer.from(text)), permissions: 0o644 });
	const writes = Array.from({ length: FILES }, (_, n) => ({
		path: `a/file-${n}` as RawPath,
		now: entry("agent"),
		want: entry("old"),
	}));
	return {
		root: folder,
		repository: join(bench.home, "checkpoints", repository),
		id: "restore",
		share: 0,
		shares: 1,
		writes,
		numbers: writes.map((_, n) => n),
		steps: writes.length,
	};
}

/** A small disk, for root: an ordinary user mounts nothing, and finds room. */
function mountSmall(): void {
	if (process.geteuid?.() !== 0) return;
	execFileSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_KB}k`, "none", folder]);
	isMounted = true;
}

/** Leaves room for so many files. */
function fill(files: number): void {
	if (!isMounted) return;
	const [free] = /\d+/.exec(execFileSync("df", ["--output=avail", "-k", folder], { encoding: "utf8" })) ?? [
		"",
	];
	put(folder, "filler.log", Buffer.alloc(Number(free) * 1024 - files * FILE_BYTES));
}

function write(what: string): void {
	for (let n = 0; n < FILES; n++) put(folder, `file-${n}`, contentOf(what));
}

function contentOf(what: string): string {
	return what.padEnd(FILE_BYTES, "-");
}

function left(where: string): readonly string[] {
	return readdirSync(where).filter((name) => name.startsWith(".keryx-restore-"));
}
