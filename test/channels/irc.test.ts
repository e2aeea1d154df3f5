// The IRC channel on a real ngircd: what comes in, what goes out, and what becomes of nicks, channels and the server.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { IrcOptions, IrcSecrets } from "../../src/channels/irc/index.ts";
import type { Channel, Inbound } from "../../src/gateway/index.ts";
import { createFaultProxy } from "../../src/testing/fault-proxy.ts";
import { TakingHost } from "../../src/testing/index.ts";
import { freePort } from "../support/free-port.ts";
import { IrcPerson } from "../support/irc-person.ts";
import { type Ngircd, startNgircd } from "../support/ngircd.ts";
import { until } from "../support/until.ts";
import { connected, ircChannelOn, outgoing } from "./irc-scene.ts";

let server: Ngircd;
beforeAll(async () => {
	server = await startNgircd({ tls: true });
});
afterAll(() => server.remove());

const undo: (() => Promise<void> | void)[] = [];
afterEach(async () => {
	for (const step of undo.splice(0).reverse()) await step();
});

let scenes = 0;

/** Nicks and a room that nobody else in this file has. */
function names() {
	const n = ++scenes;
	return { bot: `bot${n}`, ada: `ada${n}`, eve: `eve${n}`, room: `#room${n}` };
}

async function come(nick: string, { port = server.port, user = nick } = {}): Promise<IrcPerson> {
	const person = await IrcPerson.connect({ port, nick, user });
	undo.push(() => person.leave());
	return person;
}

async function run(
	options: Partial<IrcOptions>,
	{ port = server.port, secrets }: { readonly port?: number; readonly secrets?: () => IrcSecrets } = {},
): Promise<{ readonly channel: Channel; readonly host: TakingHost }> {
	const channel = ircChannelOn(port, options, secrets);
	const host = new TakingHost();
	undo.push(() => channel.stop());
	await connected(channel, host);
	return { channel, host };
}

const maskOf = (nick: string, user = nick) => `${nick}!~${user}@127.0.0.1`;
const textsOf = (taken: readonly Inbound[]) => taken.map(({ content }) => content);

test("a private message comes in and is answered", async () => {
	const { bot, ada: nick } = names();
	const { channel, host } = await run({ nick: bot });
	const ada = await come(nick);
	ada.say(bot, "hello");
	await until(() => host.taken.length === 1);
	expect(host.taken[0]).toMatchObject({
		content: "hello",
		source: {
			platform: "irc",
			chat_type: "dm",
			chat_id: maskOf(nick),
			user_id: maskOf(nick),
			user_name: nick,
		},
		transport: { unproven: true },
	});
	expect(await channel.send(outgoing(maskOf(nick), "hi"))).toMatchObject({ kind: "sent" });
	await ada.sync();
	expect(ada.lines(bot)).toEqual(["hi"]);
});

test("in a channel, only a line that begins with the nick is for the agent; formats, actions and CTCP are read as what they are", async () => {
	const { bot, ada: nick, room } = names();
	const ada = await come(nick);
	await ada.join(room);
	ada.write(`TOPIC ${room} :all about it`);
	const { host } = await run({ nick: bot, join: [room] });
	await ada.until(() => ada.heard.some(({ command, nick: who }) => command === "JOIN" && who === bot));
	const lines = [
		`${bot}: one`,
		`${bot.toUpperCase()}, two`,
		`@${bot} three`,
		`${bot}: !status`,
		`${bot}ling: four`,
		"five \x02bold\x0f \x0304,12red",
		`\x01ACTION waves at ${bot}\x01`,
		"\x01VERSION\x01",
		"!status",
		"!nonsense",
	];
	for (const line of lines) ada.say(room, line);
	ada.write(`NOTICE ${room} :a notice`);
	ada.say(room, "end");
	await until(() => textsOf(host.taken).includes("end"));
	expect(host.taken.map(({ content, mentioned }) => [content, mentioned])).toEqual([
		["one", true],
		["two", true],
		["three", true],
		["/status", true],
		[`${bot}ling: four`, false],
		["five bold red", false],
		[`* ${nick} waves at ${bot}`, false],
		["/status", false],
		["!nonsense", false],
		["end", false],
	]);
	expect(host.taken[0]?.source).toMatchObject({
		chat_type: "channel",
		chat_id: room,
		chat_topic: "all about it",
		user_id: maskOf(nick),
	});
	await ada.sync();
	expect(ada.heard.filter(({ command, nick: who }) => command === "NOTICE" && who === bot)).toEqual([]);
});

test("nothing that is sent can be a second command", async () => {
	const { bot, ada: nick, room } = names();
	const ada = await come(nick);
	await ada.join(room);
	const { channel } = await run({ nick: bot, join: [room] });
	await until(() => channel.health().state === "connected");
	for (const text of ["one\r\nQUIT :gone", "two\nJOIN #elsewhere", "three\0four", "\x01VERSION\x01"])
		expect(await channel.send(outgoing(maskOf(nick), text))).toMatchObject({ kind: "sent" });
	await ada.sync();
	expect(ada.lines(bot)).toEqual(["one␍␊QUIT :gone", "two␊JOIN #elsewhere", "three␀four", "␁VERSION␁"]);
	expect(channel.health().state).toBe("connected");
	for (const place of [`${nick} :x`, `${nick},${room}`, "a\r\nQUIT", ""])
		expect((await channel.send(outgoing(place, "x"))).kind).toBe("refused");
});

test("it is in the channels of the configuration and in no others, whoever invites it", async () => {
	const { bot, ada: nick, room } = names();
	const ada = await come(nick);
	const { channel } = await run({ nick: bot, join: [room] });
	await ada.join(`${room}b`);
	ada.write(`INVITE ${bot} ${room}b`);
	expect(await channel.send(outgoing(`${room}b`, "x"))).toEqual({
		kind: "refused",
		reason: `irc.join does not name ${room}b`,
	});
	await ada.sync();
	ada.write(`WHOIS ${bot}`);
	await ada.until(() => ada.heard.some(({ command }) => command === "319"));
	expect(
		ada.heard
			.find(({ command }) => command === "319")
			?.params.at(-1)
			?.trim(),
	).toBe(`@${room}`);
});

test("a nick that somebody has is taken when it is free again; until then another one is used, and that is said", async () => {
	const { bot, ada: nick, room } = names();
	const holder = await come(bot);
	await holder.join(room);
	const ada = await come(nick);
	await ada.join(room);
	const { channel, host } = await run({ nick: bot, join: [room], nickMs: 1e9 });
	expect(channel.health().detail).toContain(`the nick ${bot} is taken, so Keryx is ${bot}_ until it is free`);
	ada.say(`${bot}_`, "hello");
	await until(() => host.taken.length === 1);
	expect((await channel.send(outgoing(room, "here"))).kind).toBe("sent");
	holder.write("QUIT :bye");
	await ada.until(() => ada.heard.some(({ command, params }) => command === "NICK" && params[0] === bot));
	await until(() => !channel.health().detail?.includes("is taken"));
	ada.say(room, `${bot}: again`);
	await until(() => host.taken.length === 2);
	expect(host.taken[1]).toMatchObject({ content: "again", mentioned: true });
	expect((await channel.send(outgoing(maskOf(nick), "hi"))).kind).toBe("sent");
	await ada.sync();
	expect(ada.lines(bot)).toEqual(["hi"]);
});

test("a nick is also taken back from somebody whom it cannot see leave", async () => {
	const { bot } = names();
	const holder = await come(bot);
	const { channel } = await run({ nick: bot, nickMs: 5 });
	expect(channel.health().detail).toContain("is taken");
	holder.write("QUIT");
	await until(() => !channel.health().detail?.includes("is taken"));
});

test("thrown out of a channel, what is meant for it is refused with the reason, and it is asked again later", async () => {
	const { bot, ada: nick, room } = names();
	const ada = await come(nick);
	await ada.join(room);
	const { channel, host } = await run({ nick: bot, join: [room], rejoinMs: 20 });
	await until(() => channel.health().detail?.includes("not in") === false);
	expect((await channel.send(outgoing(room, "before"))).kind).toMatch(/sent|retry/);
	ada.write(`MODE ${room} +i`, `KICK ${room} ${bot} :enough`);
	await until(() => host.goings.length > 0);
	const reason = `${nick} removed Keryx from ${room}: enough`;
	expect(host.goings[0]).toMatchObject({ reason, source: { chat_id: room, chat_type: "channel" } });
	expect(await channel.send(outgoing(room, "after"))).toMatchObject({ kind: "refused" });
	// Not let in again: the server says why.
	await until(() => /not in .*\+i|invite/i.test(channel.health().detail ?? ""));
	ada.write(`MODE ${room} -i`);
	await ada.until(
		() => ada.heard.filter(({ command, nick: who }) => command === "JOIN" && who === bot).length === 2,
	);
	await until(() => !channel.health().detail?.includes("not in"));
	expect((await channel.send(outgoing(room, "back"))).kind).toBe("sent");
});

test("banned, it says so; invited back, it comes at once", async () => {
	const { bot, ada: nick, room } = names();
	const ada = await come(nick);
	await ada.join(room);
	ada.write(`MODE ${room} +b ${bot}!*@*`);
	await ada.sync();
	const { channel, host } = await run({ nick: bot, join: [room] });
	await until(() => host.goings.length === 1);
	expect(host.goings[0]?.reason).toMatch(/ban/i);
	expect(channel.health()).toMatchObject({ state: "connected" });
	expect(channel.health().detail).toContain(`not in ${room}`);
	ada.write(`MODE ${room} -b ${bot}!*@*`, `INVITE ${bot} ${room}`);
	await until(() => !channel.health().detail?.includes("not in"));
});

test("a channel with a key is joined with it", async () => {
	const { bot, ada: nick, room } = names();
	const ada = await come(nick);
	await ada.join(room);
	ada.write(`MODE ${room} +k sesame`);
	await ada.sync();
	const { channel } = await run(
		{ nick: bot, join: [room] },
		{ secrets: () => ({ keys: new Map([[room, "sesame"]]) }) },
	);
	await ada.until(() => ada.heard.some(({ command, nick: who }) => command === "JOIN" && who === bot));
	expect((await channel.send(outgoing(room, "in"))).kind).toBe("sent");
});

test("whoever takes somebody's nick gets nothing that was meant for them", async () => {
	const { bot, ada: nick } = names();
	const { channel, host } = await run({ nick: bot });
	const ada = await come(nick);
	ada.say(bot, "my secret?");
	await until(() => host.taken.length === 1);
	ada.write("QUIT");
	await until(() => ada.isGone);
	expect(await channel.send(outgoing(maskOf(nick), "the secret"))).toMatchObject({ kind: "retry" });
	const eve = await come(nick, { user: "eve" });
	const result = await channel.send(outgoing(maskOf(nick), "the secret"));
	expect(result).toMatchObject({
		kind: "retry",
		reason: expect.stringContaining("somebody else has the nick"),
	});
	await eve.sync();
	expect(eve.lines(bot)).toEqual([]);
	eve.say(bot, "hello");
	await until(() => host.taken.length === 2);
	expect(host.taken[1]?.source).toMatchObject({ user_id: maskOf(nick, "eve"), chat_id: maskOf(nick, "eve") });
});

test("whoever changes their nick before our eyes stays who they were, until they are out of sight", async () => {
	const { bot, ada: nick, room } = names();
	const ada = await come(nick);
	await ada.join(room);
	const { channel, host } = await run({ nick: bot, join: [room] });
	ada.say(bot, "one");
	await until(() => host.taken.length === 1);
	ada.write(`NICK ${nick}x`);
	ada.say(bot, "two");
	await until(() => host.taken.length === 2);
	expect(host.taken[1]?.source).toMatchObject({ user_id: maskOf(nick), user_name: `${nick}x` });
	expect((await channel.send(outgoing(maskOf(nick), "hi"))).kind).toBe("sent");
	await ada.sync();
	expect(ada.lines(bot, `${nick}x`)).toEqual(["hi"]);
	ada.write(`PART ${room}`);
	ada.say(bot, "three");
	await until(() => host.taken.length === 3);
	expect(host.taken[2]?.source).toMatchObject({ user_id: maskOf(`${nick}x`, nick) });
});

test("the longest text arrives whole with the longest nick in the longest channel, in any script", async () => {
	const { ada: nick } = names();
	const bot = "b".repeat(30);
	const room = `#${"r".repeat(49)}`;
	const ada = await come(nick);
	await ada.join(room);
	const { channel } = await run({ nick: bot, join: [room] });
	await ada.until(() => ada.heard.some(({ command, nick: who }) => command === "JOIN" && who === bot));
	const texts = ["x".repeat(320), "漢".repeat(106), "👩‍👩‍👧".repeat(17)];
	for (const text of texts) expect((await channel.send(outgoing(room, text))).kind).toBe("sent");
	await ada.sync();
	expect(ada.lines(bot, room)).toEqual(texts);
	expect((await channel.send(outgoing(room, "漢".repeat(107)))).kind).toBe("refused");
});

test("over TLS it trusts only what it is told to trust", async () => {
	const { bot, ada: nick } = names();
	const address = { host: "127.0.0.1", port: server.tlsPort, tls: true };
	const { channel, host } = await run({ nick: bot, server: { ...address, ca: server.ca } });
	const ada = await IrcPerson.connect({ port: server.tlsPort, nick, ca: server.ca });
	undo.push(() => ada.leave());
	ada.say(bot, "hello");
	await until(() => host.taken.length === 1);
	expect((await channel.send(outgoing(maskOf(nick), "hi"))).kind).toBe("sent");
	const other = ircChannelOn(0, { nick: `${bot}x`, server: address });
	undo.push(() => other.stop());
	await other.start(new TakingHost());
	await until(() => other.health().state === "needs_attention");
	expect(other.health().detail).toMatch(/certificate is not trusted.*irc\.ca_file/);
});

test("a server that dies is waited for, and everything is as before when it is back", async () => {
	const { bot, ada: nick, room } = names();
	const mortal = await startNgircd();
	undo.push(() => mortal.remove());
	const { channel, host } = await run({ nick: bot, join: [room] }, { port: mortal.port });
	await mortal.kill();
	await until(() => channel.health().state === "down");
	expect(await channel.send(outgoing(room, "x"))).toMatchObject({ kind: "retry" });
	await mortal.start();
	await until(() => channel.health().state === "connected");
	const ada = await come(nick, mortal);
	await ada.join(room);
	ada.say(room, `${bot}: hello`);
	await until(() => host.taken.length === 1);
	expect((await channel.send(outgoing(room, "hi"))).kind).toBe("sent");
	await ada.sync();
	expect(ada.lines(bot, room)).toEqual(["hi"]);
});

test("a line that has gone silent is noticed and replaced, and what was on it is unknown", async () => {
	const { bot, ada: nick } = names();
	const proxy = await createFaultProxy(`http://127.0.0.1:${server.port}`);
	undo.push(() => proxy.close());
	const { channel, host } = await run({ nick: bot, aliveMs: 2000 }, { port: proxy.port });
	const ada = await come(nick);
	ada.say(bot, "hello");
	await until(() => host.taken.length === 1);
	expect((await channel.send(outgoing(maskOf(nick), "one"))).kind).toBe("sent");
	await proxy.set("silent");
	expect(await channel.send(outgoing(maskOf(nick), "two"))).toMatchObject({ kind: "unknown" });
	await until(() => channel.health().state === "down");
	await proxy.set("open");
	await until(() => channel.health().state === "connected");
	await ada.sync();
	expect(ada.lines(bot)).toEqual(["one"]);
});

test("a message comes through however the network cuts it into pieces", async () => {
	const { bot, ada: nick } = names();
	const proxy = await createFaultProxy(`http://127.0.0.1:${server.port}`);
	undo.push(() => proxy.close());
	proxy.pieceBytes = 3;
	const { host } = await run({ nick: bot }, { port: proxy.port });
	const ada = await come(nick);
	ada.say(bot, "漢字 in pieces 👩‍👩‍👧");
	await until(() => host.taken.length === 1);
	expect(textsOf(host.taken)).toEqual(["漢字 in pieces 👩‍👩‍👧"]);
});

test("in a netsplit, what is meant for people on the other side waits until they are back", async () => {
	const { bot, ada: nick, room } = names();
	const [near, far] = [await freePort(), await freePort()];
	const link = (other: string, port: number, passive: boolean) =>
		`[Server]\nName = ${other}\nHost = 127.0.0.1\nPort = ${port}\nMyPassword = link\nPeerPassword = link\nPassive = ${passive ? "yes" : "no"}`;
	const left = await startNgircd({ name: "left.test", port: near, more: link("right.test", far, true) });
	undo.push(() => left.remove());
	const right = await startNgircd({ name: "right.test", port: far, more: link("left.test", near, false) });
	undo.push(() => right.remove());
	const { channel, host } = await run({ nick: bot, join: [room] }, { port: near });
	const ada = await come(nick, { port: far });
	await ada.join(room);
	await ada.until(() =>
		ada.heard.some(({ params, nick: who }) => who === bot || params.at(-1)?.includes(bot)),
	);
	ada.say(bot, "hello");
	await until(() => host.taken.length === 1);
	expect((await channel.send(outgoing(maskOf(nick), "before"))).kind).toBe("sent");
	await ada.until(() => ada.lines(bot).length === 1);
	await right.kill();
	let result = await channel.send(outgoing(maskOf(nick), "split"));
	while (result.kind === "sent") result = await channel.send(outgoing(maskOf(nick), "split"));
	expect(result).toMatchObject({ kind: "retry", reason: expect.stringContaining("not") });
	expect(channel.health().state).toBe("connected");
	await right.start();
	const again = await come(nick, { port: far });
	await again.join(room);
	await again.until(() =>
		again.heard.some(({ params, nick: who }) => who === bot || params.at(-1)?.includes(bot)),
	);
	expect((await channel.send(outgoing(maskOf(nick), "after"))).kind).toBe("sent");
	await again.until(() => again.lines(bot).length === 1);
	expect(again.lines(bot)).toEqual(["after"]);
});
