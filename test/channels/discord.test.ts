// What is Discord's own: sessions and their gaps, interactions, limits, and what it says of itself when something is wrong.
import { afterEach, describe, expect, test } from "vitest";
import { readCursor } from "../../src/channels/discord/cursor.ts";
import { KeryxError } from "../../src/errors.ts";
import type { Outgoing } from "../../src/gateway/index.ts";
import { TakingHost } from "../../src/testing/index.ts";
import type { ChannelRecord, DiscordPeerOptions } from "../peers/discord/index.ts";
import { type DiscordScene, discordChannelOn, discordScene } from "./discord-scene.ts";

const scenes: DiscordScene[] = [];
afterEach(async () => {
	for (const scene of scenes.splice(0)) await scene.close();
});

async function open(
	options: Parameters<typeof discordScene>[0] = {},
	peerOptions: DiscordPeerOptions = {},
): Promise<DiscordScene> {
	const scene = await discordScene(options, peerOptions);
	scenes.push(scene);
	return scene;
}

function outgoing(id: string, channel: ChannelRecord, text: string, more: Partial<Outgoing> = {}): Outgoing {
	return {
		id,
		destination: {
			platform: "discord",
			account: "",
			chatId: channel.id,
			...(channel.guild && { group: true }),
		},
		body: { text, plain: text },
		plain: false,
		openBlob: async function* () {},
		...more,
	};
}

/** Nobody can resume. */
function forgetAll({ peer }: DiscordScene): void {
	for (const session of [...peer.gateway.sessions]) peer.gateway.forget(session);
}

/** The host takes this message only when it is let go. */
function stopAt(host: TakingHost, content: string, onReached: (release: () => void) => void): void {
	const accept = host.accept.bind(host);
	host.accept = async (inbound) => {
		if (inbound.content === content) await new Promise<void>(onReached);
		return accept(inbound);
	};
}

describe("sessions", () => {
	test("asked to reconnect, or told that a session may go on, it resumes and misses nothing", async () => {
		const scene = await open();
		const { peer, host } = scene;
		const dm = peer.dm(peer.user("Ada"));
		await scene.start();
		for (const [n, disturb] of [
			() => peer.gateway.askToReconnect(),
			() => peer.gateway.invalidate(true),
			() => peer.gateway.disconnect(4000),
		].entries()) {
			disturb();
			peer.say(dm.people[0] as never, dm, `message ${n}`);
			await scene.until(() => host.taken.length === n + 1 && peer.gateway.counts.resumed === n + 1);
		}
		expect(host.taken.map(({ content }) => content)).toEqual(["message 0", "message 1", "message 2"]);
		expect(peer.gateway.counts.identify).toBe(1);
	});

	test("a session that is forgotten: the histories are read, oldest first, and nothing is stored of the new one before", async () => {
		const scene = await open();
		const { peer, host } = scene;
		const ada = peer.user("Ada");
		const plans = peer.channel(peer.guild("Garden"), "plans");
		await scene.start();
		peer.say(ada, plans, "before");
		await scene.until(() => peer.confirmed().length === 1);
		await scene.channel.stop();
		forgetAll(scene);
		const texts = Array.from({ length: 130 }, (_, n) => `message ${n}`);
		for (const text of texts) peer.say(ada, plans, text);
		const before = readCursor(await host.cursor());
		const cursors: (string | undefined)[] = [];
		const { accept } = host;
		host.accept = (inbound) => {
			cursors.push(inbound.cursor);
			return accept.call(host, inbound);
		};
		await scene.start();
		await scene.until(() => host.taken.at(-1)?.content === "message 129");
		await scene.until(() => peer.gateway.sessions.some(({ told }) => told > 0));
		// What was shortly before the gap comes again, with the id that it had.
		expect(host.taken.map(({ content }) => content)).toEqual(["before", "before", ...texts]);
		expect(new Set(cursors.map((cursor) => readCursor(cursor ?? null)?.session.id))).toEqual(
			new Set([before?.session.id]),
		);
		await scene.channel.stop();
		const after = readCursor(await host.cursor());
		expect(after?.session.id).not.toBe(before?.session.id);
	});

	test("a history that cannot be read for a moment is asked for again, in the session that has begun", async () => {
		const scene = await open();
		const { peer, host } = scene;
		const ada = peer.user("Ada");
		const plans = peer.channel(peer.guild("Garden"), "plans");
		await scene.start();
		peer.say(ada, plans, "before");
		await scene.until(() => peer.confirmed().length === 1);
		await scene.channel.stop();
		forgetAll(scene);
		peer.say(ada, plans, "meanwhile");
		for (const fault of [{ status: 502, message: "Bad Gateway" }, "lost"] as const) {
			peer.next(fault, /^GET \/channels\/\d+\/messages/);
			peer.next(fault, /^GET \/guilds\/\d+\/members/);
		}
		await scene.start();
		await scene.until(() => host.taken.at(-1)?.content === "meanwhile");
		expect(peer.gateway.counts.identify).toBe(2);
		expect(host.taken.map(({ source }) => source.user_name)).toEqual(["Ada", "Ada", "Ada"]);
	});

	test("a stop does not wait for the pause before a history is asked for again", async () => {
		const scene = await open({ firstPauseMs: 600_000, longestPauseMs: 600_000 });
		const { peer } = scene;
		const ada = peer.user("Ada");
		const plans = peer.channel(peer.guild("Garden"), "plans");
		await scene.start();
		peer.say(ada, plans, "before");
		await scene.until(() => peer.confirmed().length === 1);
		await scene.channel.stop();
		forgetAll(scene);
		peer.say(ada, plans, "meanwhile");
		peer.next({ status: 502, message: "Bad Gateway" }, /^GET \/channels\/\d+\/messages/);
		await scene.start();
		await scene.until(() =>
			peer.calls.some(({ path, status }) => path.includes("/messages") && status === 502),
		);
		await scene.channel.stop();
		expect(scene.channel.health().state).toBe("stopped");
	});

	test("a connection that is lost while a gap is read: the session goes on, and what happens in it is heard", async () => {
		const scene = await open();
		const { peer, host } = scene;
		const ada = peer.user("Ada");
		const plans = peer.channel(peer.guild("Garden"), "plans");
		const weeds = peer.channel(peer.guild("Wild"), "weeds");
		await scene.start();
		peer.say(ada, plans, "before");
		await scene.until(() => peer.confirmed().length === 1);
		await scene.channel.stop();
		forgetAll(scene);
		peer.say(ada, weeds, "elsewhere");
		for (const text of ["one", "slow", "two"]) peer.say(ada, plans, text);
		let release = () => {};
		let isReached = false;
		stopAt(host, "slow", (resolve) => {
			isReached = true;
			release = resolve;
		});
		await scene.start();
		await scene.until(() => isReached && host.taken.some(({ content }) => content === "elsewhere"));
		await scene.until(() => peer.bot.commands.length > 0);
		peer.gateway.disconnect();
		void peer.command(ada, weeds, "status");
		release();
		await scene.until(() => host.taken.length === 7);
		expect(host.taken.map(({ content }) => content).toSorted()).toEqual(
			["/status", "before", "before", "elsewhere", "one", "slow", "two"].toSorted(),
		);
		expect(peer.gateway.counts).toMatchObject({ identify: 2, resumed: 1 });
	});

	test("what of a gap was read before a kill is not read again", async () => {
		const scene = await open();
		const { peer, host } = scene;
		const ada = peer.user("Ada");
		const plans = peer.channel(peer.guild("Garden"), "plans");
		await scene.start();
		peer.say(ada, plans, "before");
		await scene.until(() => peer.confirmed().length === 1);
		await scene.channel.stop();
		forgetAll(scene);
		for (let n = 0; n < 10; n++) peer.say(ada, plans, `message ${n}`);
		let release = () => {};
		stopAt(host, "message 6", (resolve) => {
			release = resolve;
		});
		void scene.channel.start(host);
		await scene.until(() => host.taken.at(-1)?.content === "message 5");
		const second = new TakingHost();
		await second.passed((await host.cursor()) ?? "");
		forgetAll(scene);
		const after = discordChannelOn(peer);
		await after.start(second);
		await scene.until(() => second.taken.length === 4);
		await after.stop();
		release();
		expect(second.taken.map(({ content }) => content)).toEqual([6, 7, 8, 9].map((n) => `message ${n}`));
	});

	test("a private chat is kept with its first message, whatever is open before it", async () => {
		const scene = await open();
		const { peer, host } = scene;
		const ada = peer.user("Ada");
		const plans = peer.channel(peer.guild("Garden"), "plans");
		const dm = peer.dm(ada);
		await scene.start();
		peer.say(ada, plans, "first");
		await scene.until(() => host.taken.length === 1);
		const before = readCursor(await host.cursor());
		let release = () => {};
		stopAt(host, "slow", (resolve) => {
			release = resolve;
		});
		peer.say(ada, plans, "slow");
		peer.say(ada, dm, "hello");
		await scene.until(() => host.taken.length === 2);
		const after = readCursor(await host.cursor());
		expect(after?.privateChats).toEqual([dm.id]);
		expect(after?.sequence).toBe(before?.sequence);
		release();
		await scene.until(() => host.taken.length === 3);
	});

	test("a private chat stays kept when a file that was sent before it takes longer to come", async () => {
		const scene = await open();
		const { peer, host } = scene;
		const [ada, bob] = [peer.user("Ada"), peer.user("Bob")];
		const [slow, quick] = [peer.dm(ada), peer.dm(bob)];
		await scene.start();
		let release = () => {};
		const { putBlob } = host;
		host.putBlob = async (...args) => {
			await new Promise<void>((resolve) => {
				release = resolve;
			});
			return putBlob.apply(host, args);
		};
		peer.say(ada, slow, "look", { files: [{ name: "a.txt", bytes: new Uint8Array(3) }] });
		peer.say(bob, quick, "hello");
		await scene.until(() => host.taken.length === 1);
		expect(readCursor(await host.cursor())?.privateChats).toEqual([quick.id]);
		const cursors: (string | undefined)[] = [];
		const { accept } = host;
		host.accept = (inbound) => {
			cursors.push(inbound.cursor);
			return accept.call(host, inbound);
		};
		release();
		await scene.until(() => host.taken.length === 2);
		expect(readCursor(cursors[0] ?? null)?.privateChats).toEqual([quick.id, slow.id]);
	});

	test("a message of a history that cannot be taken does not hold up the rest", async () => {
		const scene = await open();
		const { peer, host, logged } = scene;
		const ada = peer.user("Ada");
		const plans = peer.channel(peer.guild("Garden"), "plans");
		await scene.start();
		peer.say(ada, plans, "before");
		await scene.until(() => peer.confirmed().length === 1);
		await scene.channel.stop();
		forgetAll(scene);
		for (const text of ["one", "poison", "two"]) peer.say(ada, plans, text);
		const { accept } = host;
		host.accept = async (inbound) => {
			if (inbound.content === "poison") throw new KeryxError("source.invalid", "a chat without a name");
			return accept.call(host, inbound);
		};
		await scene.start();
		await scene.until(() => host.taken.at(-1)?.content === "two");
		expect(peer.gateway.counts.identify).toBe(2);
		expect(logged.join()).toContain("cannot be processed");
	});

	test("on the very first start nothing of the past is taken", async () => {
		const scene = await open();
		const { peer, host } = scene;
		const ada = peer.user("Ada");
		const plans = peer.channel(peer.guild("Garden"), "plans");
		peer.say(ada, plans, "long ago");
		await scene.start();
		peer.say(ada, plans, "now");
		await scene.until(() => host.taken.length > 0);
		expect(host.taken.map(({ content }) => content)).toEqual(["now"]);
	});

	test("people in a history have the roles that they have now; who has left the server has none", async () => {
		const scene = await open();
		const { peer, host } = scene;
		const [ada, bob] = [peer.user("Ada"), peer.user("Bob")];
		const plans = peer.channel(peer.guild("Garden"), "plans");
		await scene.start();
		peer.say(ada, plans, "before");
		await scene.until(() => peer.confirmed().length === 1);
		await scene.channel.stop();
		forgetAll(scene);
		ada.roles = ["77", "78"];
		for (const text of ["one", "two"]) peer.say(ada, plans, text);
		peer.say(bob, plans, "three");
		peer.next({ status: 404, code: 10007, message: "Unknown Member" }, new RegExp(`members/${bob.id}`));
		await scene.start();
		await scene.until(() => host.taken.at(-1)?.content === "three");
		const roles = host.taken.slice(-3).map(({ transport }) => transport?.roles ?? []);
		expect(roles).toEqual([["77", "78"], ["77", "78"], []]);
		// Each person is asked about once.
		const asked = peer.calls.filter(({ path }) => path.includes("/members/"));
		expect(asked.map(({ path }) => path.split("/").at(-1))).toEqual([ada.id, bob.id]);
	});

	test("a history that may not be read is said, and the rest goes on", async () => {
		const scene = await open();
		const { peer, host } = scene;
		const ada = peer.user("Ada");
		const guild = peer.guild("Garden");
		const [plans, secret] = [peer.channel(guild, "plans"), peer.channel(guild, "secret")];
		secret.hidesHistory = true;
		await scene.start();
		peer.say(ada, plans, "before");
		await scene.until(() => host.taken.length === 1);
		await scene.channel.stop();
		forgetAll(scene);
		for (const channel of [secret, plans]) peer.say(ada, channel, "meanwhile");
		await scene.start();
		await scene.until(() => host.taken.at(-1)?.content === "meanwhile");
		await scene.until(() => scene.logged.some((line) => line.includes(`history of channel ${secret.id}`)));
	});

	test("a channel that has no history of its own, such as a forum, does not keep a new session from beginning", async () => {
		const scene = await open();
		const { peer, host } = scene;
		const ada = peer.user("Ada");
		const guild = peer.guild("Garden");
		const [plans, forum] = [peer.channel(guild, "plans"), peer.channel(guild, "forum")];
		await scene.start();
		peer.say(ada, plans, "before");
		await scene.until(() => host.taken.length === 1);
		await scene.channel.stop();
		forgetAll(scene);
		for (const channel of [forum, plans]) peer.say(ada, channel, "meanwhile");
		peer.faults = ({ method, path }) =>
			method === "GET" && path === `/channels/${forum.id}/messages`
				? { status: 400, code: 50024, message: "Cannot execute action on this channel type" }
				: undefined;
		await scene.start();
		await scene.until(() => host.taken.at(-1)?.content === "meanwhile");
		await scene.until(() => peer.gateway.sessions.some(({ told }) => told > 0));
		expect(peer.gateway.counts.identify).toBe(2);
	});
});

describe("when something is wrong", () => {
	test("an intent that is not turned on is said with its remedy, and when it is on it connects by itself", async () => {
		const scene = await open();
		const { peer, channel, host } = scene;
		peer.bot.mayReadContent = false;
		await channel.start(host);
		await scene.until(() => channel.health().state === "needs_attention");
		expect(channel.health().detail).toContain("Message Content Intent");
		expect(peer.gateway.counts.identify).toBe(0);
		peer.bot.mayReadContent = true;
		await scene.until(() => channel.health().state === "connected");
		expect(channel.health().detail).toBeUndefined();
	});

	test("a token that is revoked in the middle is said at once, and a new one is used without a restart", async () => {
		let token = "";
		const scene = await open({ token: () => Promise.resolve(token) });
		const { peer, channel, host } = scene;
		token = peer.bot.token;
		await scene.start();
		peer.revokeToken();
		await scene.until(() => channel.health().state === "needs_attention");
		expect(channel.health().detail).toContain("token");
		token = peer.bot.token;
		await scene.until(() => channel.health().state === "connected");
		const dm = peer.dm(peer.user("Ada"));
		peer.say(dm.people[0] as never, dm, "hello");
		await scene.until(() => host.taken.length === 1);
	});

	test("a line that goes silent is noticed by its heartbeats, and resumed", async () => {
		const scene = await open({ aliveMs: 200 });
		const { peer, host } = scene;
		const dm = peer.dm(peer.user("Ada"));
		await scene.start();
		await scene.until(() => scene.channel.health().provenBy === "heartbeat acknowledged");
		peer.gateway.isSilent = true;
		peer.say(dm.people[0] as never, dm, "hello");
		await scene.until(() => scene.channel.health().state !== "connected");
		peer.gateway.isSilent = false;
		await scene.until(() => host.taken.length === 1);
	});
});

describe("what comes in", () => {
	test("a message names channel, thread, server, sender and what it replies to; names stand for numbers", async () => {
		const scene = await open();
		const { peer, host } = scene;
		const [ada, bob] = [peer.user("Ada"), peer.user("Bob")];
		const guild = peer.guild("Garden");
		const plans = peer.channel(guild, "plans", "what to grow");
		const thread = peer.thread(plans, "Beans");
		await scene.start();
		peer.say(bob, plans, "hi");
		const first = peer.say(bob, thread, "green");
		peer.say(ada, thread, `${peer.mention(peer.bot)} ask ${peer.mention(bob)}`, { replyTo: first });
		await scene.until(() => host.taken.length === 3);
		expect(host.taken[0]?.source).toMatchObject({
			chat_id: plans.id,
			chat_topic: "what to grow",
			chat_type: "channel",
		});
		expect(host.taken[2]).toMatchObject({
			source: {
				chat_id: plans.id,
				thread_id: thread.id,
				chat_name: "#plans",
				chat_topic: "Beans",
				scope_id: guild.id,
				user_name: "Ada",
			},
			content: "ask @Bob",
			mentioned: true,
			quoted: { platformMessage: first, text: "green", author: "Bob", own: false },
		});
		expect(host.taken[1]?.mentioned).toBe(false);
	});

	test("own messages, what Discord adds, and bots are told apart; reactions and deletions are handed in", async () => {
		const scene = await open();
		const { peer, host, channel } = scene;
		const ada = peer.user("Ada");
		const robot = peer.addBot("Robot");
		const plans = peer.channel(peer.guild("Garden"), "plans");
		await scene.start();
		const sent = await channel.send(outgoing("d1", plans, "hello"));
		peer.say(robot, plans, "beep");
		const id = peer.say(ada, plans, "look: example.org");
		peer.embed(plans, id);
		peer.react(ada, plans, sent.kind === "sent" ? sent.receipt : "", "👍");
		peer.react(ada, plans, id, "👎");
		peer.remove(plans, id);
		peer.say(ada, plans, "last");
		await scene.until(() => host.taken.length === 3);
		expect(host.taken.map(({ transport }) => transport?.isBot ?? false)).toEqual([true, false, false]);
		expect(host.edits.map(({ platformMessage }) => platformMessage)).not.toContain(sent);
		expect(host.reactions.map(({ on, emoji }) => `${on} ${emoji}`)).toEqual(["own 👍", "other 👎"]);
	});

	test("who names the bot's own role means the bot, also after a restart; another role means others", async () => {
		const scene = await open();
		const { peer, host, channel } = scene;
		const ada = peer.user("Ada");
		const plans = peer.channel(peer.guild("Garden"), "plans");
		await scene.start();
		const robot = peer.addBot("Robot");
		peer.say(ada, plans, `${peer.mentionRole(peer.bot)} what grows?`);
		peer.say(ada, plans, `${peer.mentionRole(robot)} and you?`);
		await scene.until(() => host.taken.length === 2);
		await channel.stop();
		// The session is resumed: nobody tells of the server and its roles again.
		const again = discordChannelOn(peer);
		await again.start(host);
		peer.say(ada, plans, `well, ${peer.mentionRole(peer.bot)}?`);
		await scene.until(() => host.taken.length === 3);
		await again.stop();
		expect(host.taken.map(({ content, mentioned }) => [content, mentioned])).toEqual([
			["what grows?", true],
			[`${peer.mentionRole(robot)} and you?`, false],
			["well, @keryx?", true],
		]);
	});

	test("events of forms that nobody expects end nothing and hold up nothing", async () => {
		const scene = await open();
		const { peer, host, logged } = scene;
		const ada = peer.user("Ada");
		const dm = peer.dm(ada);
		await scene.start();
		const [session] = peer.gateway.sessions;
		if (!session) throw new Error("no session");
		for (const t of [
			"MESSAGE_CREATE",
			"THREAD_LIST_SYNC",
			"GUILD_CREATE",
			"GUILD_DELETE",
			"INTERACTION_CREATE",
		])
			for (const d of [null, {}, { channels: [null] }]) peer.gateway.dispatch(session, t, d);
		for (const text of ["null", '{"op":0,"t":5,"s":"x","d":1}']) session.socket?.send(text);
		peer.say(ada, dm, "still there?");
		await scene.until(() => host.taken.some(({ content }) => content === "still there?"));
		expect(logged.join()).toContain("cannot be read (THREAD_LIST_SYNC)");
	});

	test("a forwarded message comes with its words, its stickers and its files", async () => {
		const scene = await open();
		const { peer, host } = scene;
		const ada = peer.user("Ada");
		const dm = peer.dm(ada);
		await scene.start();
		const stickers = [{ id: "1", name: "Wave", format_type: 1 }];
		const first = peer.say(ada, dm, "look", {
			files: [{ name: "plan.txt", mediaType: "text/plain", bytes: Buffer.from("beans") }],
			more: { sticker_items: stickers },
		});
		await scene.until(() => host.taken.length === 1);
		peer.forward(ada, dm, first, dm);
		await scene.until(() => host.taken.length === 2);
		expect(host.taken[1]?.content).toMatchObject([
			{ type: "text", text: "[forwarded]\nlook\n[sticker Wave]" },
			{ type: "file", name: "plan.txt", mediaType: "text/plain" },
		]);
		expect(host.taken[1]?.blobs?.map((blob) => String(host.blobs.get(blob)))).toEqual(["beans"]);
	});

	test("an interaction is put off before anything else, also while its channel waits for the store", async () => {
		const scene = await open();
		const { peer, host } = scene;
		const ada = peer.user("Ada");
		const plans = peer.channel(peer.guild("Garden"), "plans");
		await scene.start();
		await scene.until(() => peer.bot.commands.length > 0);
		host.hold();
		peer.say(ada, plans, "slow");
		await scene.until(() => host.asked === 1);
		const shown = peer.command(ada, plans, "status", "now");
		await scene.until(() => peer.interactions[0]?.isAnswered === true);
		expect(host.asked).toBe(1);
		host.release();
		expect(await shown).toBe("`/status now`");
		expect(host.taken.map(({ content }) => content)).toEqual(["slow", "/status now"]);
	});
});

describe("what goes out", () => {
	test("a delivery that is sent again is shown once, with the text that it has now", async () => {
		const scene = await open();
		const { peer, channel } = scene;
		const plans = peer.channel(peer.guild("Garden"), "plans");
		await scene.start();
		peer.next("lose_ack", /^POST \/channels/);
		expect((await channel.send(outgoing("d1", plans, "draft"))).kind).toBe("unknown");
		const again = await channel.send(outgoing("d1", plans, "final"));
		expect(peer.answers(plans).map(({ id, text }) => [id, text])).toEqual([
			[again.kind === "sent" ? again.receipt : "", "final"],
		]);
	});

	test("nobody is notified by what is sent or changed, and a message that is gone is said to be missing", async () => {
		const scene = await open();
		const { peer, channel } = scene;
		const ada = peer.user("Ada");
		const plans = peer.channel(peer.guild("Garden"), "plans");
		await scene.start();
		const to = outgoing("d1", plans, `@everyone ${peer.mention(ada)}`);
		const sent = await channel.send(to);
		const receipt = sent.kind === "sent" ? sent.receipt : "";
		expect(await channel.edit?.(receipt, to)).toEqual({ kind: "sent", receipt });
		expect(peer.answers(plans)[0]?.pings).toEqual([]);
		for (const { body } of peer.calls.filter(({ path }) => path.includes("/messages")))
			expect(body.allowed_mentions).toEqual({ parse: [], replied_user: false });
		peer.remove(plans, receipt);
		expect(await channel.edit?.(receipt, to)).toEqual({ kind: "missing" });
		expect((await channel.send(to)).kind).toBe("sent");
		expect(peer.answers(plans)).toHaveLength(1);
	});

	test("Discord is asked to fetch nothing that a link in an answer leads to", async () => {
		const scene = await open();
		const { peer, channel } = scene;
		const plans = peer.channel(peer.guild("Garden"), "plans");
		await scene.start();
		await channel.send(outgoing("d1", plans, "see https://example.org/?q=what-the-agent-knows"));
		const posted = peer.calls.find(({ path }) => path.includes("/messages"));
		expect(Number(posted?.body.flags) & 4).toBe(4);
	});

	test("where a bucket is empty nothing leaves: the pause that Discord named is passed on, and no limit is hit", async () => {
		const scene = await open({}, { limits: { perRoute: 2, windowMs: 60_000, global: 50 } });
		const { peer, channel } = scene;
		const guild = peer.guild("Garden");
		const [one, two] = [peer.channel(guild, "one"), peer.channel(guild, "two")];
		await scene.start();
		const results = [];
		for (let n = 0; n < 3; n++) results.push(await channel.send(outgoing(`d${n}`, one, `message ${n}`)));
		expect(results.map(({ kind }) => kind)).toEqual(["sent", "sent", "retry"]);
		expect(results[2]).toMatchObject({ afterMs: expect.any(Number) });
		expect((await channel.send(outgoing("d9", two, "elsewhere"))).kind).toBe("sent");
		expect(peer.limiter.hits).toBe(0);
	});

	test("a channel that is deleted, and a person who is not to be written to, are gone", async () => {
		const scene = await open();
		const { peer, channel, host } = scene;
		const plans = peer.channel(peer.guild("Garden"), "plans");
		const dm = peer.dm(peer.user("Ada"));
		await scene.start();
		peer.removeChannel(plans);
		await scene.until(() => host.goings.length === 1);
		peer.block(dm);
		expect((await channel.send(outgoing("d1", dm, "hello"))).kind).toBe("refused");
		expect(host.goings.map(({ reason }) => reason)).toEqual([
			"the channel was deleted",
			"Cannot send messages to this user",
		]);
	});
});
