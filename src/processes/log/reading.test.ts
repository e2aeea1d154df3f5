import { expect, test } from "vitest";
import { createSecrets } from "../../secrets/index.ts";
import { bothEnds, newOutput, type ReadLog, tailOf } from "./reading.ts";

const VALUE = "Zq7Kp2Lx9Wm4Rt8Ny3Bv6Hc1Jd5Fg0Sa";
const secrets = createSecrets(new Map([["TOKEN", VALUE]]));
const hiding = {
	hide: (text: string) => secrets.hide(text),
	hideBytes: (bytes: Uint8Array) => secrets.hideBytes(bytes),
};

function log(text: string): ReadLog {
	const all = Buffer.from(text);
	return (_id, { from, limit }) => {
		const data = all.subarray(from, from + limit);
		return Promise.resolve({ data, from, next: from + data.length, size: all.length, lost: 0 });
	};
}

/** Nothing but the line that a progress bar writes over and over, so that a window shows its first byte. */
const bar = (length: number) => "\rx".repeat(Math.ceil(length / 2)).slice(0, length);
const pieces = Array.from({ length: VALUE.length - 5 }, (_, at) => VALUE.slice(at, at + 6));
const hasPiece = (text: string) => pieces.some((piece) => text.includes(piece));

test("I12: a secret at the edge of what is read of a long output leaves no part of itself", async () => {
	const shown: string[] = [];
	for (let over = 0; over <= VALUE.length; over += 3) {
		const most = 100;
		const window = most * 16;
		const end = `\n${bar(window - over - 1)}`;
		shown.push((await tailOf(log(`${bar(5000)}${VALUE}${end}`), "x", { most, ...hiding })).text);
		const options = { most, ...hiding, mark: () => "[...]" };
		shown.push((await bothEnds(log(`${bar(5000)}${VALUE}${end}`), "x", options)).text);
		const begin = `${bar(window - over - 1)}\n`;
		shown.push((await bothEnds(log(`${begin}${VALUE}${bar(5000)}`), "x", options)).text);
	}
	expect(shown.filter(hasPiece)).toEqual([]);
});

test("I12: of a secret that was half printed when the output was last read, the other half is hidden, and nothing else changes", async () => {
	const read = log(`token ${VALUE} ok\n`);
	const options = { most: 1000, ended: true, ...hiding };
	const { text, to } = await newOutput(read, "x", { from: 26, ...options });
	expect(text).toBe(`${"x".repeat(12)} ok\n`);
	expect(to).toBe(6 + VALUE.length + 4);
	expect((await newOutput(read, "x", { from: 0, ...options })).text).toBe("token \u0024{secret:TOKEN} ok\n");
});
