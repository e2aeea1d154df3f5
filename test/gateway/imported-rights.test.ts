// Rows without speakers, imported or copied: the conversation's person counts, and nobody gains a role by that (I18).
import { expect, test } from "vitest";
import { rightsFrom } from "../../src/gateway/turn/rights.ts";
import type { Conversation } from "../../src/store/index.ts";
import { configOf } from "./support.ts";

const KNOWN = { isOwn: true, token: null, paired: null, page: null } as const;

test.each([
	["the page's operator", "web", { ids: ["operator"] }, "owner"],
	["the terminal's", "local", { ids: ["1000"] }, "owner"],
	["someone on the page who has no login here", "web", { ids: ["zoe"] }, "member"],
	["an owner with a login", "web", { ids: ["zoe"], page: "owner" }, "owner"],
	["someone whose login was revoked", "web", { ids: ["zoe"], page: "none" }, "none"],
	["a program that has no token here", "api_server", { ids: [] }, "member"],
	["a webhook's sender", "webhook", { ids: ["ci"] }, "member"],
	["an owner in a chat", "telegram", { ids: ["ada"] }, "owner"],
	["a stranger in a chat", "telegram", { ids: ["eve"] }, "none"],
] as const)("%s", (_, platform, facts, standing) => {
	const config = configOf({ auth: { telegram: { allow: [{ id: "ada", role: "owner" }] } } });
	const source = { platform, account: "", chatType: "dm", chatId: "1" };
	const conversation = { ...source, id: "c", principal: "p", profile: "", shared: false, source } as never;
	const found = { facts: [{ ...KNOWN, ...facts }], chats: [] };
	expect(rightsFrom(found, [], conversation as Conversation, config).standing).toBe(standing);
});
