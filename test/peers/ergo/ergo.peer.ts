// IRC against Ergo, a server with accounts, echoes and a history: what ngircd cannot show.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type IrcOptions, identifyIrc } from "../../../src/channels/irc/index.ts";
import type { Channel } from "../../../src/gateway/index.ts";
import { TakingHost } from "../../../src/testing/index.ts";
import { connected, ircChannelOn, outgoing } from "../../channels/irc-scene.ts";
import { IrcWorld } from "../../channels/storm/irc-world.ts";
import { randomBy } from "../../crash/acks.ts";
import { Workbench } from "../../crash/support.ts";
import { type Ergo, saslBegin, startErgo } from "../../support/ergo.ts";
import { IrcPerson } from "../../support/irc-person.ts";
import { SEED } from "../../support/seed.ts";
import { until } from "../../support/until.ts";

const MESSAGES = Number(process.env.KERYX_STORM_MESSAGES ?? 60);

let server: Ergo;
beforeAll(async () => {
	server = await startErgo();
	for (const name of ["keryx", "ada"]) await server.register(name, "sesame");
});
afterAll(() => server.remove());

const undo: (() => Promise<void> | void)[] = [];
afterEach(async () => {
	for (const step of undo.splice(0).reverse()) await step();
});

const PASSWORD = { keys: new Map<string, string>(), password: "sesame" };

function channelOf(options: Partial<IrcOptions> = {}, secrets = PASSWORD): Channel {
	const channel = ircChannelOn(server.port, { join: ["#room"], ...options }, () => secrets);
	undo.push(() => channel.stop());
	return channel;
}

async function comeLoggedIn(nick: string): Promise<IrcPerson> {
	const person = await IrcPerson.connect({ port: server.port, nick, begin: saslBegin(nick, "sesame") });
	undo.push(() => person.leave());
	return person;
}

test("logged in by SASL, it knows people by their accounts, and an echo proves what it sent", async () => {
	const channel = channelOf({
		server: { host: "127.0.0.1", port: server.tlsPort, tls: true, ca: server.ca },
	});
	const host = new TakingHost();
	await connected(channel, host);
	const ada = await comeLoggedIn("ada");
	ada.say("keryx", "hello");
	await until(() => host.taken.length === 1);
	expect(host.taken[0]).toMatchObject({
		content: "hello",
		source: { chat_id: "ada", user_id: "ada", user_name: "ada" },
		platformMessage: expect.stringMatching(/^[a-z0-9]{20,}$/),
		sentAt: expect.any(Number),
		transport: {},
	});
	expect(host.taken[0]?.transport?.unproven).toBeUndefined();
	const sent = await channel.send(outgoing("ada", "hi"));
	await ada.sync();
	const seen = ada.heard.find(({ command, nick }) => command === "PRIVMSG" && nick === "keryx");
	expect(sent).toEqual({ kind: "sent", receipt: seen?.tags.get("msgid") });
	expect(channel.health().detail).toContain("the server keeps a history");
	expect((await channel.send(outgoing("nobody", "hi"))).kind).toBe("retry");
});

test("somebody who is not logged in is not the account of that name", async () => {
	const channel = channelOf();
	const host = new TakingHost();
	await connected(channel, host);
	const eve = await IrcPerson.connect({ port: server.port, nick: "eve" });
	undo.push(() => eve.leave());
	eve.say("keryx", "let me in");
	await until(() => host.taken.length === 1);
	expect(host.taken[0]?.source.user_id).toMatch(/^eve!.+@.+/);
	expect(host.taken[0]?.transport).toMatchObject({ unproven: true });
	expect((await channel.send(outgoing("eve", "for the account eve"))).kind).toBe("retry");
	await eve.sync();
	expect(eve.lines("keryx")).toEqual([]);
});

test("a wrong password needs attention, with the remedy; the account that is named is used", async () => {
	const channel = channelOf({}, { ...PASSWORD, password: "wrong" });
	await channel.start(new TakingHost());
	await until(() => channel.health().state === "needs_attention");
	expect(channel.health().detail).toMatch(/does not accept the password of keryx.*check irc\.login/);
	const connection = { host: "127.0.0.1", port: server.port, tls: false };
	await expect(
		identifyIrc({
			server: connection,
			nick: "keryx",
			secrets: async () => ({ ...PASSWORD, password: "no" }),
		}),
	).rejects.toMatchObject({ code: "channel.refused" });
	expect(
		await identifyIrc({ server: connection, nick: "other", login: "keryx", secrets: async () => PASSWORD }),
	).toMatchObject({ who: expect.stringContaining("on 127.0.0.1") });
});

describe("what was said while Keryx was away", () => {
	test("is read from the history, in order, in channels and in private, none twice", async () => {
		const host = new TakingHost();
		const channel = channelOf();
		await connected(channel, host);
		const ada = await comeLoggedIn("ada");
		await ada.join("#room");
		ada.say("#room", "keryx: before");
		ada.say("keryx", "before in private");
		await until(() => host.taken.length === 2);
		await channel.stop();
		for (let n = 1; n <= 120; n++) ada.say("#room", `keryx: room ${n}`);
		for (let n = 1; n <= 120; n++) ada.say("keryx", `private ${n}`);
		await ada.sync();
		await connected(channel, host);
		await until(() => new Set(host.ids()).size >= 242);
		ada.say("keryx", "after");
		await until(() => host.taken.at(-1)?.content === "after");
		const fresh = host.taken.filter(({ platformMessage }, n) => host.ids().indexOf(platformMessage) === n);
		const of = (chat: string) =>
			fresh.filter(({ source }) => source.chat_id === chat).map(({ content }) => content);
		const numbers = Array.from({ length: 120 }, (_, n) => n + 1);
		expect(of("#room")).toEqual(["before", ...numbers.map((n) => `room ${n}`)]);
		expect(of("ada")).toEqual(["before in private", ...numbers.map((n) => `private ${n}`), "after"]);
	});
});

test(
	`of ${MESSAGES} messages none is lost, whatever is killed or cut, because the server keeps them`,
	async () => {
		const bench = new Workbench();
		undo.push(() => bench.end());
		const chats = Math.min(50, Math.ceil(MESSAGES / 5));
		const own = await startErgo();
		undo.push(() => own.remove());
		for (const name of ["keryx", ...Array.from({ length: chats }, (_, n) => `ada${n}`)])
			await own.register(name, "sesame");
		const world = await IrcWorld.create({
			bench,
			random: randomBy(SEED),
			messages: MESSAGES,
			chats,
			port: own.port,
			history: { login: "keryx", password: "sesame", begin: (nick) => saslBegin(nick, "sesame") },
		});
		const { problems, report } = await world.storm(SEED + 1);
		console.log(`storm on Ergo: ${JSON.stringify({ lost: world.lost, ...report, seed: SEED })}`);
		expect([...problems, ...world.lost]).toEqual([]);
	},
	120_000 + MESSAGES * 1000,
);

test("500 lines do not make the server slow it down", async () => {
	// 500 in all are many minutes at the pace of a person; `KERYX_FLOOD_LINES` says how many.
	const lines = Number(process.env.KERYX_FLOOD_LINES ?? 20);
	const slow = await startErgo({ isSlow: true });
	undo.push(() => slow.remove());
	await slow.register("keryx", "sesame");
	const channel = ircChannelOn(
		slow.port,
		{ join: ["#room"], flood: { burst: 4, everyMs: 1000 } },
		() => PASSWORD,
	);
	undo.push(() => channel.stop());
	await connected(channel);
	let longest = 0;
	let sent = 0;
	while (sent < lines) {
		const began = performance.now();
		const result = await channel.send(outgoing("#room", `line ${sent}`));
		if (result.kind === "retry") {
			await new Promise((resolve) => setTimeout(resolve, result.afterMs ?? 100));
			continue;
		}
		expect(result.kind).toBe("sent");
		longest = Math.max(longest, performance.now() - began);
		sent++;
	}
	console.log(`flood on Ergo: ${lines} lines, the slowest answer took ${Math.round(longest)} ms`);
	expect(longest).toBeLessThan(900);
}, 1_200_000);
