import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseTarget, type Target, targetText } from "./target.ts";

describe("a target as it is written", () => {
	it.each([
		["origin", { kind: "origin" }],
		[" local ", { kind: "local" }],
		["telegram", { kind: "home", platform: "telegram" }],
		["telegram:-100123", { kind: "chat", platform: "telegram", chatId: "-100123" }],
		["telegram:-100123:7", { kind: "chat", platform: "telegram", chatId: "-100123", threadId: "7" }],
		["telegram@work", { kind: "home", platform: "telegram", account: "work" }],
		["telegram@work:1", { kind: "chat", platform: "telegram", account: "work", chatId: "1" }],
		["irc:#keryx", { kind: "chat", platform: "irc", chatId: "#keryx" }],
		["email:bob@example.org", { kind: "chat", platform: "email", chatId: "bob@example.org" }],
		["matrix:!abc:example.org", { kind: "chat", platform: "matrix", chatId: "!abc:example.org" }],
		[
			"matrix:!abc:example.org:8448:$event",
			{ kind: "chat", platform: "matrix", chatId: "!abc:example.org:8448", threadId: "$event" },
		],
		["xmpp:room%3A1%25", { kind: "chat", platform: "xmpp", chatId: "room:1%" }],
		["conversation:0198", { kind: "conversation", conversation: "0198" }],
	])("%s", (text, written) => {
		expect(parseTarget(text)).toEqual(written);
	});

	it.each([
		"",
		" ",
		"Telegram",
		"telegram:",
		"telegram::7",
		"telegram:1:",
		"telegram:1:2:3",
		"telegram@:1",
		"telegram@a@b:1",
		"telegram@a b:1",
		"@work:1",
		"local@work",
		"telegram:%zz",
		"telegram:%0a",
		"conversation",
		"conversation:",
		`conversation:${"x".repeat(65)}`,
		"local:../../etc/passwd",
		"origin:1",
		"../x",
		"telegram:1\n2",
		`telegram:${"1".repeat(1200)}`,
	])("%j is refused in words", (text) => {
		expect(parseTarget(text)).toEqual({ problem: expect.any(String) });
	});

	it("every resolved target can be written and read back", () => {
		const id = fc.string({ minLength: 1, maxLength: 40, unit: fc.constantFrom(..."ab1:%!#@-$. ") });
		const platform = fc.constantFrom("telegram", "matrix", "irc");
		const account = fc.constantFrom("", "work", "A.b-c_9");
		const thread = fc.option(id, { nil: undefined });
		fc.assert(
			fc.property(platform, account, id, thread, (platform, account, chatId, threadId) => {
				fc.pre(chatId === chatId.trim() && (threadId === undefined || threadId === threadId.trim()));
				const target: Target = { kind: "chat", platform, account, chatId, ...(threadId && { threadId }) };
				const { account: _, ...rest } = target;
				expect(parseTarget(targetText(target))).toEqual(account === "" ? rest : target);
			}),
			{ numRuns: 2000 },
		);
	});
});
