// The XMPP channel on a real Prosody: private chats, what is said about messages, and files.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { XmppOptions } from "../../src/channels/xmpp/index.ts";
import { NS } from "../../src/channels/xmpp/stream/namespaces.ts";
import { child, type Element, element } from "../../src/channels/xmpp/stream/xml.ts";
import type { Channel, ChannelHost, Inbound } from "../../src/gateway/index.ts";
import { TakingHost } from "../../src/testing/index.ts";
import { type Prosody, startProsody } from "../support/prosody.ts";
import { until } from "../support/until.ts";
import { XmppPerson } from "../support/xmpp-person.ts";
import { connected, fileMessage, outgoing, putFile, xmppChannelOn } from "./xmpp-scene.ts";

let server: Prosody;
beforeAll(async () => {
	server = await startProsody({ fileLimit: 1000 });
});
afterAll(() => server.remove());

const undo: (() => Promise<void> | void)[] = [];
afterEach(async () => {
	for (const step of undo.splice(0).reverse()) await step();
});

let scenes = 0;

async function come(name: string, options = {}): Promise<XmppPerson> {
	const person = await XmppPerson.connect(server, name, options);
	undo.push(() => person.leave());
	return person;
}

async function run(options: Partial<XmppOptions>, host = new TakingHost()): Promise<Channel> {
	const channel = xmppChannelOn(server.port, options);
	undo.push(() => channel.stop());
	await connected(channel, host);
	return channel;
}

/** A bot and a person whom nobody else in this file has. */
async function pair(options: Partial<XmppOptions> = {}) {
	const n = ++scenes;
	const bot = server.account(`bot${n}`);
	const host = new TakingHost();
	const channel = await run({ jid: bot, ...options }, host);
	const ada = await come(`ada${n}`);
	return { bot, host, channel, ada };
}

type Admission = Awaited<ReturnType<ChannelHost["accept"]>>;
const textsOf = (taken: readonly Inbound[]) => taken.map(({ content }) => content);
const has = (person: XmppPerson, wanted: (stanza: Element) => boolean) =>
	person.until(() => person.heard.some(wanted));

test("a private message comes in and is answered", async () => {
	const { bot, host, channel, ada } = await pair();
	ada.say(bot, "hello");
	await until(() => host.taken.length === 1);
	expect(host.taken[0]).toMatchObject({
		content: "hello",
		mentioned: true,
		source: { platform: "xmpp", chat_type: "dm", chat_id: ada.jid, user_id: ada.jid },
		transport: {},
	});
	expect(await channel.send(outgoing(ada.jid, "hi"))).toMatchObject({ kind: "sent" });
	await ada.sync();
	expect(ada.shown(bot).map(({ text }) => text)).toEqual(["hi"]);
	// Stars and underscores of a plain text are no styles.
	expect(child(ada.messages(bot)[0] as Element, "unstyled", NS.styling)).toBeDefined();
	expect(channel.health()).toMatchObject({ state: "connected", provenBy: "the server answered" });
	expect(channel.health().detail).toBeUndefined();
});

test("commands begin with a slash or an exclamation mark; an action is no command", async () => {
	const { bot, host, ada } = await pair();
	for (const text of ["/status", "!status", "!nonsense", "/me /status"]) ada.say(bot, text);
	await until(() => host.taken.length === 4);
	const name = ada.jid.split("@", 1)[0];
	expect(textsOf(host.taken)).toEqual(["/status", "/status", "!nonsense", `* ${name} /status`]);
});

test("a text keeps every character that XML can carry, and shows the others", async () => {
	const { bot, channel, ada } = await pair();
	const text = "]]> <a b='c'/> &amp; \r\n\t \u0001 \u{1f469} \ufffe \ud800 end";
	expect((await channel.send(outgoing(ada.jid, text))).kind).toBe("sent");
	await ada.sync();
	expect(ada.shown(bot)[0]?.text).toBe("]]> <a b='c'/> &amp; \n\t \u2401 \u{1f469} \ufffd \ufffd end");
	expect(channel.health().state).toBe("connected");
});

test("what cannot be a person is refused before anything is sent, and so is what the server refuses", async () => {
	const { channel } = await pair();
	for (const place of ["", "nobody", "a@b@c", "a b@localhost", "ada@localhost/phone"])
		expect((await channel.send(outgoing(place, "x"))).kind, place).toBe("refused");
	expect(await channel.send(outgoing("nobody@localhost", "x"))).toMatchObject({ kind: "refused" });
});

test("a correction is an edit of the message that it names, by its sender alone; a retraction deletes it", async () => {
	const { bot, host, ada } = await pair();
	const eve = await come(`eve${scenes}`);
	const id = ada.say(bot, "first");
	await until(() => host.taken.length === 1);
	eve.correct(bot, "chat", id, "not mine");
	ada.correct(bot, "chat", id, "second");
	await until(() => host.edits.some(({ content }) => content === "second"));
	const { platformMessage } = host.taken[0] as Inbound;
	expect(host.edits.find(({ content }) => content === "second")).toMatchObject({
		platformMessage,
		source: { chat_id: ada.jid, user_id: ada.jid },
	});
	expect(host.edits.filter((edit) => edit.platformMessage === platformMessage)).toHaveLength(1);
	const deletions: unknown[] = [];
	host.deleted = async (deletion) => void deletions.push(deletion);
	ada.message(bot, "chat", "retracted", element("retract", NS.retract, { id }));
	await until(() => deletions.length === 1);
	expect(deletions[0]).toMatchObject({ platformMessage });
	expect(textsOf(host.taken)).toEqual(["first"]);
});

test("a correction of a message from before a restart is found in the archive", async () => {
	const { bot, host, channel, ada } = await pair();
	const id = ada.say(bot, "first");
	await until(() => host.taken.length === 1);
	await channel.stop();
	await run({ jid: bot }, host);
	ada.correct(bot, "chat", id, "second");
	await until(() => host.edits.length === 1);
	expect(host.edits[0]?.platformMessage).toBe(host.taken[0]?.platformMessage);
});

test("replies are quoted for the agent, without the quote in their text; a reaction names the message it is on", async () => {
	const { bot, host, channel, ada } = await pair();
	const sent = await channel.send(outgoing(ada.jid, "shall I?"));
	const receipt = sent.kind === "sent" ? sent.receipt : "";
	const quote = "> shall I? \u{1f469}\n";
	ada.say(
		bot,
		`${quote}yes`,
		element("reply", NS.reply, { id: receipt, to: bot }),
		element(
			"fallback",
			NS.fallback,
			{ for: NS.reply },
			element("body", NS.fallback, { start: "0", end: String([...quote].length) }),
		),
	);
	await until(() => host.taken.length === 1);
	expect(host.taken[0]).toMatchObject({
		content: "yes",
		quoted: { platformMessage: receipt, text: "shall I? \u{1f469}", own: true },
	});
	const reaction = element(
		"reactions",
		NS.reactions,
		{ id: receipt },
		element("reaction", NS.reactions, {}, "👍"),
	);
	ada.session.write(
		element("message", NS.client, { to: bot, type: "chat", id: "r1" }, reaction, element("store", NS.hints)),
	);
	await until(() => host.reactions.length === 1);
	expect(host.reactions[0]).toMatchObject({ platformMessage: receipt, emoji: "👍", on: "own" });
});

test("an edit is a correction, and typing is shown", async () => {
	const { bot, channel, ada } = await pair();
	await channel.typing?.({ platform: "xmpp", account: "", chatId: ada.jid });
	await has(ada, (one) => child(one, "composing", NS.states) !== undefined);
	const first = outgoing(ada.jid, "draft");
	const sent = await channel.send(first);
	const receipt = sent.kind === "sent" ? sent.receipt : "";
	expect(await channel.edit?.(receipt, { ...first, body: { text: "done", plain: "done" } })).toEqual({
		kind: "sent",
		receipt,
	});
	await ada.sync();
	const [, correction] = ada.messages(bot);
	expect(correction && child(correction, "replace", NS.correct)?.attrs.id).toBe(receipt);
	expect(correction?.attrs.id).not.toBe(receipt);
});

test("what another program of the account gets is a message to Keryx; what it says is not", async () => {
	const { bot, host, channel, ada } = await pair();
	const other = await come(bot.split("@", 1)[0] as string, { resource: "phone" });
	ada.say(`${bot}/phone`, "to the phone");
	await until(() => host.taken.length === 1);
	other.say(ada.jid, "from the phone");
	other.say(bot, "to myself");
	await has(ada, (one) => one.attrs.from === `${bot}/phone`);
	ada.say(bot, "end");
	await until(() => host.taken.length === 2);
	expect(textsOf(host.taken)).toEqual(["to the phone", "end"]);
	await channel.stop();
	const late = new TakingHost();
	await run({ jid: bot }, late);
	ada.say(bot, "after");
	await until(() => late.taken.length > 0);
	expect(textsOf(late.taken)).toEqual(["after"]);
});

test("people to whom the gateway listens may see whether Keryx is there, and nobody else", async () => {
	const { bot, channel, ada } = await pair();
	await channel.stop();
	const eve = await come(`eve${scenes}`);
	class Choosing extends TakingHost {
		override async accept(inbound: Inbound): Promise<Admission> {
			const admission = await super.accept(inbound);
			return inbound.source.user_id === eve.jid ? { ...admission, refused: "not_allowed" } : admission;
		}
	}
	await run({ jid: bot }, new Choosing());
	for (const person of [ada, eve])
		person.session.write(element("presence", NS.client, { to: bot, type: "subscribe" }));
	for (const person of [eve, ada]) person.say(bot, "hello");
	await has(
		ada,
		({ name, attrs }) => name === "presence" && attrs.type === "subscribed" && attrs.from === bot,
	);
	await eve.sync();
	expect(eve.heard.filter(({ attrs }) => attrs.type === "subscribed")).toEqual([]);
});

test("an encrypted message is told to be one", async () => {
	const { bot, host, ada } = await pair();
	ada.say(
		bot,
		"I sent you an OMEMO encrypted message",
		element("encrypted", "eu.siacs.conversations.axolotl"),
	);
	await until(() => host.taken.length === 1);
	expect(host.taken[0]?.content).toBe("[an encrypted message, which Keryx cannot read: it has no keys]");
});

test("a file comes in by its address; addresses of other machines here are not fetched, and the message says so", async () => {
	const { bot, host, ada } = await pair();
	const bytes = Uint8Array.from({ length: 900 }, (_, n) => n % 256);
	const url = await putFile(ada, server, "cat.png", bytes);
	ada.session.write(fileMessage(bot, "file-without-words", "", url));
	await until(() => host.taken.length === 1);
	expect(host.taken[0]?.content).toEqual([
		{ type: "image", blob: "blob-1", mediaType: "image/png", name: "cat.png" },
	]);
	expect(host.blobs.get("blob-1")).toEqual(Buffer.from(bytes));
	const addresses = [
		"http://127.0.0.1:1/keys",
		"http://[::1]/keys",
		"http://169.254.169.254/x",
		"file:///etc/passwd",
		"aesgcm://localhost/x",
	];
	for (const [n, address] of addresses.entries()) {
		ada.session.write(fileMessage(bot, `strange-file-${n}`, "look", address));
		await until(() => host.taken.length === 2 + n);
		expect(JSON.stringify(host.taken[1 + n]?.content)).toMatch(
			/could not download the file .*(private network|not valid|encrypted)/,
		);
	}
	expect(host.blobs.size).toBe(1);
});

test("a file that the server does not store is refused before anything is sent", async () => {
	const { channel, ada, bot } = await pair();
	const attachments = [{ blob: "b", name: "big.bin", mediaType: "application/octet-stream", size: 1001 }];
	expect(
		await channel.send(outgoing(ada.jid, "x", { body: { text: "x", plain: "x", attachments } })),
	).toEqual({
		kind: "refused",
		reason: "the XMPP server stores files of at most 1000 bytes",
	});
	await ada.sync();
	expect(ada.shown(bot)).toEqual([]);
});

test("Keryx keeps below its own flood limit, and says when there is room again", async () => {
	const { channel, ada, bot } = await pair({ flood: { burst: 2, everyMs: 60_000 } });
	const results = [];
	for (const text of ["one", "two", "three"]) results.push(await channel.send(outgoing(ada.jid, text)));
	expect(results.map(({ kind }) => kind)).toEqual(["sent", "sent", "retry"]);
	expect(results[2]).toMatchObject({ afterMs: expect.any(Number) });
	expect(channel.room?.().free).toBe(0);
	await ada.sync();
	expect(ada.shown(bot)).toHaveLength(2);
});

test("a message that is too deep is read as far as it goes, and the next one comes in", async () => {
	const { bot, host, ada } = await pair();
	const deep = Array.from({ length: 110 }).reduce<Element>(
		(inner) => element("a", "x:y", {}, inner),
		element("a", "x:y"),
	);
	ada.say(bot, "one", deep);
	ada.say(bot, "two");
	await ada.until(() => host.taken.length === 2);
	expect(textsOf(host.taken)).toEqual(["one", "two"]);
});

test("of a message with very many files, only some are fetched", async () => {
	const { bot, host, ada } = await pair();
	const files = Array.from({ length: 500 }, (_, n) =>
		element("x", NS.outOfBand, {}, element("url", NS.outOfBand, {}, `http://10.0.0.1/${n}`)),
	);
	ada.say(bot, "look", ...files);
	await ada.until(() => host.taken.length === 1);
	const { content } = host.taken[0] as Inbound;
	expect(content).toHaveLength(22);
	expect(content.at(-1)).toEqual({ type: "text", text: "[480 more files of this message are left out]" });
});
