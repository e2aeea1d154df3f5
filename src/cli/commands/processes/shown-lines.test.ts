import fc from "fast-check";
import { expect, test } from "vitest";
import { ShownOutput } from "./shown-lines.ts";

function shown(...pieces: readonly string[]): string {
	const output = new ShownOutput();
	return pieces.map((piece) => output.push(Buffer.from(piece))).join("") + output.end();
}

test("a line is shown as far as it is known, and once", () => {
	const output = new ShownOutput();
	expect(output.push(Buffer.from("name? "))).toBe("name? ");
	expect(output.push(Buffer.from("Ada\nnext"))).toBe("Ada\nnext");
	expect(output.end()).toBe("\n");
	expect(output.end()).toBe("");
});

test("what may still be drawn over waits for its end, and what came out otherwise is shown again", () => {
	expect(shown("\x1b[32m10%\r", "20%\r", "30%\r\n")).toBe("30%\n");
	expect(shown("10%", "\r20%\n")).toBe("10%\n20%\n");
});

test("whatever is printed in whatever pieces, no control reaches the terminal and whole plain lines do", () => {
	const unit = fc.constantFrom(
		"a",
		"é",
		"\n",
		"\r",
		"\x1b",
		"[2J",
		"]0;t\x07",
		"\u202e",
		"\u009b",
		"\b",
		"\t",
	);
	fc.assert(
		fc.property(fc.array(fc.string({ unit, maxLength: 12 }), { maxLength: 6 }), (pieces) => {
			const text = shown(...pieces);
			expect(text).not.toMatch(/[[\p{Cc}\p{Cf}]--[\n\t]]/v);
			const plain = pieces.join("");
			if (/^[aé\n]*$/.test(plain))
				expect(text).toBe(plain === "" || plain.endsWith("\n") ? plain : `${plain}\n`);
		}),
	);
});

test("a line without an end is not kept for ever", () => {
	const output = new ShownOutput();
	expect(output.push(Buffer.from(`\r${"x".repeat(200_000)}`)).length).toBeGreaterThan(190_000);
});
