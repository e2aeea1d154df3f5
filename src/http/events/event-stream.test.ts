import { expect, test } from "vitest";
import { KeryxError } from "../../errors.ts";
import { eventStream } from "./event-stream.ts";

const PIECE = Buffer.from("data: {}\n\n");
const NOBODY = { left: () => {}, cutOff: () => {} };

async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
	return new Response(stream).text();
}

test("pieces go out as they are, after a first comment", async () => {
	async function* pieces(): AsyncGenerator<Uint8Array> {
		yield PIECE;
		yield PIECE;
	}
	const reader = eventStream(pieces(), NOBODY).getReader();
	const read: string[] = [];
	for (let next = await reader.read(); !next.done; next = await reader.read())
		read.push(Buffer.from(next.value).toString("utf8"));
	expect(read).toEqual([": following\n\n", String(PIECE), String(PIECE)]);
});

test("a failure is the last frame, with its code", async () => {
	// biome-ignore lint/correctness/useYield: it fails before there is anything to say.
	async function* pieces(): AsyncGenerator<Uint8Array> {
		throw new KeryxError("store.io", "the disk is gone");
	}
	const text = await textOf(eventStream(pieces(), NOBODY));
	expect(text).toMatch(/^: following\n\nevent: error\ndata: \{"error":\{"code":"store.io".*\n\n$/);
});

test.each([0, 1, 2])("a reader that leaves after %i pieces ends the following", async (count) => {
	const seen = { left: false, ended: false };
	async function* pieces(): AsyncGenerator<Uint8Array> {
		try {
			for (;;) yield PIECE;
		} finally {
			seen.ended = true;
		}
	}
	const reader = eventStream(pieces(), {
		...NOBODY,
		left: () => {
			seen.left = true;
		},
	}).getReader();
	for (let n = 0; n < count; n++) await reader.read();
	await reader.cancel();
	expect(seen).toEqual({ left: true, ended: count > 0 });
});

test("a reader that takes nothing for four beats is cut off, one that reads gets beats", async () => {
	let beat = (): void => {};
	let cuts = 0;
	const stream = eventStream(
		(async function* () {
			await new Promise(() => {});
			yield PIECE;
		})(),
		{
			...NOBODY,
			cutOff: () => {
				cuts++;
			},
			every: (given) => {
				beat = given;
				return () => {};
			},
		},
	);
	// The first comment waits to be read: no beat is added to it.
	for (let n = 0; n < 3; n++) beat();
	expect(cuts).toBe(0);
	const reader = stream.getReader();
	const read = async () => String(Buffer.from((await reader.read()).value as Uint8Array));
	expect(await read()).toBe(": following\n\n");
	beat();
	expect(await read()).toBe(": beat\n\n");
	beat();
	for (let n = 0; n < 3; n++) beat();
	expect(cuts).toBe(0);
	for (let n = 0; n < 3; n++) beat();
	expect(cuts).toBe(1);
});
