import fc from "fast-check";
import { expect, test } from "vitest";
import type { LogPiece } from "../types.ts";
import { allBetween, startOfLast } from "./start.ts";

/** A log with a part cut out, read a few bytes at a time. */
function logOf(text: string, cut: { from: number; to: number } = { from: 0, to: 0 }, most = 7) {
	const all = Buffer.from(text);
	return (_id: string, { from: asked, limit }: { from: number; limit: number }): Promise<LogPiece> => {
		const from = asked >= cut.from && asked < cut.to ? cut.to : asked;
		const end = from < cut.from ? cut.from : all.length;
		const data = all.subarray(from, Math.min(end, from + Math.min(limit, most)));
		return Promise.resolve({ from, data, lost: from - asked, next: from + data.length, size: all.length });
	};
}

test("the last lines of any log are found", async () => {
	const line = fc.string({ unit: fc.constantFrom("a", "é"), maxLength: 9 });
	await fc.assert(
		fc.asyncProperty(fc.array(line, { maxLength: 12 }), fc.boolean(), fc.nat(14), async (lines, ends, n) => {
			const text = lines.map((one) => `${one}\n`).join("") + (ends ? "" : "tail");
			const size = Buffer.byteLength(text);
			const read = logOf(text);
			const start = await startOfLast(read, "x", n, size);
			const pieces = await allBetween(read, "x", start, size);
			const all = ends ? lines.map((one) => `${one}\n`) : [...lines.map((one) => `${one}\n`), "tail"];
			expect(Buffer.concat(pieces.map(({ data }) => data)).toString()).toBe(
				n === 0 ? "" : all.slice(-n).join(""),
			);
		}),
	);
});

test("what was cut out is stepped over, and told by the piece behind it", async () => {
	const lost = 4_000_000;
	const text = `one\ntwo\n${"x".repeat(lost)}three\nfour\n`;
	const size = Buffer.byteLength(text);
	const read = logOf(text, { from: 8, to: 8 + lost }, 1 << 20);
	expect(await startOfLast(read, "x", 3, size)).toBe(4);
	expect(await startOfLast(read, "x", 2, size)).toBe(8);
	expect(await startOfLast(read, "x", 1, size)).toBe(size - 5);
	const pieces = await allBetween(read, "x", 4, size);
	expect(pieces.map(({ lost: before, data }) => [before, data.toString()])).toEqual([
		[0, "two\n"],
		[lost, "three\nfour\n"],
	]);
});
