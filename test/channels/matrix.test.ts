// What Matrix has of its own: rooms, threads, edits, reactions, invitations, and a sync that is never ahead of the store.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { KeryxError } from "../../src/errors.ts";
import type { Outgoing } from "../../src/gateway/index.ts";
import type { MatrixRoom, MatrixUser } from "../peers/matrix/index.ts";
import { countedClock } from "../support/clock.ts";
import { type MatrixScene, matrixChannelOn, matrixScene } from "./matrix-scene.ts";

let scene: MatrixScene;
let ada: MatrixUser;
let bob: MatrixUser;
beforeEach(async () => {
	scene = await matrixScene();
	ada = scene.peer.user("Ada");
	bob = scene.peer.user("Bob");
});
afterEach(() => scene.close());

let deliveries = 0;
function outgoing(chatId: string, text: string, more: Partial<Outgoing["destination"]> = {}): Outgoing {
	return {
		id: `d${++deliveries}`,
		destination: { platform: "matrix", account: "", chatId, ...more },
		body: { text, plain: text.replaceAll(/<[^>]+>/g, "") },
		plain: false,
		openBlob: async function* () {},
	};
}

const taken = (count: number) => scene.until(() => scene.host.taken.length === count);
const contents = () => scene.host.taken.map(({ content }) => content);
/** The content of the bot's last event in a room. */
const lastContent = (room: MatrixRoom) =>
	room.events.findLast(({ sender }) => sender === scene.peer.bot.id)?.content;

describe("what people write", () => {
	test("a private room is a dm; a room with a name, or with a third person, is a group", async () => {
		const { peer, host } = scene;
		await scene.start();
		const dm = peer.dm(ada);
		const named = peer.group("Garden", [ada]);
		const three = peer.dm(bob);
		peer.world.member(three, bob.id, ada.id, "join");
		for (const room of [dm, named, three]) peer.say(ada, room, "hello");
		await taken(3);
		const sources = new Map(host.taken.map(({ source }) => [source.chat_id, source]));
		expect(sources.get(dm.id)).toMatchObject({ chat_type: "dm", user_id: ada.id, user_name: "Ada" });
		expect(sources.get(named.id)).toMatchObject({ chat_type: "group", chat_name: "Garden" });
		expect(sources.get(three.id)).toMatchObject({ chat_type: "group" });
		expect(host.taken.find(({ source }) => source.chat_id === dm.id)?.mentioned).toBe(true);
		expect(host.taken.find(({ source }) => source.chat_id === named.id)?.mentioned).toBe(false);
	});

	test.each<[string, string, Record<string, unknown>, boolean]>([
		["Keryx: what is new?", "what is new?", {}, true],
		["@keryx what is new?", "what is new?", {}, true],
		["@keryx:test.example what is new?", "what is new?", {}, true],
		["what is new?", "what is new?", { "m.mentions": { user_ids: ["@keryx:test.example"] } }, true],
		[
			"Keryx hello",
			"Keryx hello",
			{ formatted_body: '<a href="https://matrix.to/#/@keryx:test.example">Keryx</a> hello' },
			true,
		],
		["keryxes are birds", "keryxes are birds", {}, false],
		["!status", "/status", {}, false],
		["Keryx: !status now", "/status now", {}, true],
		["!unknown", "!unknown", {}, false],
		["waves", "* Ada waves", { msgtype: "m.emote" }, false],
		["51.5,0.1", "[location: geo:51.5,0.1]", { msgtype: "m.location", geo_uri: "geo:51.5,0.1" }, false],
		[
			"> <@bob:test.example> before\n> more\n\nafter",
			"after",
			{ "m.relates_to": { "m.in_reply_to": { event_id: "$gone" } } },
			false,
		],
	])("in a group, %j is %j", async (written, read, more, isMentioned) => {
		const { peer, host } = scene;
		await scene.start();
		const room = peer.group("Garden", [ada, bob]);
		peer.say(ada, room, written, { more });
		await taken(1);
		expect([host.taken[0]?.content, host.taken[0]?.mentioned]).toEqual([read, isMentioned]);
	});

	test("a notice is a bot's, and Keryx's own messages are not handed in", async () => {
		const { peer, host, channel } = scene;
		await scene.start();
		const room = peer.dm(ada);
		await channel.send(outgoing(room.id, "mine"));
		peer.say(ada, room, "beep", { more: { msgtype: "m.notice" } });
		await taken(1);
		expect(host.taken[0]).toMatchObject({ content: "beep", transport: { isBot: true } });
	});

	test("a reply quotes what it is about, and a thread is one", async () => {
		const { peer, host, channel } = scene;
		await scene.start();
		const room = peer.group("Garden", [ada, bob]);
		const sent = await channel.send(outgoing(room.id, "an answer"));
		const receipt = sent.kind === "sent" ? sent.receipt : "";
		const root = peer.say(bob, room, "tomatoes");
		peer.say(ada, room, "why?", { replyTo: receipt });
		peer.say(ada, room, "in the thread", { thread: root });
		await taken(3);
		expect(host.taken[1]?.quoted).toEqual({
			platformMessage: receipt,
			text: "an answer",
			author: "Keryx",
			own: true,
		});
		expect(host.taken[2]?.source.thread_id).toBe(root);
		expect(host.taken[2]?.quoted).toBeUndefined();
	});

	test("only the writer's edit counts, a deletion is one, and reactions say on whose message", async () => {
		const { peer, host, channel } = scene;
		await scene.start();
		const room = peer.group("Garden", [ada, bob]);
		const sent = await channel.send(outgoing(room.id, "mine"));
		const receipt = sent.kind === "sent" ? sent.receipt : "";
		const id = peer.say(ada, room, "one");
		peer.edit(bob, room, id, "not mine");
		peer.edit(ada, room, id, "two");
		peer.react(bob, room, receipt, "👍");
		peer.react(bob, room, id, "👎");
		await taken(1);
		peer.redact(ada, room, id);
		peer.say(ada, room, "end");
		await taken(2);
		expect(host.edits.map(({ platformMessage, content }) => [platformMessage, content])).toEqual([
			[id, "two"],
		]);
		expect(host.reactions.map(({ platformMessage, emoji, on }) => [platformMessage, emoji, on])).toEqual([
			[receipt, "👍", "own"],
			[id, "👎", "other"],
		]);
		expect(host.deletions.map(({ platformMessage }) => platformMessage)).toEqual([id]);
	});

	test("an event that can never be accepted is skipped with a word, and does not block those after it", async () => {
		const { peer, host, logged } = scene;
		await scene.start();
		const accept = host.accept.bind(host);
		host.accept = (inbound) =>
			inbound.content === "poison" ? Promise.reject(new KeryxError("source.invalid", "no")) : accept(inbound);
		peer.say(ada, peer.dm(ada), "poison");
		peer.say(ada, peer.dm(ada), "next");
		await taken(1);
		expect(contents()).toEqual(["next"]);
		expect(logged.join()).toContain("cannot be processed");
	});
});

describe("what Keryx writes", () => {
	test("HTML that we made, nobody notified, in its thread, as a reply in groups", async () => {
		const { peer, channel } = scene;
		await scene.start();
		const room = peer.group("Garden", [ada, bob]);
		const root = peer.say(ada, room, "Keryx: hello");
		await channel.send(outgoing(room.id, "<strong>bold</strong>\nand @room", { group: true, replyTo: root }));
		expect(lastContent(room)).toEqual({
			msgtype: "m.text",
			body: "bold\nand @room",
			format: "org.matrix.custom.html",
			formatted_body: "<strong>bold</strong><br>and @room",
			"m.mentions": {},
			"m.relates_to": { "m.in_reply_to": { event_id: root } },
		});
		await channel.send(outgoing(room.id, "there", { threadId: root }));
		expect(lastContent(room)?.["m.relates_to"]).toEqual({
			rel_type: "m.thread",
			event_id: root,
			is_falling_back: true,
			"m.in_reply_to": { event_id: root },
		});
	});

	test("the same delivery sent again is shown once: its transaction is made from its id", async () => {
		const { peer, channel } = scene;
		await scene.start();
		const one = outgoing(peer.dm(ada).id, "once");
		const first = await channel.send(one);
		expect(await channel.send(one)).toEqual(first);
		expect(peer.answers(peer.dm(ada))).toHaveLength(1);
	});

	test("of several files cut off in the middle the delivery counts as absent, and a repetition shows none twice", async () => {
		const { peer, channel } = scene;
		await scene.start();
		const attachments = ["one.txt", "two.txt"].map((name) => ({
			blob: name,
			name,
			mediaType: "text/plain",
			size: 5,
		}));
		const one = {
			...outgoing(peer.dm(ada).id, "files"),
			body: { text: "files", plain: "files", attachments },
			openBlob: async function* () {
				yield Buffer.from("hello");
			},
		};
		let sends = 0;
		peer.faults = ({ path, user }) =>
			user === peer.bot.id && /\/send\//.test(path) && ++sends === 2 ? "lost" : undefined;
		expect((await channel.send(one)).kind).toBe("unknown");
		expect(await channel.lookup?.(one.id, one.destination, Date.now())).toEqual({ kind: "absent" });
		expect((await channel.send(one)).kind).toBe("sent");
		expect(peer.answers(peer.dm(ada)).map(({ file }) => file?.name)).toEqual(["one.txt", "two.txt"]);
		expect((await channel.lookup?.(one.id, one.destination, Date.now()))?.kind).toBe("sent");
	});

	test("a pause that the server asks for holds back every message", async () => {
		const { peer, channel } = scene;
		await scene.start();
		expect(channel.room?.().free).toBeGreaterThan(0);
		peer.next({ status: 429, errcode: "M_LIMIT_EXCEEDED", retryAfterMs: 60_000 });
		expect(await channel.send(outgoing(peer.dm(ada).id, "fast"))).toMatchObject({
			kind: "retry",
			afterMs: 60_000,
		});
		expect(channel.room?.().free).toBe(0);
		expect(channel.room?.().afterMs).toBeGreaterThan(50_000);
	});

	test("people see that it types, and that it has read what is stored", async () => {
		const { peer, channel, host } = scene;
		await scene.start();
		const room = peer.dm(ada);
		host.hold();
		const id = peer.say(ada, room, "hello");
		await scene.until(() => host.asked === 1);
		expect(peer.calls.some(({ path }) => path.includes("/receipt/"))).toBe(false);
		host.release();
		await scene.until(() =>
			peer.calls.some(({ path }) => path.endsWith(`/receipt/m.read/${encodeURIComponent(id)}`)),
		);
		await channel.typing?.({ platform: "matrix", account: "", chatId: room.id });
		expect(
			peer.calls.some(({ path, body }) => path.includes("/typing/") && body.includes('"typing":true')),
		).toBe(true);
	});
});

describe("rooms", () => {
	test("an invitation of somebody who may speak is accepted, and what they said since is taken; another's is not", async () => {
		const { peer, host } = scene;
		host.strangers.add(bob.id);
		await scene.start();
		const [room, other] = [peer.emptyRoom(ada), peer.emptyRoom(bob)];
		peer.say(ada, room, "long before");
		peer.invite(ada, room, true);
		peer.say(ada, room, "are you there?");
		peer.invite(bob, other, true);
		await taken(1);
		expect(contents()).toEqual(["are you there?"]);
		await scene.until(() => scene.logged.some((line) => line.includes(`${bob.id} invited Keryx`)));
		expect(other.membership(peer.bot.id)).toBe("invite");
	});

	test("an invitation that came while Keryx was down is accepted at the next start", async () => {
		const { peer } = scene;
		const room = peer.emptyRoom(ada);
		peer.invite(ada, room, true);
		await scene.start();
		await scene.until(() => room.membership(peer.bot.id) === "join");
	});

	test("a removal is said, with the reason; a message there is refused", async () => {
		const { peer, host, channel } = scene;
		await scene.start();
		const room = peer.group("Garden", [ada, bob]);
		peer.say(ada, room, "hello");
		await taken(1);
		peer.kick(ada, room, "enough");
		await scene.until(() => host.goings.length === 1);
		expect(host.goings[0]).toMatchObject({
			source: { chat_id: room.id },
			reason: `Keryx was removed from the room by ${ada.id}: enough`,
		});
		expect(await channel.send(outgoing(room.id, "still here?"))).toMatchObject({ kind: "refused" });
	});
});

describe("the sync", () => {
	test("the first start replays no history; later ones bring what was missed, in order, beyond what one sync holds", async () => {
		const { peer, channel, host } = scene;
		const room = peer.dm(ada);
		peer.say(ada, room, "history");
		await scene.start();
		peer.say(ada, room, "first");
		await taken(1);
		await channel.stop();
		const missed = Array.from({ length: 170 }, (_, n) => `missed ${n}`);
		for (const text of missed) peer.say(ada, room, text);
		await scene.start();
		await taken(1 + missed.length);
		expect(contents()).toEqual(["first", ...missed]);
		expect(host.ids().length).toBe(new Set(host.ids()).size);
	});

	test("more than a thousand missed events are not all read, and that is said", async () => {
		const { peer, channel, logged } = scene;
		const room = peer.dm(ada);
		await scene.start();
		await channel.stop();
		for (let n = 0; n < 1100; n++) peer.say(ada, room, `missed ${n}`);
		await scene.start();
		await taken(1050);
		expect(contents().at(-1)).toBe("missed 1099");
		expect(logged.join()).toContain("more than 1000 events");
	});

	test("a slow file delays only its own room, and the sync does not move past it", async () => {
		const { peer, host } = scene;
		await scene.start();
		const put = host.putBlob.bind(host);
		let go = () => {};
		let isHeld = false;
		const held = new Promise<void>((resolve) => {
			go = resolve;
		});
		host.putBlob = async (...given) => {
			isHeld = true;
			await held;
			return put(...given);
		};
		peer.say(ada, peer.dm(ada), "look", { file: { name: "slow.bin", bytes: Buffer.from("x") } });
		await scene.until(() => isHeld);
		peer.say(bob, peer.dm(bob), "quick");
		await taken(1);
		expect(contents()).toEqual(["quick"]);
		expect(peer.acknowledged()).toEqual([]);
		go();
		await taken(2);
		await scene.until(() => peer.acknowledged().length === 2);
	});

	test("a token that is taken back is noticed within ten seconds without a message, and a new one is used", async () => {
		const clock = countedClock();
		await scene.close();
		scene = await matrixScene({ clock });
		const { peer, channel, host } = scene;
		ada = peer.user("Ada");
		await scene.start();
		const before = clock.waitedMs();
		peer.revokeToken();
		await scene.until(() => channel.health().state === "needs_attention");
		expect(clock.waitedMs() - before).toBeLessThan(10_000);
		expect(channel.health().detail).toContain("does not accept the access token");
		peer.newToken();
		peer.say(ada, peer.dm(ada), "back");
		await taken(1);
		expect(channel.health().state).toBe("connected");
		expect(host.taken[0]?.content).toBe("back");
	});

	test("another account's place in the sync is not used, and a token of another user is refused where one is named", async () => {
		const { peer, host, channel } = scene;
		await scene.start();
		await channel.stop();
		await host.passed("@somebody:test.example s999999");
		await scene.start();
		peer.say(ada, peer.dm(ada), "hello");
		await taken(1);
		const other = matrixChannelOn(peer, { user: "@else:test.example" });
		await other.start(host);
		await scene.until(() => other.health().state === "needs_attention");
		expect(other.health().detail).toContain(`belongs to ${peer.bot.id}, not to @else:test.example`);
		await other.stop();
	});
});
