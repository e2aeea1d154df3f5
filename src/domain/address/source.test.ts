import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KeryxError } from "../../errors.ts";
import { CHAT_TYPES, type Source } from "../types.ts";
import { describeSource, parseSource, toWireSource } from "./source.ts";

describe("reading a source", () => {
	it("has defaults for everything but the platform", () => {
		expect(parseSource({ platform: "telegram" })).toEqual({
			platform: "telegram",
			account: "",
			chatType: "dm",
			chatId: "",
		});
	});

	it("turns numbers into strings for every id", () => {
		const ids = {
			chat_id: -100,
			chat_id_alt: 1,
			user_id: 2,
			user_id_alt: 3,
			thread_id: 0,
			message_id: 5,
			parent_chat_id: 6,
			scope_id: 7,
			account: 8,
		};
		expect(parseSource({ platform: "telegram", ...ids })).toMatchObject({
			chatId: "-100",
			chatIdAlt: "1",
			userId: "2",
			userIdAlt: "3",
			threadId: "0",
			messageId: "5",
			parentChatId: "6",
			scopeId: "7",
			account: "8",
		});
	});

	it("takes guild_id for scope_id, and scope_id before it", () => {
		expect(parseSource({ platform: "discord", guild_id: "g" }).scopeId).toBe("g");
		expect(parseSource({ platform: "discord", guild_id: "g", scope_id: "" }).scopeId).toBe("g");
		expect(parseSource({ platform: "discord", guild_id: "g", scope_id: "s" }).scopeId).toBe("s");
	});

	it("ignores fields it does not know", () => {
		expect(parseSource({ platform: "irc", colour: 7, nested: { deep: true } })).toEqual(
			parseSource({ platform: "irc" }),
		);
	});

	it("never takes from the wire what only the transport may say", () => {
		const claims = {
			is_bot: true,
			isBot: true,
			role_authorized: true,
			roleAuthorized: true,
			upstream_relay: true,
			upstreamRelay: true,
		};
		const source = parseSource({ platform: "irc", ...claims });
		expect(Object.keys(source)).not.toEqual(
			expect.arrayContaining([expect.stringMatching(/bot|authorized|relay/i)]),
		);
	});

	it("an empty id counts as absent", () => {
		const source = parseSource({ platform: "irc", user_id: "", thread_id: "", user_name: null });
		expect([source.userId, source.threadId, source.userName]).toEqual([undefined, undefined, undefined]);
	});

	it("takes an id of 512 bytes and refuses one of 513, in whatever script", () => {
		expect(parseSource({ platform: "irc", chat_id: "x".repeat(512) }).chatId).toHaveLength(512);
		expect(parseSource({ platform: "irc", chat_id: "é".repeat(256) }).chatId).toHaveLength(256);
		expect(refusal({ platform: "irc", chat_id: "x".repeat(513) })).toBe("chat_id");
		expect(refusal({ platform: "irc", chat_id: `${"é".repeat(256)}x` })).toBe("chat_id");
	});

	it.each([
		["source without a platform", {}, "platform"],
		["platform in capitals", { platform: "Telegram" }, "platform"],
		["platform of one letter", { platform: "x" }, "platform"],
		["platform that is a number", { platform: 7 }, "platform"],
		["chat type that is not known", { platform: "irc", chat_type: "room" }, "chat_type"],
		["empty chat type", { platform: "irc", chat_type: "" }, "chat_type"],
		["id that is true", { platform: "irc", user_id: true }, "user_id"],
		["id that is a list", { platform: "irc", thread_id: ["1"] }, "thread_id"],
		["id too large for a JSON number", { platform: "irc", chat_id: 2 ** 53 }, "chat_id"],
		["id that is a fraction", { platform: "irc", message_id: 1.5 }, "message_id"],
		["half a surrogate pair in an id", { platform: "irc", chat_id: "a\ud800" }, "chat_id"],
		["name that is a number", { platform: "irc", user_name: 7 }, "user_name"],
		["topic that is an object", { platform: "irc", chat_topic: {} }, "chat_topic"],
		["profile with a space", { platform: "irc", profile: "co der" }, "profile"],
	])("refuses a %s and names the field", (_name, wire, field) => {
		expect(refusal(wire)).toBe(field);
	});

	it.each([[null], [undefined], ["telegram"], [7], [[]]])("refuses %j as a source", (wire) => {
		expect(() => parseSource(wire)).toThrow(KeryxError);
	});
});

describe("writing a source", () => {
	it("writes eight fields always and the others only when set", () => {
		expect(toWireSource(parseSource({ platform: "irc" }))).toEqual({
			platform: "irc",
			chat_id: "",
			chat_name: null,
			chat_type: "dm",
			user_id: null,
			user_name: null,
			thread_id: null,
			chat_topic: null,
		});
	});

	it("writes the scope under both names", () => {
		expect(toWireSource(parseSource({ platform: "discord", guild_id: "g" }))).toMatchObject({
			scope_id: "g",
			guild_id: "g",
		});
	});

	it("never writes what only the transport may say", () => {
		const source = {
			...parseSource({ platform: "irc" }),
			isBot: true,
			roleAuthorized: true,
		};
		expect(toWireSource(source)).toEqual(toWireSource(parseSource({ platform: "irc" })));
	});

	it("what is written reads back as the same source", () => {
		fc.assert(
			fc.property(anySource, (source) => {
				const wire: unknown = JSON.parse(JSON.stringify(toWireSource(source)));
				expect(parseSource(wire)).toEqual(source);
			}),
		);
	});
});

describe("describing a source", () => {
	const describeWire = (wire: object) => describeSource(parseSource({ platform: "irc", ...wire }));

	it.each([
		[{ platform: "local", chat_id: "cli", thread_id: "7" }, "CLI terminal"],
		[{ user_name: "Ada", user_id: "1" }, "DM with Ada"],
		[{ user_id: "1", user_id_alt: "2" }, "DM with 1"],
		[{ user_id_alt: "2" }, "DM with user"],
		[{ chat_type: "group", chat_id: "c", chat_name: "Team" }, "group: Team"],
		[{ chat_type: "channel", chat_id: "c", thread_id: "t" }, "channel: c, thread: t"],
		[{ chat_type: "forum", chat_id: "c", chat_name: "Ideas" }, "Ideas"],
		[{ chat_type: "webhook", chat_id: "deploy" }, "deploy"],
	])("%j is %j", (wire, description) => {
		expect(describeWire(wire)).toBe(description);
	});

	it("shows every part from outside through the function given", () => {
		const source = parseSource({ platform: "irc", chat_type: "group", chat_id: "c", thread_id: "t" });
		expect(describeSource(source, (part, value) => `<${part} ${value}>`)).toBe(
			"group: <chatId c>, thread: <threadId t>",
		);
	});
});

function refusal(wire: unknown): string | undefined {
	try {
		parseSource(wire);
	} catch (error) {
		if (error instanceof KeryxError && error.message.includes(error.field ?? " ")) return error.field;
		throw error;
	}
	return undefined;
}

const id = fc.string({ unit: "binary", minLength: 1, maxLength: 40 });
const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const anySource: fc.Arbitrary<Source> = fc.record({
	platform: fc.stringMatching(/^[a-z][a-z0-9_]{1,31}$/),
	account: fc.oneof(fc.constant(""), id),
	chatType: fc.constantFrom(...CHAT_TYPES),
	chatId: fc.oneof(fc.constant(""), id),
	chatIdAlt: maybe(id),
	chatName: maybe(text),
	chatTopic: maybe(text),
	parentChatId: maybe(id),
	threadId: maybe(id),
	scopeId: maybe(id),
	userId: maybe(id),
	userIdAlt: maybe(id),
	userName: maybe(text),
	messageId: maybe(id),
	profile: maybe(fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,63}$/)),
});
