import { mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LogWriter } from "../../src/processes/host/log-writer.ts";
import { type LogPiece, readLog } from "../../src/processes/index.ts";

const ID = "proc_0123456789ab";
let home: string;
let folder: string;

beforeEach(() => {
	home = mkdtempSync(join(tmpdir(), "keryx-log-"));
	folder = join(home, "processes", ID);
	mkdirSync(folder, { recursive: true });
});

afterEach(() => rmSync(home, { recursive: true }));

/** A byte tells its place, so that one in the wrong place is seen. */
function bytes(from: number, length: number): Buffer {
	return Buffer.from(
		Array.from({ length }, (_, index) => ((from + index) * 31 + ((from + index) >> 8)) & 255),
	);
}

async function append(log: LogWriter, data: Buffer): Promise<void> {
	const written = log.appendNow(data);
	await log.append(data.subarray(written));
}

async function readAll(limit: number, from = 0): Promise<LogPiece[]> {
	const pieces: LogPiece[] = [];
	for (let at = from; ; ) {
		const piece = await readLog({ home, id: ID, from: at, limit });
		if (piece.next === at) return pieces;
		expect(piece.from).toBe(at + piece.lost);
		expect(piece.next).toBe(piece.from + piece.data.length);
		expect(piece.data.equals(bytes(piece.from, piece.data.length))).toBe(true);
		pieces.push(piece);
		at = piece.next;
	}
}

const kept = (pieces: readonly LogPiece[]) => pieces.reduce((sum, { data }) => sum + data.length, 0);
const lost = (pieces: readonly LogPiece[]) => pieces.reduce((sum, { lost }) => sum + lost, 0);

test("whatever is written, every byte is read at its place or counted as lost", async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(fc.integer({ min: 1, max: 700 }), { maxLength: 30 }),
			fc.integer({ min: 50, max: 5000 }),
			fc.integer({ min: 1, max: 3000 }),
			fc.nat(12_000),
			async (sizes, maxBytes, limit, from) => {
				rmSync(folder, { recursive: true });
				mkdirSync(folder);
				const log = new LogWriter(folder, maxBytes);
				for (const size of sizes) await append(log, bytes(log.size, size));
				await log.settle();
				await log.close();
				const total = sizes.reduce((sum, size) => sum + size, 0);
				expect(log.size).toBe(total);
				const pieces = await readAll(limit);
				expect(kept(pieces) + lost(pieces)).toBe(total);
				if (total <= maxBytes) expect(lost(pieces)).toBe(0);
				expect(kept(pieces)).toBeLessThanOrEqual(maxBytes + 8);
				expect(kept(pieces)).toBeGreaterThanOrEqual(Math.min(total, Math.floor(maxBytes * 0.9)));
				const rest = await readAll(limit, from);
				expect(kept(rest) + lost(rest)).toBe(Math.max(0, total - from));
				expect((await readLog({ home, id: ID, from: 0, limit: 0 })).size).toBe(total);
			},
		),
		{ numRuns: 60 },
	);
});

test("a reader that is overtaken by the writer is told what it missed, and never reads a byte at another's place", async () => {
	const log = new LogWriter(folder, 20_000);
	let isDone = false;
	const writing = (async () => {
		for (let i = 0; i < 400; i++) await append(log, bytes(log.size, 997));
		isDone = true;
	})();
	let at = 0;
	let counted = 0;
	while (!isDone || at < log.size) {
		const piece = await readLog({ home, id: ID, from: at, limit: 1500 });
		expect(piece.data.equals(bytes(piece.from, piece.data.length))).toBe(true);
		counted += piece.lost + piece.data.length;
		at = piece.next;
	}
	await writing;
	await log.close();
	expect(counted).toBe(400 * 997);
});

test("what the disk does not take is lost at its place, and pushes nothing else out", async () => {
	const log = new LogWriter(folder, 1000);
	await append(log, bytes(0, 950));
	const aside = `${folder}.aside`;
	renameSync(folder, aside);
	for (let i = 0; i < 50; i++) await append(log, bytes(log.size, 100));
	renameSync(aside, folder);
	await append(log, bytes(log.size, 60));
	await log.close();
	const pieces = await readAll(10_000);
	expect(log.size).toBe(950 + 5000 + 60);
	expect(kept(pieces) + lost(pieces)).toBe(log.size);
	// The last file was open all the time: it was filled.
	expect(lost(pieces)).toBeGreaterThan(4900);
	expect(kept(pieces)).toBeGreaterThan(950);
});

test("a size is told by the files also when the end of it was lost, and when there was nothing", async () => {
	const log = new LogWriter(folder, 1000);
	await log.settle();
	expect(await readLog({ home, id: ID, from: 0, limit: 10 })).toMatchObject({ size: 0, lost: 0, next: 0 });
	await append(log, bytes(0, 400));
	const aside = `${folder}.aside`;
	renameSync(folder, aside);
	await append(log, bytes(400, 100));
	renameSync(aside, folder);
	await log.settle();
	await log.close();
	expect(await readLog({ home, id: ID, from: 400, limit: 10 })).toMatchObject({
		size: 500,
		lost: 100,
		next: 500,
	});
});

test.each([
	[-1, 1],
	[0.5, 1],
	[0, -1],
	[0, Number.NaN],
	[Number.POSITIVE_INFINITY, 1],
])("a log is not read from %d with a limit of %d", async (from, limit) => {
	await expect(readLog({ home, id: ID, from, limit })).rejects.toMatchObject({ code: "argument.invalid" });
});
