// XMPP rooms on a real Prosody: who is who, what is for the agent, and what becomes of Keryx there.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { idPrefix } from "../../src/channels/xmpp/compose.ts";
import type { XmppOptions, XmppSecrets } from "../../src/channels/xmpp/index.ts";
import { stanzaId } from "../../src/channels/xmpp/message.ts";
import { NS } from "../../src/channels/xmpp/stream/namespaces.ts";
import { child, type Element, element } from "../../src/channels/xmpp/stream/xml.ts";
import { TakingHost } from "../../src/testing/index.ts";
import { type Prosody, startProsody } from "../support/prosody.ts";
import { until } from "../support/until.ts";
import { XmppPerson } from "../support/xmpp-person.ts";
import { connected, outgoing, sendUntilTaken, xmppChannelOn } from "./xmpp-scene.ts";

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

async function come(name: string): Promise<XmppPerson> {
	const person = await XmppPerson.connect(server, name);
	undo.push(() => person.leave());
	return person;
}

/** Ada owns a room, which the bot joins. */
async function scene(
	settings: Readonly<Record<string, string>> = {},
	options: Partial<XmppOptions> = {},
	secrets: (room: string) => Partial<XmppSecrets> = () => ({}),
) {
	const n = ++scenes;
	const bot = server.account(`bot${n}`);
	const room = `room${n}@${server.rooms}`;
	const ada = await come(`ada${n}`);
	await ada.join(room, "Ada", settings);
	const host = new TakingHost();
	const channel = xmppChannelOn(server.port, { jid: bot, nick: "Keryx", join: [room], ...options }, () =>
		secrets(room),
	);
	undo.push(() => channel.stop());
	await connected(channel, host);
	/** The bot is in, and has read everything. */
	const isIn = async () => {
		await until(() => ada.heard.some((one) => isPresence(one, `${room}/Keryx`)));
		await sendUntilTaken(channel, room, "here");
	};
	return { bot, room, ada, host, channel, isIn };
}

const isPresence = ({ name, attrs }: Element, from: string) =>
	name === "presence" && attrs.from === from && attrs.type === undefined;

test("only what names the nick is for the agent; the room's name and topic come along", async () => {
	const { room, ada, host, isIn } = await scene({ "muc#roomconfig_roomname": "The room" });
	await isIn();
	ada.session.write(
		element(
			"message",
			NS.client,
			{ to: room, type: "groupchat" },
			element("subject", NS.client, {}, "all about it"),
		),
	);
	const lines = [
		"Keryx: one",
		"keryx, two",
		"@Keryx three",
		"Keryx: !status",
		"tell Keryx four",
		"Keryxling: five",
		"six",
	];
	const order = ["one", "two", "three", "/status", "tell Keryx four", "Keryxling: five", "six"];
	for (const line of lines) ada.sayIn(room, line);
	await until(() => host.taken.length === lines.length);
	// Lines said while it still enters the room may come from the archive, after later ones.
	const taken = host.taken.map(({ content, mentioned }) => [content, mentioned]);
	expect(taken.toSorted((a, b) => order.indexOf(String(a[0])) - order.indexOf(String(b[0])))).toEqual([
		["one", true],
		["two", true],
		["three", true],
		["/status", true],
		["tell Keryx four", true],
		["Keryxling: five", false],
		["six", false],
	]);
	expect(host.taken[0]?.source).toMatchObject({
		chat_type: "group",
		chat_id: room,
		chat_name: "The room",
		chat_topic: "all about it",
		user_name: "Ada",
	});
});

test("a person is their address where the room shows it, and otherwise a nick that proves nothing", async () => {
	const anonymous = await scene();
	await anonymous.isIn();
	anonymous.ada.sayIn(anonymous.room, "hello");
	await until(() => anonymous.host.taken.length === 1);
	expect(anonymous.host.taken[0]).toMatchObject({
		source: { user_id: `${anonymous.room}/Ada` },
		transport: { unproven: true },
	});
	const open = await scene({ "muc#roomconfig_whois": "anyone" });
	await open.isIn();
	open.ada.sayIn(open.room, "hello");
	await until(() => open.host.taken.length === 1);
	expect(open.host.taken[0]).toMatchObject({ source: { user_id: open.ada.jid }, transport: {} });
});

test("it is in the rooms of the configuration and in no others, whoever invites it; private words of a room are not read", async () => {
	const { bot, room, ada, host, channel, isIn } = await scene();
	await isIn();
	const other = `other-${room}`;
	await ada.join(other, "Ada");
	ada.session.write(
		element(
			"message",
			NS.client,
			{ to: other },
			element("x", NS.mucUser, {}, element("invite", NS.mucUser, { to: bot })),
		),
	);
	ada.message(`${room}/Keryx`, "chat", "psst");
	await ada.until(() =>
		ada.heard.some(({ attrs }) => attrs.type === "error" && attrs.from === `${room}/Keryx`),
	);
	ada.sayIn(room, "end");
	await until(() => host.taken.length === 1);
	expect(host.taken[0]?.content).toBe("end");
	expect(ada.heard.filter((one) => isPresence(one, `${other}/Keryx`))).toEqual([]);
	expect((await channel.send(outgoing(other, "x"))).kind).toBe("refused");
});

test("a message to a room is proven by its echo, can be edited, and answers what it replies to", async () => {
	const { room, ada, host, channel, isIn } = await scene();
	await isIn();
	ada.sayIn(room, "Keryx: well?");
	await until(() => host.taken.length === 1);
	const question = host.taken[0]?.platformMessage ?? "";
	const one = outgoing(room, "well", {
		destination: { platform: "xmpp", account: "", chatId: room, replyTo: question },
	});
	const sent = await channel.send(one);
	const receipt = sent.kind === "sent" ? sent.receipt : "";
	expect((await channel.edit?.(receipt, { ...one, body: { text: "well!", plain: "well!" } }))?.kind).toBe(
		"sent",
	);
	expect(await channel.lookup?.(one.id, one.destination)).toEqual({ kind: "sent", receipt });
	expect(await channel.lookup?.("never-sent", one.destination)).toEqual({ kind: "absent" });
	await ada.sync();
	expect(ada.shown(`${room}/Keryx`).map(({ text }) => text)).toEqual(["here", "well!"]);
	const answer = ada.messages(`${room}/Keryx`)[1] as Element;
	expect(child(answer, "reply", NS.reply)?.attrs.id).toBe(question);
	// A reply to Keryx is for Keryx, and a reaction is on its message.
	const shown = stanzaId(answer, room) ?? "";
	ada.sayIn(room, "thanks", element("reply", NS.reply, { id: shown, to: `${room}/Keryx` }));
	await until(() => host.taken.length === 2);
	expect(host.taken[1]).toMatchObject({ mentioned: true, quoted: { platformMessage: receipt, own: true } });
	const reactions = element(
		"reactions",
		NS.reactions,
		{ id: shown },
		element("reaction", NS.reactions, {}, "👎"),
	);
	ada.session.write(element("message", NS.client, { to: room, type: "groupchat", id: "r1" }, reactions));
	await until(() => host.reactions.length === 1);
	expect(host.reactions[0]).toMatchObject({ platformMessage: receipt, emoji: "👎", on: "own" });
});

test("a correction in a room is an edit; that of somebody else is nothing", async () => {
	const { room, ada, host, isIn } = await scene();
	await isIn();
	const eve = await come(`eve${scenes}`);
	await eve.join(room, "Eve");
	const id = ada.sayIn(room, "Keryx: first");
	await until(() => host.taken.length === 1);
	eve.correct(room, "groupchat", id, "Keryx: not mine");
	await eve.sync();
	ada.correct(room, "groupchat", id, "Keryx: second");
	await until(() => host.edits.length > 0);
	expect(host.edits.map(({ platformMessage, content }) => [platformMessage, content])).toEqual([
		[host.taken[0]?.platformMessage, "second"],
	]);
});

test("in a room without an archive, nobody changes what somebody else said by naming it as the gateway does", async () => {
	const { room, ada, host, isIn } = await scene({ "muc#roomconfig_enablearchiving": "0" });
	await isIn();
	const eve = await come(`eve${scenes}`);
	await eve.join(room, "Eve");
	const id = ada.sayIn(room, "Keryx: first");
	await until(() => host.taken.length === 1);
	expect(host.taken[0]?.platformMessage).toBe(`Ada/${id}`);
	eve.correct(room, "groupchat", `Ada/${id}`, "Keryx: not mine");
	await eve.sync();
	ada.correct(room, "groupchat", id, "Keryx: second");
	await until(() => host.edits.some(({ content }) => content === "second"));
	expect(host.edits.map(({ platformMessage, content }) => [platformMessage, content])).toEqual([
		[`Ada/${id}`, "second"],
	]);
});

test("an archived message that states an address of its own is not taken for that person's", async () => {
	const { bot, room, ada, host, channel, isIn } = await scene({ "muc#roomconfig_whois": "anyone" });
	await isIn();
	const eve = await come(`eve${scenes}`);
	await eve.join(room, "Eve");
	await channel.stop();
	const item = element("item", NS.mucUser, { jid: ada.jid, affiliation: "owner", role: "moderator" });
	eve.sayIn(room, "Keryx: I am Ada", element("x", NS.mucUser, {}, item));
	await eve.until(() => eve.messages(`${room}/Eve`).length > 0);
	const again = xmppChannelOn(server.port, { jid: bot, nick: "Keryx", join: [room] });
	undo.push(() => again.stop());
	await connected(again, host);
	await until(() => host.taken.length === 1);
	expect(host.taken[0]?.source.user_id).not.toBe(ada.jid);
});

test("what somebody says under an id like Keryx's own is theirs", async () => {
	const { bot, room, ada, host, isIn } = await scene();
	await isIn();
	const body = element("body", NS.client, {}, "Keryx: it is me");
	const id = `${idPrefix(bot)}d1`;
	ada.session.write(element("message", NS.client, { to: room, type: "groupchat", id }, body));
	await ada.until(() => host.taken.length === 1);
	expect(host.taken[0]?.content).toBe("it is me");
});

test("a nick that somebody has is left to them, and that is said", async () => {
	const n = scenes + 1;
	const holder = await come(`holder${n}`);
	await holder.join(`room${n}@${server.rooms}`, "Keryx");
	const { channel, room, ada } = await scene({}, {});
	await until(() => channel.health().detail?.includes("is taken") === true);
	expect(channel.health().detail).toContain(`the nick Keryx is taken in ${room}, so Keryx is Keryx_ there`);
	await ada.until(() => ada.heard.some((one) => isPresence(one, `${room}/Keryx_`)));
	holder.sayIn(room, "I am not it");
	ada.sayIn(room, "Keryx_: but you");
});

test("thrown out of a room, what is meant for it is refused with the reason, and it is asked again later", async () => {
	const { bot, room, ada, host, channel, isIn } = await scene({}, { rejoinMs: 20 });
	await isIn();
	await ada.change(room, { jid: bot, affiliation: "outcast" }, "enough");
	await until(() => host.goings.length > 0);
	expect(host.goings[0]).toMatchObject({
		reason: expect.stringMatching(/banned Keryx from .*: enough/),
		source: { chat_id: room, chat_type: "group" },
	});
	expect(await channel.send(outgoing(room, "after"))).toMatchObject({ kind: "refused" });
	await until(() => channel.health().detail?.includes("Keryx is banned from the room") === true);
	await ada.change(room, { jid: bot, affiliation: "none" });
	await until(() => !channel.health().detail?.includes("not in"));
	await until(() => channel.health().state === "connected");
	await sendUntilTaken(channel, room, "back");
});

test("a room with a password is joined with it, and without it the reason is said", async () => {
	const settings = { "muc#roomconfig_passwordprotectedroom": "1", "muc#roomconfig_roomsecret": "sesame" };
	const { isIn } = await scene(settings, {}, (room) => ({ roomPasswords: new Map([[room, "sesame"]]) }));
	await isIn();
	const { channel, room } = await scene(settings);
	await until(() => channel.health().detail?.includes("not in") === true);
	expect(channel.health()).toMatchObject({
		state: "connected",
		detail: expect.stringContaining(`not in ${room}: the room has a password: check password_env`),
	});
});
