// Sessions that end at the worst moment: while the archive is read, or while a commit is under way.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { NS } from "../../src/channels/xmpp/stream/namespaces.ts";
import { child, type Element, element, textOf } from "../../src/channels/xmpp/stream/xml.ts";
import type { Inbound } from "../../src/gateway/index.ts";
import { TakingHost } from "../../src/testing/index.ts";
import { type Prosody, startProsody } from "../support/prosody.ts";
import { until } from "../support/until.ts";
import { XmppPerson } from "../support/xmpp-person.ts";
import { connected, stanzaProxy, xmppChannelOn } from "./xmpp-scene.ts";

let server: Prosody;
beforeAll(async () => {
	server = await startProsody();
});
afterAll(() => server.remove());

const undo: (() => Promise<void> | void)[] = [];
afterEach(async () => {
	for (const step of undo.splice(0).reverse()) await step();
});

const textsOfStanzas = (stanzas: readonly Element[]) => stanzas.map((one) => textOf(child(one, "body")));
const textsOf = (taken: readonly Inbound[]) => taken.map(({ content }) => content);

test("I3: what is said while missed messages are read does not move past those that are still unread", async () => {
	const proxy = await stanzaProxy(server.port);
	undo.push(() => proxy.close());
	const bot = server.account("loss1");
	const ada = await XmppPerson.connect(server, "ada1");
	undo.push(() => ada.leave());
	const host = new TakingHost();
	const channel = xmppChannelOn(proxy.port, { jid: bot });
	undo.push(() => channel.stop());
	undo.push(() => host.release());
	await connected(channel, host);
	await channel.stop();
	// More than one page of the archive.
	const said = Array.from({ length: 60 }, (_, n) => `missed ${n}`);
	for (const text of said) ada.say(bot, text);
	await ada.sync();
	host.hold();
	await channel.start(host);
	await until(() => host.asked > 0);
	const id = ada.say(bot, "live");
	await until(() => proxy.delivered.some(({ attrs }) => attrs.id === id));
	proxy.cut();
	await until(() => channel.health().connections === 0);
	host.release();
	await until(() => textsOf(host.taken).includes("live"));
	ada.say(bot, "end");
	await until(() => textsOf(host.taken).includes("end"));
	expect(textsOf(host.taken)).toEqual([...said, "live", "end"]);
});

test("I3: a commit that ends while a session is continued does not make the server's count wrong", async () => {
	const proxy = await stanzaProxy(server.port);
	undo.push(() => proxy.close());
	const bot = server.account("loss2");
	const ada = await XmppPerson.connect(server, "ada2");
	undo.push(() => ada.leave());
	const host = new TakingHost();
	const channel = xmppChannelOn(proxy.port, { jid: bot });
	undo.push(() => channel.stop());
	undo.push(() => host.release());
	await connected(channel, host);
	ada.say(bot, "first");
	await until(() => host.taken.length === 1);
	host.hold();
	ada.say(bot, "second");
	await until(() => host.asked === 2);
	const resumes = () => proxy.sent.filter(({ ns, name }) => ns === NS.management && name === "resume");
	proxy.cut();
	await until(() => resumes().length === 1);
	host.release();
	await until(() => textsOf(host.taken).filter((text) => text === "second").length === 2);
	host.hold();
	ada.say(bot, "third");
	await until(() => host.asked === 4);
	ada.say(bot, "fourth");
	await until(() => textsOfStanzas(proxy.delivered).includes("fourth"));
	const acknowledged = proxy.sent.filter(({ ns, name }) => ns === NS.management && name === "a");
	// Everything up to the second message, which came again.
	const [resume] = resumes();
	expect(Math.max(...acknowledged.map(({ attrs }) => Number(attrs.h)))).toBeLessThanOrEqual(
		Number(resume?.attrs.h) + 1,
	);
	host.release();
	await until(() => textsOf(host.taken).includes("fourth"));
});

test("I4: without an archive, a message without a sure id of its own has the same id when a continued session brings it again", async () => {
	const bare = await startProsody({ without: ["mam", "muc_mam"] });
	undo.push(() => bare.remove());
	const proxy = await stanzaProxy(bare.port);
	undo.push(() => proxy.close());
	const bot = bare.account("loss4");
	const ada = await XmppPerson.connect(bare, "ada4");
	undo.push(() => ada.leave());
	const host = new TakingHost();
	const channel = xmppChannelOn(proxy.port, { jid: bot });
	undo.push(() => channel.stop());
	undo.push(() => host.release());
	await connected(channel, host);
	host.hold();
	ada.session.write(
		element("message", NS.client, { to: bot, type: "chat", id: "1" }, element("body", NS.client, {}, "once")),
	);
	await until(() => host.asked === 1);
	proxy.cut();
	await until(() => channel.health().connections === 0);
	await until(() => channel.health().state === "connected");
	host.release();
	await until(() => host.taken.length === 2);
	expect(new Set(host.ids()).size).toBe(1);
});
