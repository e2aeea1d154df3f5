// The XMPP channel's connection on a real Prosody: logins and TLS, sessions that are cut off and continued, what was missed, and servers
// that lack something.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { XmppOptions, XmppSecrets } from "../../src/channels/xmpp/index.ts";
import { NS } from "../../src/channels/xmpp/stream/namespaces.ts";
import { textOf } from "../../src/channels/xmpp/stream/xml.ts";
import type { Channel, Inbound } from "../../src/gateway/index.ts";
import { createFaultProxy } from "../../src/testing/fault-proxy.ts";
import { TakingHost } from "../../src/testing/index.ts";
import { countedClock } from "../support/clock.ts";
import { PASSWORD, type Prosody, startProsody } from "../support/prosody.ts";
import { until } from "../support/until.ts";
import { XmppPerson } from "../support/xmpp-person.ts";
import { connected, outgoing, sendUntilTaken, stanzaProxy, xmppChannelOn } from "./xmpp-scene.ts";

let server: Prosody;
beforeAll(async () => {
	server = await startProsody();
});
afterAll(() => server.remove());

const undo: (() => Promise<void> | void)[] = [];
afterEach(async () => {
	for (const step of undo.splice(0).reverse()) await step();
});

let scenes = 0;

function names() {
	const n = ++scenes;
	return { bot: server.account(`bot${n}`), name: `ada${n}`, room: `room${n}@${server.rooms}` };
}

async function come(name: string, at = server): Promise<XmppPerson> {
	const person = await XmppPerson.connect(at, name);
	undo.push(() => person.leave());
	return person;
}

async function run(
	options: Partial<XmppOptions>,
	{
		port = server.port,
		host = new TakingHost(),
		secrets,
	}: {
		readonly port?: number;
		readonly host?: TakingHost;
		readonly secrets?: () => Partial<XmppSecrets>;
	} = {},
): Promise<Channel> {
	const channel = xmppChannelOn(port, options, secrets);
	undo.push(() => channel.stop());
	await connected(channel, host);
	return channel;
}

const textsOf = (taken: readonly Inbound[]) => taken.map(({ content }) => content);

describe("a session that is cut off", () => {
	test("continues: nothing is lost and nothing comes twice, private or in a room", async () => {
		const { bot, name, room } = names();
		const proxy = await stanzaProxy(server.port);
		undo.push(() => proxy.close());
		const ada = await come(name);
		await ada.join(room, "Ada");
		const host = new TakingHost();
		const channel = await run({ jid: bot, join: [room] }, { port: proxy.port, host });
		await ada.until(() => ada.heard.some(({ attrs }) => attrs.from === `${room}/keryx`));
		// Once a message of the room was taken, its archive is followed.
		ada.sayIn(room, "first");
		await until(() => host.taken.length === 1);
		const said: string[] = [];
		for (let n = 0; n < 30; n++) {
			const text = `message ${n}`;
			said.push(text);
			if (n % 2 === 0) ada.say(bot, text);
			else ada.sayIn(room, text);
			if (n % 10 === 5) {
				await until(() => host.taken.length > n / 2 + 1);
				proxy.cut();
			}
		}
		await until(() => new Set(textsOf(host.taken)).size === said.length + 1);
		await until(() => channel.health().state === "connected");
		ada.say(bot, "end");
		await until(() => textsOf(host.taken).includes("end"));
		const private_ = textsOf(host.taken.filter(({ source }) => source.chat_type === "dm"));
		const inRoom = textsOf(host.taken.filter(({ source }) => source.chat_type === "group"));
		expect(private_).toEqual([...said.filter((_, n) => n % 2 === 0), "end"]);
		expect(inRoom).toEqual(["first", ...said.filter((_, n) => n % 2 === 1)]);
		// It continued: the room saw nobody leave.
		expect(
			proxy.sent.filter(({ ns, name: tag }) => ns === NS.management && tag === "resume").length,
		).toBeGreaterThan(0);
		expect(proxy.sent.filter(({ ns, name: tag }) => ns === NS.management && tag === "enable")).toHaveLength(
			1,
		);
		expect(
			ada.heard.filter(({ attrs }) => attrs.from === `${room}/keryx` && attrs.type === "unavailable"),
		).toEqual([]);
	});

	test("tells exactly which messages arrived: one whose answer was lost is sent, one that was lost is tried again", async () => {
		const { bot, name } = names();
		const proxy = await stanzaProxy(server.port);
		undo.push(() => proxy.close());
		const ada = await come(name);
		const host = new TakingHost();
		const channel = await run({ jid: bot }, { port: proxy.port, host });
		// A session continues once everything that was missed before it is read.
		ada.say(bot, "hello");
		await until(() => host.taken.length === 1);
		proxy.fault = "lose_ack";
		const taken = channel.send(outgoing(ada.jid, "taken"));
		await until(() => proxy.forgetsSessions);
		proxy.forgetsSessions = false;
		expect(await taken).toMatchObject({ kind: "sent" });
		await until(() => channel.health().state === "connected");
		proxy.fault = "lost";
		const lost = channel.send(outgoing(ada.jid, "lost"));
		await until(() => proxy.forgetsSessions);
		proxy.forgetsSessions = false;
		expect(await lost).toMatchObject({ kind: "retry" });
		expect((await channel.send(outgoing(ada.jid, "again"))).kind).toBe("sent");
		await ada.sync();
		expect(ada.shown(bot).map(({ text }) => text)).toEqual(["taken", "again"]);
	});

	test("and that the server has forgotten is begun anew: what was said meanwhile is read from the archives", async () => {
		const { bot, name, room } = names();
		const proxy = await stanzaProxy(server.port);
		undo.push(() => proxy.close());
		const ada = await come(name);
		await ada.join(room, "Ada");
		const host = new TakingHost();
		const channel = await run({ jid: bot, join: [room] }, { port: proxy.port, host });
		await sendUntilTaken(channel, room, "here");
		ada.say(bot, "before");
		ada.sayIn(room, "before in the room");
		await until(() => host.taken.length === 2);
		proxy.forgetsSessions = true;
		host.hold();
		ada.say(bot, "on its way");
		await until(() => host.asked === 3);
		proxy.cut();
		ada.say(bot, "meanwhile");
		ada.sayIn(room, "meanwhile in the room");
		host.release();
		await until(() => new Set(host.ids()).size === 5);
		await until(() => channel.health().state === "connected");
		expect(new Set(textsOf(host.taken))).toEqual(
			new Set(["before", "before in the room", "on its way", "meanwhile", "meanwhile in the room"]),
		);
	});
});

describe("what was said while Keryx was away", () => {
	test("is read from the archives in its order, page by page, once", async () => {
		const { bot, name, room } = names();
		const ada = await come(name);
		await ada.join(room, "Ada", { "muc#roomconfig_whois": "anyone" });
		const host = new TakingHost();
		ada.say(bot, "before anybody listened");
		await ada.sync();
		const first = await run({ jid: bot, join: [room] }, { host });
		await sendUntilTaken(first, room, "here");
		ada.say(bot, "heard");
		await until(() => host.taken.length === 1);
		await first.stop();
		const said = Array.from({ length: 120 }, (_, n) => `missed ${n}`);
		for (const text of said) ada.say(bot, text);
		for (const text of said) ada.sayIn(room, text);
		await ada.sync();
		const second = await run({ jid: bot, join: [room] }, { host });
		await until(() => host.taken.length >= 241);
		ada.say(bot, "end");
		await until(() => textsOf(host.taken).at(-1) === "end");
		const of = (type: string) => textsOf(host.taken.filter(({ source }) => source.chat_type === type));
		expect(of("dm")).toEqual(["heard", ...said, "end"]);
		expect(of("group")).toEqual(said);
		expect(new Set(host.ids()).size).toBe(host.taken.length);
		// The archive names the person, who is there and so can be trusted to be them.
		expect(host.taken.find(({ source }) => source.chat_type === "group")).toMatchObject({
			source: { user_id: ada.jid },
			transport: {},
		});
		// Nothing is read again.
		await second.stop();
		const third = await run({ jid: bot, join: [room] }, { host });
		ada.say(bot, "really the end");
		await until(() => textsOf(host.taken).at(-1) === "really the end");
		expect(host.taken).toHaveLength(243);
		await third.stop();
	});

	test("is read by its time if the archive has forgotten the place", async () => {
		const { bot, name } = names();
		const ada = await come(name);
		const host = new TakingHost();
		host.cursor = async () => JSON.stringify({ "": ["no-such-id", Date.now() - 60_000] });
		ada.say(bot, "missed");
		await ada.sync();
		await run({ jid: bot }, { host });
		await until(() => host.taken.length === 1);
		expect(textsOf(host.taken)).toEqual(["missed"]);
	});
});

describe("the login", () => {
	test("with a wrong password is said with its remedy, and a corrected one is used", async () => {
		const { bot } = names();
		let password = "wrong";
		const clock = countedClock();
		const channel = xmppChannelOn(server.port, { jid: bot, clock }, () => ({ password }));
		undo.push(() => channel.stop());
		await channel.start(new TakingHost());
		await until(() => channel.health().state === "needs_attention");
		expect(clock.waitedMs()).toBeLessThan(10_000);
		expect(channel.health().detail).toMatch(
			/does not accept the password of bot\d+@localhost: .*; check xmpp.jid, and token_env or token_file/,
		);
		password = PASSWORD;
		await until(() => channel.health().state === "connected");
	});

	test("is by SCRAM, and the password never leaves", async () => {
		const { bot } = names();
		const proxy = await stanzaProxy(server.port);
		undo.push(() => proxy.close());
		await run({ jid: bot }, { port: proxy.port });
		const [auth, response] = proxy.sent.filter(({ ns }) => ns === NS.sasl);
		expect(auth?.attrs.mechanism).toBe("SCRAM-SHA-256");
		for (const one of [auth, response])
			expect(Buffer.from(textOf(one), "base64").toString()).not.toContain(PASSWORD);
	});

	test("of another program in our place is said", async () => {
		const { bot } = names();
		const channel = await run({ jid: bot, longestPauseMs: 1e9 });
		const other = await XmppPerson.connect(server, bot.split("@", 1)[0] as string, { resource: "keryx" });
		undo.push(() => other.leave());
		await until(() => channel.health().state === "needs_attention");
		expect(channel.health().detail).toContain("another program has logged in as");
	});
});

describe("TLS", () => {
	let secure: Prosody;
	beforeAll(async () => {
		secure = await startProsody({ tls: true });
	});
	afterAll(() => secure.remove());

	test.each(["starttls", "direct"] as const)("by %s protects the connection", async (tls) => {
		const bot = secure.account("keryx");
		const port = tls === "direct" ? secure.tlsPort : secure.port;
		const channel = await run({ jid: bot, server: { host: "127.0.0.1", port, tls, ca: secure.ca } });
		secure.account("ada");
		expect((await channel.send(outgoing("ada@localhost", "hello"))).kind).toBe("sent");
	});

	test("with a certificate that nobody vouches for is not used, and that is said", async () => {
		const channel = xmppChannelOn(0, {
			jid: secure.account("keryx"),
			server: { host: "127.0.0.1", port: secure.port, tls: "starttls" },
		});
		undo.push(() => channel.stop());
		await channel.start(new TakingHost());
		await until(() => channel.health().state === "needs_attention");
		expect(channel.health().detail).toMatch(/certificate is not trusted.*xmpp\.ca_file/);
	});

	test("that the server does not offer is not gone without", async () => {
		const { bot } = names();
		const channel = xmppChannelOn(0, {
			jid: bot,
			server: { host: "127.0.0.1", port: server.port, tls: "starttls" },
		});
		undo.push(() => channel.stop());
		await channel.start(new TakingHost());
		await until(() => channel.health().state === "needs_attention");
		expect(channel.health().detail).toContain("the server offers no TLS on this port");
	});
});

test("a server without archives, sessions and files is used as it is, and health says what is missing", async () => {
	const poor = await startProsody({ without: ["mam", "muc_mam", "smacks", "carbons", "http_file_share"] });
	undo.push(() => poor.remove());
	const ada = await come("ada", poor);
	const room = `room@${poor.rooms}`;
	await ada.join(room, "Ada");
	const host = new TakingHost();
	const channel = await run({ jid: poor.account("keryx"), join: [room] }, { port: poor.port, host });
	await ada.until(() => ada.heard.some(({ attrs }) => attrs.from === `${room}/keryx`));
	ada.say("keryx@localhost", "hello");
	ada.sayIn(room, "keryx: hello");
	await until(() => host.taken.length === 2);
	expect((await channel.send(outgoing(ada.jid, "hi"))).kind).toBe("sent");
	expect((await channel.send(outgoing(room, "hi"))).kind).toBe("sent");
	expect(await channel.send(outgoing("nobody@localhost", "hi"))).toMatchObject({ kind: "refused" });
	expect(await channel.lookup?.("x", { platform: "xmpp", account: "", chatId: ada.jid })).toEqual({
		kind: "unknown",
	});
	await until(() => channel.health().detail?.includes(`${room} keeps no archive`) === true);
	expect(channel.health().detail).toContain("the server keeps no archive for the account");
	expect(channel.health().detail).toContain("the server continues no sessions after a cut connection");
	const attachments = [{ blob: "b", name: "a.bin", mediaType: "application/octet-stream", size: 1 }];
	expect(
		await channel.send(outgoing(ada.jid, "x", { body: { text: "x", plain: "x", attachments } })),
	).toEqual({
		kind: "refused",
		reason: "the XMPP server stores no files",
	});
});

test("a line that has gone silent is noticed and replaced, and nothing on it is lost", async () => {
	const { bot, name } = names();
	const proxy = await createFaultProxy(`http://127.0.0.1:${server.port}`);
	undo.push(() => proxy.close());
	const host = new TakingHost();
	const channel = await run({ jid: bot, aliveMs: 2000 }, { port: proxy.port, host });
	const ada = await come(name);
	ada.say(bot, "hello");
	await until(() => host.taken.length === 1);
	await proxy.set("silent");
	ada.say(bot, "into the void");
	await until(() => channel.health().state === "down");
	await proxy.set("open");
	await until(() => host.taken.length === 2);
	expect(textsOf(host.taken)).toEqual(["hello", "into the void"]);
});

test("a server that dies is waited for, and its rooms are joined again", async () => {
	const own = await startProsody();
	undo.push(() => own.remove());
	const room = `room@${own.rooms}`;
	const host = new TakingHost();
	const channel = await run({ jid: own.account("keryx"), join: [room] }, { port: own.port, host });
	await own.kill();
	await until(() => channel.health().state === "down");
	expect((await channel.send(outgoing("ada@localhost", "x"))).kind).toBe("retry");
	await own.start();
	await until(() => channel.health().state === "connected");
	const ada = await come("ada", own);
	await ada.join(room, "Ada");
	await ada.until(() =>
		ada.heard.some(({ attrs, name }) => name === "presence" && attrs.from === `${room}/keryx`),
	);
	ada.sayIn(room, "keryx: there?");
	await until(() => host.taken.length === 1);
});
