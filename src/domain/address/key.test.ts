import { expect, it } from "vitest";
import type { Address } from "../types.ts";
import { readableKey } from "./key.ts";

const dm: Address = {
	profile: "",
	platform: "telegram",
	account: "",
	scope: "",
	chatType: "dm",
	chat: "5",
	thread: "",
	participant: "",
};

it.each([
	[dm, "agent:main:telegram:dm:5"],
	[{ ...dm, thread: "t" }, "agent:main:telegram:dm:5:t"],
	[{ ...dm, chat: "", participant: "u", thread: "t" }, "agent:main:telegram:dm:u:t"],
	[{ ...dm, chat: "", thread: "t" }, "agent:main:telegram:dm:t"],
	[{ ...dm, chatType: "group", thread: "t", participant: "u" }, "agent:main:telegram:group:5:t:u"],
	[{ ...dm, platform: "slack", scope: "T9", chat: "D1" }, "agent:main:slack:dm:T9:D1"],
	[
		{ ...dm, platform: "slack", scope: "T9", chatType: "channel", chat: "C1" },
		"agent:main:slack:channel:T9:C1",
	],
] satisfies [Address, string][])("%j is called %s", (address, key) => {
	expect(readableKey(address)).toBe(key);
});

it("a profile called main is told apart from none", () => {
	expect(readableKey({ ...dm, profile: "main" })).toBe("agent:main~:telegram:dm:5");
	expect(readableKey({ ...dm, profile: "coder" })).toBe("agent:coder:telegram:dm:5");
});

it("WhatsApp people are printed bare, WhatsApp groups whole", () => {
	const group: Address = {
		...dm,
		platform: "whatsapp",
		chatType: "group",
		chat: "1@g.us",
		participant: "9@lid",
	};
	expect(readableKey(group)).toBe("agent:main:whatsapp:group:1@g.us:9");
	expect(readableKey({ ...dm, platform: "whatsapp", chat: "9@lid" })).toBe("agent:main:whatsapp:dm:9");
	expect(readableKey({ ...dm, platform: "whatsapp", chat: "status@broadcast" })).toBe(
		"agent:main:whatsapp:dm:status@broadcast",
	);
	expect(readableKey({ ...dm, chat: "9@lid" })).toBe("agent:main:telegram:dm:9@lid");
});
