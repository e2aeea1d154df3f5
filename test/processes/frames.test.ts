import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeFrame, type Frame, FrameReader } from "../../src/processes/frames.ts";

test("frames are read as they were written, however they are cut on the way", () => {
	const frames = fc.array(
		fc.record({
			header: fc.dictionary(fc.string(), fc.jsonValue()),
			payload: fc.uint8Array({ maxLength: 300 }),
		}),
		{ maxLength: 8 },
	);
	fc.assert(
		fc.property(frames, fc.array(fc.nat(40), { minLength: 1 }), (sent, cuts) => {
			const bytes = Buffer.concat(sent.flatMap(({ header, payload }) => encodeFrame(header, payload)));
			const reader = new FrameReader();
			const got: Frame[] = [];
			for (let at = 0, turn = 0; at < bytes.length; turn++) {
				const length = (cuts[turn % cuts.length] as number) + 1;
				got.push(...reader.read(bytes.subarray(at, at + length)));
				at += length;
			}
			expect(got.map(({ header, payload }) => [JSON.stringify(header), [...payload]])).toEqual(
				sent.map(({ header, payload }) => [JSON.stringify(header), [...payload]]),
			);
		}),
	);
});

test.each([
	["a header of 4 GB", Buffer.from([255, 255, 255, 255, 0, 0, 0, 0])],
	["a payload of 4 GB", Buffer.from([0, 0, 0, 2, 255, 255, 255, 255])],
	["no JSON", Buffer.from([0, 0, 0, 1, 0, 0, 0, 0, 120])],
	["no object", Buffer.concat(encodeFrame([1]))],
	["an empty header", Buffer.alloc(8)],
])("%s is no frame", (_, bytes) => {
	expect(() => [...new FrameReader().read(bytes)]).toThrow();
});
