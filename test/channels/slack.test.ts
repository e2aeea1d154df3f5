// What is Slack's own: workspaces, threads, mentions, changes that are no edits, connections that come and go, and what only a human can mend.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseSource } from "../../src/domain/index.ts";
import type { Outgoing } from "../../src/gateway/index.ts";
import { createVirtualClock, type VirtualClock } from "../../src/testing/index.ts";
import { type Clock, systemClock } from "../../src/time/index.ts";
import type { Person } from "../peers/slack/index.ts";
import { channelOn, QUICK, type SlackScene, slackScene } from "./slack-scene.ts";

let scene: SlackScene;
let ada: Person;
beforeEach(async () => {
	scene = await slackScene();
	ada = scene.peer.user("Ada");
});
afterEach(() => scene.close());

/** What was handed in, when so many messages were. */
async function taken(count: number) {
	await scene.until(() => scene.host.taken.length >= count);
	return scene.host.taken;
}

const outgoing = (chatId: string, text: string, more: Partial<Outgoing> = {}): Outgoing => ({
	id: "t1:1",
	destination: { platform: "slack", account: "", chatId },
	body: { text, plain: text },
	plain: false,
	openBlob: nothing,
	...more,
});

async function* nothing(): AsyncGenerator<Uint8Array> {}

describe("sources", () => {
	test("a direct message, channels, a group of people and a thread are each named as routing wants them", async () => {
		const { peer } = scene;
		await scene.start();
		const team = peer.channel("team");
		team.topic = "plans";
		const secret = peer.privateChannel("secret");
		const bob = peer.user("Bob");
		const group = peer.groupDm(ada, bob);
		peer.say(ada, peer.dm(ada), "one");
		const ts = peer.say(ada, team, "two");
		peer.say(bob, team, "three", { thread: ts });
		peer.say(ada, secret, "four");
		peer.say(ada, group, "five");
		const sources = (await taken(5))
			.toSorted((a, b) => String(a.content).localeCompare(String(b.content)))
			.map(({ content, source }) => {
				const { chatType, chatId, scopeId, threadId, chatName, chatTopic, userName } = parseSource(source);
				return [content, chatType, chatId, scopeId, threadId, chatName, chatTopic, userName];
			});
		const { id } = peer.team;
		expect(sources).toEqual([
			["five", "group", group.id, id, undefined, group.name, undefined, "Ada"],
			["four", "channel", secret.id, id, undefined, "secret", undefined, "Ada"],
			["one", "dm", expect.stringMatching(/^D/), id, undefined, undefined, undefined, "Ada"],
			["three", "channel", team.id, id, ts, "team", "plans", "Bob"],
			["two", "channel", team.id, id, undefined, "team", "plans", "Ada"],
		]);
		// A direct message's chat has no name to ask for.
		const asked = peer.calls.filter(({ method }) => method === "conversations.info");
		expect(asked.map(({ fields }) => String(fields.channel)).filter((chat) => chat.startsWith("D"))).toEqual(
			[],
		);
	});

	test("a slash command in a group of people is of the same chat as what is written there", async () => {
		const { peer, host } = scene;
		await scene.start();
		const group = peer.groupDm(ada, peer.user("Bob"));
		peer.say(ada, group, "one");
		await taken(1);
		peer.command(ada, group, "/keryx", "status");
		peer.command(ada, group, "/help", "me");
		peer.command(ada, group, "/keryx", "");
		await taken(4);
		expect(host.taken.map(({ content }) => content)).toEqual(["one", "/status", "/help me", "/help"]);
		expect(new Set(host.taken.map(({ source }) => `${source.chat_type} ${source.chat_id}`)).size).toBe(1);
		expect(new Set(host.ids()).size).toBe(4);
	});

	test("names that Slack does not tell are left out, and the message is not", async () => {
		const { peer } = scene;
		for (const method of ["conversations.info", "users.info"]) peer.next({ status: 503 }, method);
		await scene.start();
		const team = peer.channel("team");
		peer.say(ada, team, "one");
		const [inbound] = await taken(1);
		expect(inbound?.source).toMatchObject({ chat_type: "channel", user_id: ada.id });
		expect(inbound?.source).not.toHaveProperty("user_name");
	});
});

describe("words", () => {
	test("a mention, a known command and a reply to the app count; others do not; names stand for ids", async () => {
		const { peer, channel } = scene;
		await scene.start();
		const bob = peer.user("Bob");
		const team = peer.channel("team");
		const sent = await channel.send(outgoing(team.id, "I am here"));
		const own = sent.kind === "sent" ? sent.receipt : "";
		const said: [string, boolean, string?][] = [
			["just talking", false],
			[`${peer.mention} what now`, true, "what now"],
			[`tell me, ${peer.mention}`, true, "tell me, @keryx"],
			[`<@${ada.id}> hello`, false, "@Ada hello"],
			[" /status", true, "/status"],
			[" /unknown", false, "/unknown"],
			["see <https://example.org/?a=1|this> & <b>", false, "see [this](https://example.org/?a=1) & <b>"],
			["<!here> <!subteam^S1|@team> <#C9|plans> <mailto:a@b.c|a@b.c>", false, "@here @team #plans a@b.c"],
		];
		for (const [text] of said) peer.say(bob, team, text);
		peer.say(bob, team, "and this?", { thread: own });
		const all = await taken(said.length + 1);
		expect(all.map(({ content, mentioned }) => [content, mentioned])).toEqual([
			...said.map(([text, mentioned, shown]) => [shown ?? text, mentioned]),
			["and this?", false],
		]);
		expect(all.at(-1)?.quoted).toEqual({
			platformMessage: own,
			text: "I am here",
			author: "Keryx",
			own: true,
		});
	});

	test("what a thread hangs on is shown once, and forwarded words say whose they are", async () => {
		const { peer } = scene;
		await scene.start();
		const team = peer.channel("team");
		const ts = peer.say(ada, team, "the first of all");
		peer.say(ada, team, "second", { thread: ts });
		peer.say(ada, team, "third", { thread: ts });
		const eve = peer.user("Eve");
		const files = [{ name: "plan.txt", bytes: Buffer.from("beans") }];
		const theirs = peer.say(eve, team, "look & see", { silent: true, files });
		peer.share(ada, team, theirs, team);
		const [, second, third, shared] = await taken(4);
		expect(second?.quoted).toMatchObject({ text: "the first of all", author: "Ada", own: false });
		expect(third?.quoted).toBeUndefined();
		expect(shared?.content).toMatchObject([
			{ type: "text", text: "[forwarded from Eve]\nlook & see" },
			{ type: "file", name: "plan.txt" },
		]);
	});
});

describe("more than messages", () => {
	test("own messages and their changes are no news; a person's edit and deletion are", async () => {
		const { peer, host, channel } = scene;
		await scene.start();
		const dm = peer.dm(ada);
		const sent = await channel.send(outgoing(dm.id, "draft"));
		await channel.edit?.(sent.kind === "sent" ? sent.receipt : "", outgoing(dm.id, "better"));
		const ts = peer.say(ada, dm, "hello");
		peer.edit(dm, ts, "hello &amp; goodbye");
		peer.unfurl(dm, ts);
		peer.remove(dm, ts);
		peer.say(ada, dm, "next");
		await taken(2);
		expect(host.taken.map(({ content }) => content)).toEqual(["hello", "next"]);
		expect(host.edits.map(({ platformMessage, content }) => [platformMessage, content])).toEqual([
			[ts, "hello & goodbye"],
			[ts, "hello & goodbye"],
		]);
		await scene.until(() => peer.sockets.envelopes.every(({ state }) => state === "acknowledged"));
	});

	test("events of forms that nobody expects end nothing, move no cursor and hold up nothing", async () => {
		const { peer, host } = scene;
		await scene.start();
		const said = { type: "message", channel: "C1", channel_type: "channel", user: ada.id };
		const odd = [null, 5, [], {}, { type: "message", channel: null }, { ...said, ts: "soon", text: "x" }];
		for (const [n, event] of odd.entries())
			peer.sockets.deliver("events_api", { event, event_id: `E${n}` } as never);
		for (const type of ["events_api", "interactive", "slash_commands"] as const)
			peer.sockets.deliver(type, null as never);
		for (const socket of peer.sockets.open) for (const text of ["null", "[]", "{"]) socket.send(text);
		peer.say(ada, peer.dm(ada), "still there?");
		await scene.until(() => host.taken.some(({ content }) => content === "still there?"));
		await scene.until(() => peer.sockets.envelopes.every(({ state }) => state === "acknowledged"));
		expect(await host.cursor()).toMatch(/^[\d.]+ [\d.]+$/);
	});

	test("a reaction says on whose message it is; bots are said to be such; being removed is said", async () => {
		const { peer, host, channel } = scene;
		await scene.start();
		const team = peer.channel("team");
		const sent = await channel.send(outgoing(team.id, "done"));
		const ts = peer.say(peer.bot("Robot"), team, "beep");
		peer.react(ada, team, sent.kind === "sent" ? sent.receipt : "", "+1");
		peer.react(ada, team, ts, "parrot");
		await scene.until(() => host.reactions.length === 2);
		expect(host.reactions.map(({ emoji, on }) => [emoji, on])).toEqual([
			["👍", "own"],
			[":parrot:", "other"],
		]);
		expect(host.taken[0]?.transport?.isBot).toBe(true);
		peer.kick(team);
		await scene.until(() => host.goings.length === 1);
		expect(await channel.send(outgoing(team.id, "are you there?"))).toMatchObject({ kind: "refused" });
		expect(host.goings.map(({ source, reason }) => [source.chat_id, reason])).toEqual([
			[team.id, "the app was removed from the channel"],
			[team.id, "the app was removed from the channel"],
		]);
	});

	test("several files come with one message; one that is kept elsewhere is named, and its place never sees the token", async () => {
		const { peer, host } = scene;
		await scene.start();
		const dm = peer.dm(ada);
		const bytes = Buffer.from("some bytes");
		const externalUrl = "http://127.0.0.1:9/steal";
		peer.say(ada, dm, "look", {
			files: [
				{ name: "one.png", mimetype: "image/png", bytes },
				{ name: "two.txt", bytes },
				{ name: "elsewhere.doc", externalUrl },
			],
		});
		const [inbound] = await taken(1);
		expect(inbound?.content).toMatchObject([
			{ type: "text", text: "look" },
			{ type: "image", name: "one.png" },
			{ type: "file", name: "two.txt" },
			{ type: "text", text: expect.stringContaining(externalUrl) },
		]);
		expect([...host.blobs.values()]).toEqual([bytes, bytes]);
	});
});

describe("deliveries", () => {
	test("an answer in a thread stays there; nothing that is sent can call somebody", async () => {
		const { peer, channel } = scene;
		await scene.start();
		const team = peer.channel("team");
		const ts = peer.say(ada, team, "hello");
		const destination = { platform: "slack", account: "", chatId: team.id, threadId: ts };
		await channel.send(outgoing(team.id, "<!channel> <@U1> @here", { destination }));
		expect(peer.answers(team)).toMatchObject([
			{ thread: ts, text: "<!channel> <@U1> @here", raw: "&lt;!channel> &lt;@U1> @here" },
		]);
		const { fields } = peer.calls.find(({ method }) => method === "chat.postMessage") ?? { fields: {} };
		expect(fields).toMatchObject({ link_names: "false" });
	});

	test("Slack is asked to fetch nothing that a link in an answer leads to", async () => {
		const { peer, channel } = scene;
		await scene.start();
		await channel.send(outgoing(peer.dm(ada).id, "see https://example.org/?q=what-the-agent-knows.png"));
		const { fields } = peer.calls.find(({ method }) => method === "chat.postMessage") ?? { fields: {} };
		expect(fields).toMatchObject({ unfurl_links: "false", unfurl_media: "false" });
	});

	test("another app's message is no delivery, whatever it says of itself", async () => {
		const { peer, channel } = scene;
		await scene.start();
		const team = peer.channel("team");
		const mine = outgoing(team.id, "hello");
		await channel.send(mine);
		expect(await channel.lookup?.(mine.id, mine.destination)).toMatchObject({ kind: "sent" });
		for (const [ts, message] of team.messages)
			team.messages.set(ts, { ...message, user: "U0OTHER", bot_id: "B0OTHER" });
		expect(await channel.lookup?.(mine.id, mine.destination)).toEqual({ kind: "absent" });
	});

	test("a message with files whose answer was lost is found by its files, and never taken for absent", async () => {
		const { peer, channel } = scene;
		await scene.start();
		const dm = peer.dm(ada);
		const file = { blob: "b", name: "a.bin", mediaType: "application/octet-stream", size: 3 };
		const files = outgoing(dm.id, "here", {
			body: { text: "here", plain: "here", attachments: [file] },
			openBlob: async function* () {
				yield new Uint8Array([1, 2, 3]);
			},
		});
		peer.next("lose_ack", "files.completeUploadExternal");
		expect((await channel.send(files)).kind).toBe("unknown");
		expect(await channel.lookup?.(files.id, files.destination)).toMatchObject({ kind: "sent" });
		expect(await channel.lookup?.("another", files.destination)).toEqual({ kind: "unknown" });
	});

	test("words whose answer was lost are absent where they are not there, whatever files the app showed before", async () => {
		const { peer, channel } = scene;
		await scene.start();
		const dm = peer.dm(ada);
		const file = { blob: "b", name: "a.bin", mediaType: "application/octet-stream", size: 3 };
		const files = outgoing(dm.id, "here", {
			id: "earlier",
			body: { text: "here", plain: "here", attachments: [file] },
			openBlob: async function* () {
				yield new Uint8Array([1, 2, 3]);
			},
		});
		expect((await channel.send(files)).kind).toBe("sent");
		const lost = outgoing(dm.id, "lost");
		peer.next("lost", "chat.postMessage");
		expect((await channel.send(lost)).kind).toBe("unknown");
		expect(await channel.lookup?.(lost.id, lost.destination)).toEqual({ kind: "absent" });
		// Of an earlier life nobody knows whether it had files: those that are older than it are not its own.
		const later = systemClock.now() + 3_600_000;
		expect(await channel.lookup?.("of an earlier life", lost.destination, later)).toEqual({ kind: "absent" });
		expect(await channel.lookup?.("of an earlier life", lost.destination, systemClock.now())).toEqual({
			kind: "unknown",
		});
	});

	test("a message that somebody deleted is missing, so that the answer is sent anew", async () => {
		const { peer, channel } = scene;
		await scene.start();
		const dm = peer.dm(ada);
		const sent = await channel.send(outgoing(dm.id, "half"));
		const receipt = sent.kind === "sent" ? sent.receipt : "";
		peer.remove(dm, receipt);
		expect(await channel.edit?.(receipt, outgoing(dm.id, "whole"))).toEqual({ kind: "missing" });
	});

	test("what may still be on its way is not looked for at once: its absence would say nothing", async () => {
		const { peer, host } = scene;
		const clock = createVirtualClock(systemClock.now());
		const channel = channelOn(peer, { clock, settleMs: 2000 });
		await channel.start(host);
		await scene.until(() => channel.health().state === "connected");
		const lost = outgoing(peer.dm(ada).id, "lost");
		peer.next("lost", "chat.postMessage");
		expect((await channel.send(lost)).kind).toBe("unknown");
		const reads = () => peer.calls.filter(({ method }) => method === "conversations.history").length;
		const found = channel.lookup?.(lost.id, lost.destination);
		await clock.advance(1900);
		expect(reads()).toBe(0);
		await clock.advance(200);
		expect(await found).toEqual({ kind: "absent" });
		expect(reads()).toBe(1);
		await channel.stop();
	});
});

describe("the connection", () => {
	test("when Slack moves it, the old one is closed before the next is opened, and nothing is lost", async () => {
		const { peer, host, channel } = scene;
		await scene.start();
		let most = 0;
		peer.onChange(() => {
			most = Math.max(most, peer.sockets.open.size);
		});
		const dm = peer.dm(ada);
		for (const reason of ["warning", "refresh_requested"] as const) {
			const { opened } = peer.sockets;
			peer.sockets.announce(reason);
			peer.say(ada, dm, reason);
			await scene.until(() => peer.sockets.opened > opened && peer.sockets.open.size === 1);
		}
		await scene.until(() => new Set(host.ids()).size === 2);
		await scene.until(() => channel.health().state === "connected");
		expect(most).toBe(1);
		expect(channel.health().connections).toBe(1);
	});

	test("connections of other programs are counted and told", async () => {
		const { peer, channel, host } = scene;
		const other = channelOn(peer);
		await other.start(host);
		await scene.until(() => peer.sockets.open.size === 1);
		await scene.start();
		expect(channel.health()).toMatchObject({
			state: "connected",
			connections: 2,
			detail: expect.stringContaining("2 programs are connected"),
		});
		await other.stop();
	});

	test("a connection that is open and silent is found out by its pings, and replaced", async () => {
		const { peer, proxy } = scene;
		await scene.channel.stop();
		const channel = channelOn(peer, { apiRoot: `${proxy.url}/api/`, pulseMs: 20 });
		await channel.start(scene.host);
		await scene.until(() => channel.health().provenBy === "ping answered");
		await proxy.set("silent");
		await scene.until(() => channel.health().state !== "connected");
		await proxy.set("open");
		proxy.cut();
		await scene.until(() => channel.health().state === "connected");
		await channel.stop();
	});

	test("silence is down, whatever the connection says", async () => {
		const { peer, host } = scene;
		let now = 0;
		const clock: Clock = { ...systemClock, monotonic: () => now };
		const channel = channelOn(peer, { clock });
		await channel.start(host);
		await scene.until(() => channel.health().state === "connected");
		now += 61_000;
		expect(channel.health()).toMatchObject({ state: "down", detail: "Slack does not answer" });
		await channel.stop();
	});

	test("a slow file holds up its own chat, and no other", async () => {
		const { peer, host } = scene;
		await scene.start();
		let release = () => {};
		peer.next({ until: new Promise<void>((resolve) => (release = resolve)) }, "file");
		const bob = peer.user("Bob");
		const dm = peer.dm(ada);
		peer.say(ada, dm, "a file", { files: [{ name: "f.bin", bytes: Buffer.from("x") }] });
		peer.say(ada, dm, "and words");
		peer.say(bob, peer.dm(bob), "hello");
		await taken(1);
		expect(host.taken.map(({ content }) => content)).toEqual(["hello"]);
		release();
		expect((await taken(3)).at(-1)?.content).toBe("and words");
	});
});

describe("what only a human can mend", () => {
	test.each(["token_revoked", "account_inactive", "invalid_auth"])(
		"a token that is refused in the middle (%s) is found out within ten seconds, without a message, and a new one is used",
		async (word) => {
			const { peer, host } = scene;
			const { clock, channel } = slowly();
			await channel.start(host);
			await scene.until(() => channel.health().state === "connected");
			peer.revokeToken(word);
			await clock.advance(9000);
			await scene.until(() => channel.health().state === "needs_attention");
			expect(channel.health().detail).toContain("install the app again");
			expect(peer.sockets.open.size).toBeLessThanOrEqual(1);
			peer.isRevoked = false;
			await moving(clock, () => channel.health().state === "connected");
			await channel.stop();
		},
	);

	test.each([
		["swapped tokens", { token: () => Promise.resolve("xapp-1-A0001-1001-secret") }, /wrong kind.*xoxb-/],
		[
			"wrong app tokens",
			{ events: { appToken: () => Promise.resolve("xapp-wrong") } },
			/does not accept the app's token/,
		],
	])("%s are named with the remedy", async (_, wrong, said) => {
		const channel = channelOn(scene.peer, wrong);
		await channel.start(scene.host);
		await scene.until(() => channel.health().state === "needs_attention");
		expect(channel.health().detail).toMatch(said);
		await channel.stop();
	});

	test("Socket Mode switched off, and too many connections, are named", async () => {
		const { peer, channel } = scene;
		await scene.start();
		peer.sockets.announce("link_disabled");
		await scene.until(() => channel.health().state === "needs_attention");
		expect(channel.health().detail).toContain("Socket Mode is off");
		await scene.until(() => channel.health().state === "connected");
		peer.sockets.announce("too_many_websockets");
		await scene.until(() => channel.health().state === "needs_attention");
		expect(channel.health().detail).toContain("ten programs");
	});

	/** A channel on a clock that stands. */
	function slowly() {
		const clock = createVirtualClock(systemClock.now());
		const channel = channelOn(scene.peer, { clock });
		return { clock, channel };
	}

	async function moving(clock: VirtualClock, condition: () => boolean): Promise<void> {
		while (!condition()) {
			await clock.advance(10);
		}
	}
});

describe("what was missed", () => {
	test("is read from the history at the start, oldest first, threads with it; an event of the same message is acknowledged alone", async () => {
		await scene.close();
		scene = await slackScene({}, { ...QUICK, retryMs: [] });
		ada = scene.peer.user("Ada");
		const { peer, host, channel } = scene;
		const dm = peer.dm(ada);
		const team = peer.channel("team");
		peer.say(ada, dm, "before the first start");
		await scene.start();
		const ts = peer.say(ada, team, "old thread");
		await taken(1);
		await channel.stop();
		for (let n = 0; n < 450; n++) peer.say(ada, dm, `away ${n}`);
		peer.say(ada, team, "a reply", { thread: ts });
		peer.say(peer.bot("Robot"), team, "beep");
		await scene.start();
		await taken(453);
		const contents = host.taken.map(({ content }) => String(content));
		expect(contents.filter((text) => text.startsWith("away"))).toEqual(
			Array.from({ length: 450 }, (_, n) => `away ${n}`),
		);
		expect(contents).toContain("a reply");
		expect(contents).not.toContain("before the first start");
		expect(new Set(host.ids()).size).toBe(host.ids().length);
		// Slack delivers one of them after all.
		peer.redeliver(dm, host.ids()[5] as string);
		await scene.until(() => peer.sockets.envelopes.at(-1)?.state === "acknowledged");
		expect(host.taken).toHaveLength(453);
	});

	test("waits out the pauses that Slack asks for, and one chat that cannot be read does not keep the others", async () => {
		const { peer, host, channel, logged } = scene;
		const dm = peer.dm(ada);
		const team = peer.channel("team");
		await scene.start();
		await channel.stop();
		peer.say(ada, dm, "one", { silent: true });
		peer.say(ada, team, "two", { silent: true });
		peer.next({ retryAfter: 0 }, "conversations.history");
		peer.next("lost", "conversations.history");
		peer.next({ error: "internal_error" }, "conversations.history");
		peer.next({ error: "not_in_channel" }, "conversations.history");
		await scene.start();
		await taken(1);
		await scene.until(() => logged.some((line) => line.includes("could not be read")));
		expect(host.taken).toHaveLength(1);
	});

	test("is read from where it was, though an event comes with the first byte of the connection", async () => {
		const { peer, host, channel } = scene;
		const dm = peer.dm(ada);
		await scene.start();
		await channel.stop();
		peer.say(ada, dm, "missed", { silent: true });
		const { opened } = peer.sockets;
		const unwatch = peer.onChange(() => {
			if (peer.sockets.opened === opened) return;
			unwatch();
			const ts = (systemClock.now() / 1000 + 3600).toFixed(6);
			peer.tell({ type: "message", channel: dm.id, channel_type: "im", user: ada.id, ts, text: "live" });
		});
		await scene.start();
		await scene.until(() => host.taken.some(({ content }) => content === "live"));
		await scene.until(() => peer.calls.some(({ method }) => method === "conversations.history"));
		await taken(2);
		expect(host.taken.map(({ content, cursor }) => [content, cursor])).toEqual([
			["missed", undefined],
			["live", undefined],
		]);
	});

	test("is read again where the connection was lost for long while it was being read", async () => {
		const { peer, host } = scene;
		let later = 0;
		const clock: Clock = { ...systemClock, now: () => systemClock.now() + later };
		const channel = channelOn(peer, { clock });
		const isConnected = () => channel.health().state === "connected";
		const [dm, team] = [peer.dm(ada), peer.channel("team")];
		await channel.start(host);
		await scene.until(isConnected);
		await channel.stop();
		peer.say(ada, dm, "one", { silent: true });
		let goOn = () => {};
		const until = new Promise<void>((resolve) => {
			goOn = resolve;
		});
		peer.faults = ({ method, fields }) =>
			method === "conversations.history" && fields.channel === team.id ? { until } : undefined;
		await channel.start(host);
		await taken(1);
		await scene.until(isConnected);
		later = 3_600_000;
		peer.say(ada, dm, "two", { silent: true });
		const { opened } = peer.sockets;
		for (const socket of peer.sockets.open) socket.terminate();
		await scene.until(() => peer.sockets.opened > opened && isConnected());
		goOn();
		await taken(2);
		await channel.stop();
		expect(host.taken.map(({ content }) => content)).toEqual(["one", "two"]);
	});

	test("is read after the machine slept, though the monotonic clock stood still meanwhile", async () => {
		const { peer, host } = scene;
		let slept = 0;
		const clock: Clock = { ...systemClock, now: () => systemClock.now() + slept };
		const channel = channelOn(peer, { clock });
		await channel.start(host);
		await scene.until(() => channel.health().state === "connected");
		peer.say(ada, peer.dm(ada), "asleep", { silent: true });
		slept = 3_600_000;
		for (const socket of peer.sockets.open) socket.terminate();
		await taken(1);
		await channel.stop();
	});

	test("is read however long Slack cannot be asked for it", async () => {
		const { peer, host, channel } = scene;
		const dm = peer.dm(ada);
		await scene.start();
		await channel.stop();
		peer.say(ada, dm, "one", { silent: true });
		for (let n = 0; n < 12; n++) peer.next({ status: 503 }, "conversations.history");
		await scene.start();
		await taken(1);
		expect(host.taken.map(({ content }) => content)).toEqual(["one"]);
	});
});
