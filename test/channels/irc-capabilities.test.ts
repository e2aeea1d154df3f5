// What IRC servers with accounts, echoes and histories do, on a small server that can also do it wrong. Ergo shows the same in
// `npm run test:peers`.
import { afterEach, describe, expect, test } from "vitest";
import { type IrcOptions, type IrcSecrets, identifyIrc } from "../../src/channels/irc/index.ts";
import { otherNick } from "../../src/channels/irc/registration.ts";
import type { Channel } from "../../src/gateway/index.ts";
import { TakingHost } from "../../src/testing/index.ts";
import { IrcServer, type IrcServerOptions, type MadeUp } from "../peers/irc/index.ts";
import { until } from "../support/until.ts";
import { connected, ircChannelOn, outgoing } from "./irc-scene.ts";

const ALL = [
	"message-tags",
	"server-time",
	"echo-message",
	"account-tag",
	"account-notify",
	"batch",
	"draft/chathistory",
	"sasl=PLAIN,EXTERNAL",
];
const ADA: MadeUp = { nick: "ada", user: "~ada", host: "home", account: "ada" };

const undo: (() => Promise<void> | void)[] = [];
afterEach(async () => {
	for (const step of undo.splice(0).reverse()) await step();
});

async function scene(
	options: IrcServerOptions = {},
	secrets: Partial<IrcSecrets> = {},
	more: Partial<IrcOptions> = {},
): Promise<{ readonly server: IrcServer; readonly channel: Channel; readonly host: TakingHost }> {
	const server = await IrcServer.create({ capabilities: ALL, ...options });
	undo.push(() => server.close());
	const channel = ircChannelOn(server.port, { join: ["#room"], ...more }, () => ({
		keys: new Map(),
		...secrets,
	}));
	undo.push(() => channel.stop());
	return { server, channel, host: new TakingHost() };
}

/** What the server has said until now was read. */
async function caughtUp(server: IrcServer, host: TakingHost): Promise<void> {
	await until(() => server.heard.includes("JOIN #room"));
	server.say(ADA, "keryx", "ready?");
	await until(() => host.taken.length === 1);
	host.taken.length = 0;
}

describe("a login", () => {
	test("is made before anything else, by the account and its password, however long", async () => {
		const password = "s".repeat(700);
		const { server, channel, host } = await scene({ passwords: {} }, { password }, { login: "agent" });
		const pieces: string[] = [];
		server.onLine = (command, [first = ""]) => {
			if (command !== "AUTHENTICATE" || first === "PLAIN") return false;
			pieces.push(first);
			if (first.length < 400) server.tell(":server 903 keryx :done");
			return true;
		};
		await connected(channel, host);
		expect(Buffer.from(pieces.join(""), "base64").toString()).toBe(`\0agent\0${password}`);
		expect(pieces.every((piece) => piece.length <= 400)).toBe(true);
		expect(server.heard.indexOf("CAP END")).toBeGreaterThan(
			server.heard.findIndex((line) => line.startsWith("AUTHENTICATE")),
		);
	});

	test("with a certificate is by EXTERNAL", async () => {
		const { server, channel, host } = await scene({}, { certificate: "-" });
		server.onLine = (command, [first = ""]) => {
			if (command !== "AUTHENTICATE" || first === "EXTERNAL") return false;
			server.tell(":server 903 keryx :done");
			return true;
		};
		await connected(channel, host);
		expect(server.heard).toContain("AUTHENTICATE EXTERNAL");
		expect(server.heard).toContain("AUTHENTICATE +");
	});

	test("that is refused needs attention, and a corrected password is used by itself", async () => {
		let password = "wrong";
		const server = await IrcServer.create({ capabilities: ALL, passwords: { keryx: "right" } });
		undo.push(() => server.close());
		const channel = ircChannelOn(server.port, {}, () => ({ keys: new Map(), password }));
		undo.push(() => channel.stop());
		await channel.start(new TakingHost());
		await until(() => channel.health().state === "needs_attention");
		expect(channel.health().detail).toMatch(/password of keryx: Invalid credentials; check irc\.login/);
		expect(server.heard.some((line) => line.startsWith("JOIN"))).toBe(false);
		password = "right";
		await until(() => channel.health().state === "connected");
		expect(server.account).toBe("keryx");
	});

	test.each([
		["offers no SASL", ["message-tags"]],
		["knows no capabilities at all", []],
	])("is never left out where the server %s", async (_, capabilities) => {
		const { server, channel, host } = await scene({ capabilities }, { password: "x" });
		await channel.start(host);
		await until(() => channel.health().state === "needs_attention");
		expect(channel.health().detail).toContain("no SASL login");
		expect(server.heard.some((line) => line.startsWith("JOIN"))).toBe(false);
	});

	test("is tried when a channel is set up, and nothing of the password is in what is said", async () => {
		const server = await IrcServer.create({ capabilities: ALL, passwords: { keryx: "right" } });
		undo.push(() => server.close());
		const at = { host: "127.0.0.1", port: server.port, tls: false };
		const asked = (password: string) =>
			identifyIrc({ server: at, nick: "keryx", secrets: async () => ({ keys: new Map(), password }) });
		const error = await asked("my secret").catch((caught: unknown) => caught);
		expect(error).toMatchObject({ code: "channel.refused" });
		expect(String(error)).not.toContain("my secret");
		const { who, remarks } = await asked("right");
		expect(who).toBe("keryx on 127.0.0.1");
		expect(remarks).toEqual(["Without TLS, others on the way can read everything, passwords too."]);
	});
});

describe("a message that leaves", () => {
	test("is sent when its echo has come back, with the server's id, in whatever order echoes come", async () => {
		const { server, channel, host } = await scene();
		await connected(channel, host);
		await caughtUp(server, host);
		server.people.set("ada", ADA);
		const held: string[] = [];
		server.onLine = (command, [target = "", text = ""]) => {
			if (command !== "PRIVMSG") return false;
			held.push(`@msgid=of-${text} :keryx!~keryx@here PRIVMSG ${target} :${text}`);
			return true;
		};
		const sends = [channel.send(outgoing("#room", "one")), channel.send(outgoing("ada", "two"))];
		await until(() => held.length === 2);
		server.tell(...held.toReversed());
		expect(await Promise.all(sends)).toEqual([
			{ kind: "sent", receipt: "of-one" },
			{ kind: "sent", receipt: "of-two" },
		]);
		expect(host.taken).toEqual([]);
	});

	test.each([
		["404 keryx #room :Cannot send to channel", { kind: "refused", reason: "Cannot send to channel" }],
		["417 keryx :Input line was too long", { kind: "refused", reason: "Input line was too long" }],
		["263 keryx PRIVMSG :Please wait", { kind: "retry", afterMs: 30_000, reason: "Please wait" }],
		["FAIL PRIVMSG SPAM #room :Not that", { kind: "refused", reason: "Not that" }],
	])("is answered by the server's error: %s", async (error, result) => {
		const { server, channel, host } = await scene({ capabilities: [] });
		await connected(channel, host);
		await caughtUp(server, host);
		server.onLine = (command) => {
			if (command !== "PRIVMSG") return false;
			server.tell(error.startsWith("FAIL") ? error : `:server ${error}`);
			return true;
		};
		expect(await channel.send(outgoing("#room", "x"))).toEqual(result);
	});

	test("is of unknown outcome where the line ends first", async () => {
		const { server, channel, host } = await scene();
		await connected(channel, host);
		server.people.set("ada", ADA);
		server.onLine = (command) => {
			if (command === "PRIVMSG") server.drop();
			return command === "PRIVMSG";
		};
		expect(await channel.send(outgoing("ada", "x"))).toMatchObject({ kind: "unknown" });
	});

	test("to an account goes to the nick that the account has now", async () => {
		const { server, channel, host } = await scene();
		await connected(channel, host);
		server.say({ ...ADA, nick: "ada-away" }, "keryx", "hello");
		await until(() => host.taken.length === 1);
		expect(host.taken[0]?.source).toMatchObject({ chat_id: "ada", user_name: "ada-away" });
		expect(await channel.send(outgoing("ada", "hi"))).toMatchObject({ kind: "sent" });
		expect(server.sent).toEqual([{ target: "ada-away", text: "hi" }]);
		// An account's name has neither ! nor @: nobody becomes somebody's mask.
		server.say({ ...ADA, account: "eve!~eve@host" }, "keryx", "I am eve");
		await until(() => host.taken.length === 2);
		expect(host.taken[1]?.source.user_id).toBe("ada!~ada@home");
	});
});

describe("a history", () => {
	const line = (text: string) => `:ada!~ada@home PRIVMSG #room :${text}`;
	const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString();

	test("is read page by page from where it was left, before what is said now, without joins and our own words", async () => {
		const { server, channel, host } = await scene();
		await host.passed(at(10));
		server.histories.set("#room", [
			[at(5), "old", line("keryx: long ago")],
			[at(11), "h1", line("keryx: one")],
			[at(12), "h2", ":bob!~bob@home JOIN #room"],
			[at(13), "h3", ":keryx!~keryx@here PRIVMSG #room :ours"],
			[at(14), "h4", line("keryx: two")],
			[at(15), "h5", line("three")],
		]);
		server.histories.set("ada", [[at(16), "p1", ":ada!~ada@home PRIVMSG keryx :in private"]]);
		let isLive = false;
		server.onLine = (command) => {
			if (command === "CHATHISTORY" && !isLive) {
				isLive = true;
				server.say(ADA, "#room", "keryx: now");
			}
			return false;
		};
		await connected(channel, host);
		await until(() => host.taken.length === 5);
		const inRoom = host.taken.filter(({ source }) => source.chat_id === "#room");
		expect(inRoom.map(({ content }) => content)).toEqual(["one", "two", "three", "now"]);
		expect(host.taken.map(({ content }) => content)).toContain("in private");
		expect(inRoom[0]).toMatchObject({ platformMessage: "h1", sentAt: Date.parse(at(11)) });
	});

	test("that breaks off is read again from its beginning: no place is remembered before all of it is there", async () => {
		const { server, channel, host } = await scene();
		await host.passed(at(10));
		server.histories.set("#room", [[at(20), "h1", line("keryx: one")]]);
		server.histories.set("ada", [[at(11), "p1", ":ada!~ada@home PRIVMSG keryx :in private"]]);
		let drops = 1;
		server.onLine = (command, [verb = "", target = ""]) => {
			if (command !== "CHATHISTORY" || verb !== "AFTER" || target !== "ada" || drops-- <= 0) return false;
			server.drop();
			return true;
		};
		await connected(channel, host);
		await until(() => host.ids().includes("p1"));
		const first = host.taken.find(({ platformMessage }) => platformMessage === "h1");
		expect(Date.parse(first?.cursor ?? "")).toBeLessThan(Date.parse(at(11)));
	});

	test("is not read at the first connection: what was said before Keryx was there is not for it", async () => {
		const { server, channel, host } = await scene();
		server.histories.set("#room", [[at(5), "old", line("keryx: long ago")]]);
		await connected(channel, host);
		server.say(ADA, "keryx", "hello");
		await until(() => host.taken.length === 1);
		expect(server.heard.filter((one) => one.startsWith("CHATHISTORY"))).toEqual([]);
		expect(await host.cursor()).not.toBeNull();
	});
});

test("a nick that is taken is replaced by one that every server allows", () => {
	expect([1, 2, 3].map((tries) => otherNick("keryx", tries))).toEqual(["keryx_", "keryx_2", "keryx_3"]);
	expect([1, 2].map((tries) => otherNick("ninechars", tries))).toEqual(["ninechar_", "ninecha_2"]);
});
