import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { KeryxError } from "../../errors.ts";
import { type Address, CHAT_TYPES, type Source } from "../types.ts";
import { type AddressOptions, addressDigest, isShared, resolveAddress } from "./address.ts";
import type { AliasPair } from "./aliases.ts";
import { readableKey } from "./key.ts";
import { parseSource } from "./source.ts";

describe("direct messages", () => {
	it("the chat decides, and the sender only where there is no chat", () => {
		expect(resolve({ chat_id: "c", user_id: "u" })).toMatchObject({ chat: "c", participant: "" });
		expect(resolve({ user_id: "u" })).toMatchObject({ chat: "", participant: "u" });
		expect(resolve({ user_id: "u", user_id_alt: "stable" }).participant).toBe("stable");
	});

	it("a sender without a chat never lands in the chat with the same id", () => {
		const chat = resolve({ chat_id: "7" });
		const sender = resolve({ user_id: "7" });
		expect(readableKey(chat)).toBe(readableKey(sender));
		expect(addressDigest(chat)).not.toBe(addressDigest(sender));
	});

	it("are never shared", () => {
		expect(isShared(resolve({ chat_id: "c" }))).toBe(false);
		expect(isShared(resolve({ thread_id: "t" }))).toBe(false);
	});
});

describe("chats of several people", () => {
	const group = { chat_type: "group", chat_id: "g", user_id: "u" };

	it("outside a thread the group's setting decides", () => {
		expect(resolve(group).participant).toBe("u");
		expect(resolve(group, { groupSessionsPerUser: false, threadSessionsPerUser: true }).participant).toBe("");
	});

	it("inside a thread the thread's setting alone decides", () => {
		const thread = { ...group, thread_id: "t" };
		expect(resolve(thread).participant).toBe("");
		expect(resolve(thread, { groupSessionsPerUser: false, threadSessionsPerUser: true }).participant).toBe(
			"u",
		);
	});

	it("a message without a sender goes to the shared conversation and is reported so", () => {
		const address = resolve({ chat_type: "group", chat_id: "g" });
		expect(address.participant).toBe("");
		expect(isShared(address)).toBe(true);
		expect(isShared(resolve(group))).toBe(false);
	});

	it("a webhook has one conversation per route, whoever is named as sender", () => {
		const hook = { platform: "webhook", chat_type: "webhook", chat_id: "deploy" };
		expect(resolve({ ...hook, user_id: "a" })).toEqual(resolve({ ...hook, user_id: "b" }));
		expect(resolve({ ...hook, thread_id: "delivery" })).not.toEqual(resolve(hook));
	});
});

describe("what is kept apart", () => {
	it("Slack's workspaces are, Discord's servers are not part of the address", () => {
		const chat = { chat_type: "channel", chat_id: "C1", user_id: "U", scope_id: "T9" };
		expect(resolve({ ...chat, platform: "slack" }).scope).toBe("T9");
		expect(resolve({ ...chat, platform: "discord" }).scope).toBe("");
	});

	it("two accounts of one platform have two addresses", () => {
		expect(resolve({ chat_id: "c", account: "bot2" })).not.toEqual(resolve({ chat_id: "c" }));
	});

	it("a WhatsApp phone and a LID with equal digits are two people with one readable key", () => {
		const phone = resolve({ platform: "whatsapp", chat_id: "999@s.whatsapp.net" });
		const lid = resolve({ platform: "whatsapp", chat_id: "999@lid" });
		expect([phone.chat, lid.chat]).toEqual(["999", "999@lid"]);
		expect(readableKey(lid)).toBe(readableKey(phone));
		expect(addressDigest(lid)).not.toBe(addressDigest(phone));
	});

	it("WhatsApp groups and WhatsApp Cloud ids are taken as they are", () => {
		expect(
			resolve({ platform: "whatsapp", chat_type: "group", chat_id: "+1:2@x", user_id: "+5" }),
		).toMatchObject({
			chat: "+1:2@x",
			participant: "5",
		});
		expect(resolve({ platform: "whatsapp_cloud", chat_id: "+5" }).chat).toBe("+5");
	});
});

describe("profiles", () => {
	it.each([[null], [""], ["default"]])("%j means none", (profile) => {
		expect(resolve({ chat_id: "c", profile: "coder" }, { profile }).profile).toBe("");
	});

	it("the source's own counts when the options have none", () => {
		expect(resolve({ chat_id: "c", profile: "coder" }).profile).toBe("coder");
		expect(resolve({ chat_id: "c", profile: "coder" }, { profile: "main" }).profile).toBe("main");
		expect(resolve({ chat_id: "c", profile: "default" }).profile).toBe("");
	});

	it.each(["a:b", "../x", "Coder", "-x", "x".repeat(65), "main~"])("%j is refused", (profile) => {
		expect(codeOf(() => resolve({ chat_id: "c" }, { profile }))).toBe("profile.invalid");
	});
});

describe("aliases", () => {
	const dm = (chat_id: string, aliases: readonly AliasPair[], platform = "whatsapp") =>
		resolve({ platform, chat_id }, { aliases }).chat;

	it("a bare id in a pair stands for both kinds", () => {
		const pairs: readonly AliasPair[] = [["60123", "999999"]];
		expect(["60123", "60123@lid", "999999@lid", "999999"].map((id) => dm(id, pairs))).toEqual(
			Array(4).fill("60123"),
		);
	});

	it("an id with its kind stands for that kind alone", () => {
		const pairs: readonly AliasPair[] = [["60123@s.whatsapp.net", "999@lid"]];
		expect(dm("60123", pairs)).toBe("999@lid");
		expect(dm("60123@lid", pairs)).toBe("60123@lid");
		expect(dm("999", pairs)).toBe("999");
	});

	it("of ids of one length the least is used, through any number of pairs", () => {
		const pairs: readonly AliasPair[] = [
			["444", "333"],
			["222", "111"],
			["333", "222"],
		];
		expect(["111", "222", "333", "444"].map((id) => dm(id, pairs))).toEqual(Array(4).fill("111"));
		expect(dm("555", pairs)).toBe("555");
	});

	it("Signal's number and UUID can be one person; elsewhere ids are taken as they are", () => {
		const pairs: readonly AliasPair[] = [["+15551230000", "0c1e3c3a-1111-4222-8333-444455556666"]];
		expect(dm("0c1e3c3a-1111-4222-8333-444455556666", pairs, "signal")).toBe("+15551230000");
		expect(dm("999", [["1", "999"]], "telegram")).toBe("999");
	});

	it("a participant has the same id as in a direct message", () => {
		const address = resolve(
			{ platform: "whatsapp", chat_type: "group", chat_id: "g@g.us", user_id: "999:3@lid" },
			{ aliases: [["60", "999"]] },
		);
		expect(address.participant).toBe("60");
	});

	it("everyone whom the pairs connect has one address, whatever the order of the pairs", () => {
		const spelling = fc.constantFrom(
			"1",
			"+1",
			"1@lid",
			"1@c.us",
			"22",
			"22@lid",
			"33",
			"+33",
			"44@lid",
			"++1",
			" 1",
		);
		const pairs = fc.array(fc.tuple(spelling, spelling), { minLength: 1, maxLength: 6 });
		fc.assert(
			fc.property(pairs, (given) => {
				const ids = given.map(([first]) => dm(first, given));
				const others = given.map(([, second]) => dm(second, [...given].reverse()));
				// A bare spelling is read as the phone when it arrives as an id, and the pair covers that form.
				expect(others).toEqual(ids);
			}),
			{ numRuns: 1000 },
		);
	});
});

describe("refusals", () => {
	it.each([
		[{ chat_type: "dm" }],
		[{ chat_type: "dm", platform: "local" }],
		[{ chat_type: "group", user_id: "u", thread_id: "t" }],
		[{ chat_type: "channel", user_id: "u" }],
		[{ chat_type: "thread", thread_id: "t" }],
		[{ chat_type: "forum" }],
		[{ chat_type: "webhook", user_id: "u" }],
	])("%j has no address: there is no place that strangers share", (wire) => {
		expect(codeOf(() => resolve(wire))).toBe("address.incomplete");
	});
});

describe("rules for every address", () => {
	it("different addresses have different digests, equal ones the same", () => {
		fc.assert(
			fc.property(anyAddress, anyAddress, (a, b) => {
				expect(addressDigest(a) === addressDigest(b)).toBe(JSON.stringify(a) === JSON.stringify(b));
			}),
			{ numRuns: 2000 },
		);
	});

	it("moving text from one part of an address to the next changes the digest", () => {
		fc.assert(
			fc.property(anyAddress, part, part, (address, a, b) => {
				const left = { ...address, chat: `${a}:${b}`, thread: "c" };
				const right = { ...address, chat: a, thread: `${b}:c` };
				expect(addressDigest(left)).not.toBe(addressDigest(right));
				const thread = { ...address, thread: "7", participant: "" };
				const participant = { ...address, thread: "", participant: "7" };
				expect(addressDigest(thread)).not.toBe(addressDigest(participant));
			}),
		);
	});

	it("halves of surrogate pairs are told apart", () => {
		const address = resolve({ chat_id: "c" });
		expect(addressDigest({ ...address, chat: "\ud800" })).not.toBe(
			addressDigest({ ...address, chat: "\ud801" }),
		);
	});

	it("the ids of an address, resolved again, give the same address", () => {
		fc.assert(
			fc.property(anySource, anyOptions, (source, options) => {
				const address = resolveAddress(source, options);
				expect(resolveAddress(source, options)).toEqual(address);
				expect(resolveAddress(rebuilt(address), { ...options, profile: undefined })).toEqual(address);
			}),
			{ numRuns: 2000 },
		);
	});

	it("shared means: not direct, and nobody in the address", () => {
		fc.assert(
			fc.property(anySource, anyOptions, (source, options) => {
				const address = resolveAddress(source, options);
				expect(isShared(address)).toBe(source.chatType !== "dm" && address.participant === "");
			}),
		);
	});
});

function resolve(wire: object, options?: AddressOptions): Address {
	return resolveAddress(parseSource({ platform: "telegram", ...wire }), options);
}

function rebuilt(address: Address): Source {
	return {
		platform: address.platform,
		account: address.account,
		chatType: address.chatType,
		chatId: address.chat,
		threadId: address.thread,
		scopeId: address.scope,
		userId: address.participant,
		profile: address.profile,
	};
}

function codeOf(call: () => unknown): string | undefined {
	try {
		call();
	} catch (error) {
		return (error as KeryxError).code;
	}
	return undefined;
}

const part = fc.oneof(
	fc.constantFrom("", "7", ":", "a:b", "1:", "0:", "@lid", "a\0b"),
	fc.string({ unit: "binary", maxLength: 6 }),
);
const anyAddress: fc.Arbitrary<Address> = fc.record({
	profile: part,
	platform: part,
	account: part,
	scope: part,
	chatType: fc.constantFrom(...CHAT_TYPES),
	chat: part,
	thread: part,
	participant: part,
});
const id = fc.oneof(
	fc.constantFrom(
		"1",
		"+1",
		"++1",
		"1@lid",
		"1:2@lid",
		"22",
		"22@s.whatsapp.net",
		" 1 ",
		"+",
		"@lid",
		"g@g.us",
	),
	fc.string({ unit: "binary", minLength: 1, maxLength: 8 }),
);
const anySource: fc.Arbitrary<Source> = fc.record({
	platform: fc.constantFrom("whatsapp", "signal", "slack", "telegram", "local"),
	account: fc.constantFrom("", "bot2"),
	chatType: fc.constantFrom(...CHAT_TYPES),
	chatId: id,
	threadId: fc.option(id, { nil: undefined }),
	scopeId: fc.option(id, { nil: undefined }),
	userId: fc.option(id, { nil: undefined }),
	userIdAlt: fc.option(id, { nil: undefined }),
	profile: fc.constantFrom(undefined, "default", "coder", "main"),
});
const anyOptions: fc.Arbitrary<AddressOptions> = fc.record({
	groupSessionsPerUser: fc.boolean(),
	threadSessionsPerUser: fc.boolean(),
	profile: fc.constantFrom(undefined, null, "", "work"),
	aliases: fc.array(fc.tuple(id, id), { maxLength: 4 }),
});
