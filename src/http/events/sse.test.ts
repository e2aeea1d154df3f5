import fc from "fast-check";
import { expect, test } from "vitest";
import { framesOf, type SseFrame } from "./sse.ts";

async function* cut(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
	let at = 0;
	for (let n = 0; at < bytes.length; n++) {
		const size = sizes.length === 0 ? bytes.length : (sizes[n % sizes.length] as number);
		yield bytes.subarray(at, at + size);
		at += size;
	}
}

async function read(text: string, sizes: readonly number[] = []): Promise<SseFrame[]> {
	const frames: SseFrame[] = [];
	for await (const frame of framesOf(cut(new TextEncoder().encode(text), sizes))) frames.push(frame);
	return frames;
}

test("frames come out whole, however the bytes are cut", async () => {
	const frame = fc.record({
		event: fc.stringMatching(/^[a-z.]{1,12}$/),
		data: fc.string({ unit: "grapheme", minLength: 1 }).map((text) => text.replace(/[\r\n]/g, " ")),
		id: fc.stringMatching(/^e[0-9a-z]{1,8}$/),
	});
	await fc.assert(
		fc.asyncProperty(
			fc.array(frame, { maxLength: 5 }),
			fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 4 }),
			fc.constantFrom("\n", "\r\n"),
			async (frames, sizes, end) => {
				const text = frames
					.map(({ event, data, id }) => [`event: ${event}`, `id: ${id}`, `data: ${data}`, "", ""].join(end))
					.join("");
				expect(await read(text, sizes)).toEqual(frames);
			},
		),
	);
});

test("comments and frames without data are passed over, lines of data are joined", async () => {
	expect(await read(": beat\n\nid: 5\n\ndata: one\ndata:two\n\n")).toEqual([
		{ event: "message", data: "one\ntwo" },
	]);
});

test("what a cut left unfinished is not a frame", async () => {
	expect(await read("data: whole\n\ndata: half\n")).toEqual([{ event: "message", data: "whole" }]);
});
