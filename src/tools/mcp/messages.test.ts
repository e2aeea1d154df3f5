import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { answeredId, LONGEST_MESSAGE, messagesIn, type SizedLine } from "./messages.ts";

async function read(...pieces: readonly string[]): Promise<SizedLine[]> {
	const lines: SizedLine[] = [];
	for await (const one of messagesIn(Readable.from(pieces.map((piece) => Buffer.from(piece)))))
		lines.push(one);
	return lines;
}

describe("what a server prints", () => {
	it("is read by line, in whatever pieces it comes", async () => {
		const lines = await read(
			'{"jsonrpc":"2.0","id":1,',
			'"result":{}}\nhello\n{"jsonrpc":"2.0","method":"x"}',
			"\n",
		);
		expect(lines).toMatchObject([
			{ kind: "message", message: { id: 1 } },
			{ kind: "other", bytes: 5 },
			{ kind: "message", message: { method: "x" } },
		]);
	});

	it("is not held where it is too long, and names the request it answers", async () => {
		const long = "x".repeat(LONGEST_MESSAGE / 2);
		for (const [begin, end] of [
			['{"jsonrpc":"2.0","id":7,"result":"', '"}\n'],
			['{"result":"', '","jsonrpc":"2.0","id":7}\n'],
		] as const)
			expect(await read(begin, long, long, long, end, '{"jsonrpc":"2.0","method":"x"}\n')).toMatchObject([
				{ kind: "too_long", id: 7 },
				{ kind: "message" },
			]);
		expect(await read(`${long}${long}${long}\n`)).toMatchObject([{ kind: "too_long", id: null }]);
	});

	it("cannot hide a foreign id in the middle", () => {
		expect(answeredId('{"result":"","id":3,', '"}')).toBe(null);
	});
});
