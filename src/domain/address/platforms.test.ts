import { expect, it } from "vitest";
import { createPlatforms, platformTraits, registeredPlatforms } from "./platforms.ts";

it("a platform that nobody registered works with default traits", () => {
	expect(platformTraits("carrier_pigeon")).toEqual({
		name: "carrier_pigeon",
		label: "carrier_pigeon",
		messageLimit: { max: 4000, unit: "utf16" },
		piiSafe: false,
		notifyBoundaries: true,
		markup: "plain",
	});
	expect(registeredPlatforms()).not.toContain("carrier_pigeon");
});

it("only programs are left out of notices about boundaries", () => {
	const silent = registeredPlatforms().filter((name) => !platformTraits(name).notifyBoundaries);
	expect(silent.sort()).toEqual(["api_server", "schedule", "webhook"]);
});

it("ids are hidden only where nobody needs them for a mention", () => {
	const safe = registeredPlatforms().filter((name) => platformTraits(name).piiSafe);
	expect(safe.sort()).toEqual(["bluebubbles", "signal", "telegram", "whatsapp"]);
});

it("message limits are in the unit the platform counts", () => {
	expect(platformTraits("telegram").messageLimit).toEqual({ max: 4096, unit: "utf16" });
	expect(platformTraits("discord").messageLimit.max).toBe(2000);
	expect(platformTraits("slack").messageLimit.max).toBe(39_000);
	expect(platformTraits("irc").messageLimit.unit).toBe("bytes");
});

it("a registry with more platforms leaves the built-in one as it is", () => {
	const own = { ...platformTraits("fax"), label: "Fax", piiSafe: true };
	const platforms = createPlatforms([own, { ...platformTraits("irc"), label: "Chat" }]);
	expect(platforms.traits("fax")).toEqual(own);
	expect(platforms.has("fax")).toBe(true);
	expect(platforms.traits("irc").label).toBe("Chat");
	expect(platforms.names().filter((name) => name === "irc")).toHaveLength(1);
	expect(platformTraits("fax").piiSafe).toBe(false);
	expect(platformTraits("irc").label).toBe("IRC");
});

it.each(["x", "Fax", "a:b", "", "1st", "a".repeat(33)])("a platform cannot be called %j", (name) => {
	expect(() => createPlatforms([{ ...platformTraits("irc"), name }])).toThrow(/platform's name/);
});

it.each([0, -1, 31, 40.5, Number.NaN])("a message limit cannot be %d", (max) => {
	const limit = { max, unit: "utf16" as const };
	expect(() => createPlatforms([{ ...platformTraits("irc"), messageLimit: limit }])).toThrow(
		/messageLimit\.max/,
	);
});
