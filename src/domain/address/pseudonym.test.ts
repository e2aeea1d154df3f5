import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createPlatforms, platformTraits } from "./platforms.ts";
import { chatPseudonym, isIdentifier, userPseudonym } from "./pseudonym.ts";

const key = new TextEncoder().encode("one installation");
const otherKey = new TextEncoder().encode("another installation");

describe("pseudonyms", () => {
	it("have the documented shape and come from the key", () => {
		expect(userPseudonym(key, "signal", "+1555")).toMatch(/^user_[0-9a-f]{12}$/);
		expect(chatPseudonym(key, "signal", "+1555")).toMatch(/^[0-9a-f]{12}$/);
		expect(userPseudonym(key, "signal", "+1555")).toBe(
			`user_${createHmac("sha256", key).update("signal\0+1555").digest("hex").slice(0, 12)}`,
		);
		expect(userPseudonym(otherKey, "signal", "+1555")).not.toBe(userPseudonym(key, "signal", "+1555"));
	});

	it("are the same for one person, however the id is written", () => {
		expect(userPseudonym(key, "whatsapp", "60123:47@s.whatsapp.net")).toBe(
			userPseudonym(key, "whatsapp", "+60123"),
		);
	});

	it("are different for different people and on different platforms", () => {
		expect(userPseudonym(key, "whatsapp", "999@lid")).not.toBe(userPseudonym(key, "whatsapp", "999"));
		expect(userPseudonym(key, "telegram", "7")).not.toBe(userPseudonym(key, "signal", "7"));
	});

	it("keep a platform's name in front of a chat id, and no other prefix", () => {
		expect(chatPseudonym(key, "telegram", "signal:+1555")).toBe(
			`signal:${chatPseudonym(key, "signal", "+1555")}`,
		);
		for (const id of ["t:9", ":9", "+1555:9", "signal:", "Signal:9"]) {
			expect(chatPseudonym(key, "telegram", id)).toMatch(/^[0-9a-f]{12}$/);
		}
		const platforms = createPlatforms([platformTraits("fax")]);
		expect(chatPseudonym(key, "telegram", "fax:9", platforms)).toMatch(/^fax:[0-9a-f]{12}$/);
	});

	it("are refused without a key, because anybody could find the number", () => {
		expect(() => userPseudonym(new Uint8Array(), "signal", "+1555")).toThrow(/pseudonymKey/);
	});
});

describe("a name that is an identifier", () => {
	it.each([
		"+1 (555) 123-4567",
		"15551234567",
		"15551234567@s.whatsapp.net",
		"＋１５５５１２３４５６７",
		"555.123.4567",
		"٠١٢٣٤٥٦٧٨",
	])("%j is a phone number", (name) => {
		expect(isIdentifier(name, [])).toBe(true);
	});

	it.each(["Ada", "Agent 007", "2024", "Team 15551234567", "", "  "])("%j is a name", (name) => {
		expect(isIdentifier(name, ["x", undefined, ""])).toBe(false);
	});

	it("is recognised when it repeats an id", () => {
		expect(isIdentifier(" ada@icloud.com ", [undefined, "ada@icloud.com"])).toBe(true);
	});
});
