import fc from "fast-check";
import { expect, it } from "vitest";
import { whatsappBare, whatsappId } from "./whatsapp.ts";

it.each(["60123", "+60123", " 60123 ", "60123@s.whatsapp.net", "60123:47@s.whatsapp.net", "60123@c.us"])(
	"%j is the phone 60123",
	(id) => {
		expect(whatsappId(id)).toBe("60123");
		expect(whatsappBare(id)).toBe("60123");
	},
);

it.each(["60123@lid", "60123:3@lid", "+60123@LID", "60123@hosted.lid"])("%j is the LID 60123", (id) => {
	expect(whatsappId(id)).toBe("60123@lid");
	expect(whatsappBare(id)).toBe("60123");
});

it.each(["120363041@g.us", "120363041@newsletter", "status@broadcast"])(
	"%j is not a person and stays whole",
	(id) => {
		expect(whatsappId(id)).toBe(id);
		expect(whatsappBare(id)).toBe(id);
	},
);

it.each(["+", "@lid", ":3@lid", "   "])("%j, which has no id in it, stands for itself", (id) => {
	expect(whatsappId(id)).toBe(id);
	expect(whatsappBare(id)).toBe(id);
});

it("an id that would shrink again and again is kept whole", () => {
	expect(whatsappId("++60123")).toBe("++60123");
	expect(whatsappId("+ 60123@lid")).toBe("+ 60123@lid");
	expect(whatsappBare("++60123")).toBe("+60123");
});

it("folding an id twice is the same as folding it once", () => {
	const piece = fc.constantFrom(
		"+",
		"@",
		":",
		" ",
		"lid",
		"g.us",
		"s.whatsapp.net",
		"1",
		"22",
		"x",
		"\u00a0",
	);
	fc.assert(
		fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
			const once = whatsappId(pieces.join(""));
			expect(whatsappId(once)).toBe(once);
		}),
		{ numRuns: 2000 },
	);
});
