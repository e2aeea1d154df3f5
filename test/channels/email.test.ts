// The e-mail channel on a real Dovecot: whose mails are heard, which conversation they belong to, and who gets the answer.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { EmailOptions } from "../../src/channels/email/index.ts";
import type { Channel, Inbound } from "../../src/gateway/index.ts";
import { TakingHost } from "../../src/testing/index.ts";
import { type Dovecot, startDovecot } from "../support/dovecot.ts";
import { openPostOffice, type PostOffice, type Written } from "../support/post-office.ts";
import { until } from "../support/until.ts";
import { connected, emailChannelOn, folder, outgoing } from "./email-scene.ts";

let dovecot: Dovecot;
let office: PostOffice;
beforeAll(async () => {
	dovecot = await startDovecot();
	office = await openPostOffice(dovecot);
});
afterAll(async () => {
	await office.close();
	await dovecot.remove();
});

const undo: (() => Promise<void> | void)[] = [];
afterEach(async () => {
	for (const step of undo.splice(0).reverse()) await step();
});

let scenes = 0;

/** Addresses that nobody else in this file has. */
function names() {
	const n = ++scenes;
	const user = `keryx${n}`;
	return {
		user,
		bot: `${user}@keryx.test`,
		ada: `ada${n}@home.test`,
		bob: `bob${n}@work.test`,
		eve: `eve${n}@evil.test`,
		id: (name: string) => `${name}.${n}@mail.test`,
	};
}

async function run(
	user: string,
	options: Partial<EmailOptions> = {},
	host = new TakingHost(),
): Promise<{ readonly channel: Channel; readonly host: TakingHost }> {
	const channel = emailChannelOn(office, user, options);
	undo.push(() => channel.stop());
	await connected(channel, host);
	return { channel, host };
}

/** Where an answer to a taken message goes, as the gateway says it. */
function answerTo({ source }: Inbound, text: string, more: object = {}) {
	const { chat_id, thread_id, message_id, user_id, chat_type } = source as Record<string, string>;
	return {
		...outgoing(
			{
				chatId: chat_id as string,
				threadId: thread_id as string,
				replyTo: message_id as string,
				userId: user_id as string,
				...(chat_type !== "dm" && { group: true as const }),
			},
			text,
		),
		...more,
	};
}

const last = (host: TakingHost) => host.taken.at(-1) as Inbound;
const refusalsOf = (host: TakingHost) => host.taken.map(({ transport }) => transport?.refused ?? null);

test("a mail comes in, and its answer is one mail in the same thread, with a copy in Sent", async () => {
	const { user, bot, ada, id } = names();
	const { channel, host } = await run(user, { displayName: "The agent" });
	await office.write({
		from: ada,
		fromName: "Ada",
		to: bot,
		subject: "A plan",
		text: "What now?",
		id: id("one"),
	});
	await until(() => host.taken.length === 1);
	expect(last(host)).toMatchObject({
		content: "Subject: A plan\n\nWhat now?",
		platformMessage: id("one"),
		mentioned: true,
		source: {
			platform: "email",
			chat_type: "dm",
			chat_id: ada,
			thread_id: id("one"),
			message_id: id("one"),
			user_id: ada,
			user_name: "Ada",
		},
		transport: {},
	});
	const answer = answerTo(last(host), "Do **this**.");
	const sent = await channel.send({ ...answer, body: { text: "Do **this**.", plain: "Do this." } });
	const [mail] = office.to(ada);
	expect(sent).toEqual({ kind: "sent", receipt: mail?.mail.messageId?.slice(1, -1) });
	expect(mail?.mail).toMatchObject({
		subject: "Re: A plan",
		inReplyTo: `<${id("one")}>`,
		text: expect.stringMatching(/^Do this\.\s*$/),
		html: expect.stringContaining("<strong>this</strong>"),
		from: { text: `"The agent" <${bot}>` },
	});
	expect(mail?.mail.headers.get("auto-submitted")).toBe("auto-replied");
	expect(mail?.mail.headers.get("x-keryx-hops")).toBe("1");
	expect(await folder(dovecot, user, "Sent")).toEqual([
		{ id: mail?.mail.messageId?.slice(1, -1), flags: ["\\Seen"] },
	]);
	// What a person has not seen stays unseen.
	expect((await folder(dovecot, user, "INBOX")).map(({ flags }) => flags)).toEqual([[]]);
});

test("the root of its references is the thread: not the subject, not the sender alone", async () => {
	const { user, bot, ada, bob, id } = names();
	const { channel, host } = await run(user);
	await office.write({ from: ada, to: bot, subject: "Plan", text: "one", id: id("a1") });
	await until(() => host.taken.length === 1);
	const sent = await channel.send(answerTo(last(host), "answer"));
	const receipt = sent.kind === "sent" ? sent.receipt : "";
	await office.write({
		from: ada,
		to: bot,
		subject: "Re: Plan",
		text: "two",
		id: id("a2"),
		references: [id("a1"), receipt],
	});
	await office.write({ from: ada, to: bot, subject: "Plan", text: "three", id: id("b1") });
	await office.write({
		from: bob,
		to: bot,
		subject: "Re: Plan",
		text: "four",
		id: id("c1"),
		references: [id("a1")],
	});
	await until(() => host.taken.length === 4);
	expect(host.taken.map(({ source, content }) => [source.chat_id, source.thread_id, content])).toEqual([
		[ada, id("a1"), "Subject: Plan\n\none"],
		[ada, id("a1"), "two"],
		[ada, id("b1"), "Subject: Plan\n\nthree"],
		[bob, id("a1"), "four"],
	]);
	await channel.send(answerTo(host.taken[1] as Inbound, "second answer"));
	const { mail } = office.to(ada)[1] ?? {};
	expect(mail?.references).toEqual([`<${id("a1")}>`, `<${receipt}>`, `<${id("a2")}>`]);
	expect(mail?.subject).toBe("Re: Plan");
});

test("everybody who got the mail gets the answer; whoever is only named in Cc reads along", async () => {
	const { user, bot, ada, bob, eve, id } = names();
	const { channel, host } = await run(user, { aliases: ["Help@Keryx.test"] });
	await office.write({
		from: ada,
		to: [bot, "help@keryx.test"],
		cc: [bob],
		subject: "Trip",
		text: "book it",
		id: id("t1"),
	});
	await until(() => host.taken.length === 1);
	expect(last(host)).toMatchObject({
		mentioned: true,
		source: { chat_type: "group", chat_id: bot, chat_name: "Trip", thread_id: id("t1"), user_id: ada },
	});
	const sent = await channel.send(answerTo(last(host), "booked"));
	for (const who of [ada, bob])
		expect(office.to(who).map(({ mail }) => mail.text?.trim())).toEqual(["booked"]);
	expect(office.to(ada)[0]?.mail.to).toMatchObject({ text: ada });
	expect(office.to(ada)[0]?.mail.cc).toMatchObject({ text: bob });
	expect(office.to("help@keryx.test")).toEqual([]);
	const receipt = sent.kind === "sent" ? sent.receipt : "";
	await office.write({
		from: bob,
		to: ada,
		cc: [bot],
		subject: "Re: Trip",
		text: "nice",
		id: id("t2"),
		references: [id("t1")],
	});
	await office.write({
		from: bob,
		to: ada,
		cc: [bot],
		subject: "Re: Trip",
		text: "thanks",
		id: id("t3"),
		references: [id("t1"), receipt],
	});
	// Eve got none of these mails: naming the thread does not let her in.
	await office.write({
		from: eve,
		to: [bot, ada],
		subject: "Re: Trip",
		text: "what was said?",
		id: id("t4"),
		references: [id("t1")],
	});
	await until(() => host.taken.length === 4);
	expect(
		host.taken.slice(1).map(({ source, mentioned }) => [source.thread_id, source.user_id, mentioned]),
	).toEqual([
		[id("t1"), bob, false],
		[id("t1"), bob, true],
		[id("t4"), eve, true],
	]);
});

test("nobody gets into a shared thread, or gets its answers, by writing its ids into a mail", async () => {
	const { user, bot, ada, bob, eve, id } = names();
	const { channel, host } = await run(user);
	// The thread is older than Keryx's part in it: its first mail is not in the mailbox.
	const trip = { from: ada, to: bot, cc: [bob], subject: "Re: Trip", text: "book it" };
	await office.write({ ...trip, id: id("s1"), references: [id("root")] });
	await until(() => host.taken.length === 1);
	const asked = last(host);
	expect(asked.source.thread_id).toBe(id("root"));
	const forged = { from: eve, to: bot, cc: ["friend@evil.test"], subject: "Re: Trip", text: "and?" };
	await office.write({ ...forged, id: id("e1") });
	await office.write({ ...forged, id: id("e2"), references: [id("root")] });
	await office.write({ ...forged, id: id("e3"), references: [id("root"), id("e2")] });
	await office.write({ ...forged, id: id("e4"), references: [id("root"), id("e1")] });
	await office.write({ ...forged, id: id("root") });
	await office.write({ ...forged, id: id("s1"), references: [id("root")] });
	// Not even proven.
	await office.write({ ...forged, id: id("s1"), references: [id("root")], checked: "dmarc=fail" });
	await until(() => host.taken.length === 8);
	for (const { source } of host.taken.slice(1, 7)) expect(source.thread_id).not.toBe(id("root"));
	const { destination, ...answer } = answerTo(asked, "booked");
	const { replyTo: _, ...thread } = destination;
	for (const to of [destination, thread])
		expect(
			await channel.send({ ...answer, id: `${answer.id}${to === thread}`, destination: to }),
		).toMatchObject({
			kind: "sent",
		});
	await channel.stop();
	const again = await run(user, {}, host);
	expect(await again.channel.send({ ...answer, id: `${answer.id}again`, destination })).toMatchObject({
		kind: "sent",
	});
	expect(office.to(bob)).toHaveLength(3);
	expect([...office.to(eve), ...office.to("friend@evil.test")]).toEqual([]);
	// Bob, who got the mail, goes on with it.
	await office.write({
		...trip,
		from: bob,
		to: bot,
		cc: [ada],
		id: id("s2"),
		references: [id("root"), id("s1")],
	});
	await until(() => host.taken.length === 9);
	expect(last(host).source.thread_id).toBe(id("root"));
});

test("after a restart, the answer still goes to everybody, and in a private thread only to the person", async () => {
	const { user, bot, ada, bob, id } = names();
	const first = await run(user);
	await office.write({ from: ada, to: bot, cc: [bob], subject: "Trip", text: "one", id: id("g") });
	await office.write({ from: ada, to: bot, subject: "Alone", text: "two", id: id("d") });
	await until(() => first.host.taken.length === 2);
	await first.channel.stop();
	const { channel } = await run(user, {}, first.host);
	const [group, alone] = first.host.taken as [Inbound, Inbound];
	for (const [one, text] of [
		[group, "to all"],
		[alone, "to you"],
	] as const)
		expect(await channel.send(answerTo(one, text))).toMatchObject({ kind: "sent" });
	expect(office.to(ada).map(({ mail }) => [mail.subject, mail.text?.trim()])).toEqual([
		["Re: Trip", "to all"],
		["Re: Alone", "to you"],
	]);
	expect(office.to(bob).map(({ mail }) => mail.text?.trim())).toEqual(["to all"]);
	// Nothing says any more who was in the thread: nobody is guessed.
	const gone = answerTo(group, "x");
	const { destination } = gone;
	expect(
		await channel.send({ ...gone, destination: { ...destination, replyTo: id("no"), threadId: id("none") } }),
	).toEqual({
		kind: "refused",
		reason: expect.stringContaining("no longer in the mailbox"),
	});
	// Without the mail it answers, the first of the thread says who is in it.
	const { replyTo: _, ...thread } = destination;
	expect(await channel.send({ ...gone, destination: thread })).toMatchObject({ kind: "sent" });
	expect(office.to(bob)).toHaveLength(2);
});

test("quotes and the signature are cut for the agent, and the whole mail is a file beside it", async () => {
	const { user, bot, ada, id } = names();
	const { host } = await run(user);
	const text = "Yes.\n\n-- \nAda\n\nOn Monday Keryx wrote:\n> shall I?\n> really?";
	await office.write({ from: ada, to: bot, subject: "Re: x", text, id: id("q"), references: [id("p")] });
	await until(() => host.taken.length === 1);
	const { content, blobs } = last(host);
	expect(content).toEqual([
		{ type: "text", text: "Yes." },
		{ type: "file", blob: blobs?.[0], mediaType: "message/rfc822", name: "whole mail.eml" },
	]);
	const whole = host.blobs.get(blobs?.[0] ?? "")?.toString() ?? "";
	expect(whole).toContain("> shall I?");
	expect(whole).toContain("-- \nAda");
});

test("a reply to a mail that Keryx wrote on its own brings what that mail said", async () => {
	const { user, bot, ada, id } = names();
	const { channel, host } = await run(user);
	const sent = await channel.send(outgoing({ chatId: ada.toUpperCase() }, "# The report\n\nAll is well."));
	const receipt = sent.kind === "sent" ? sent.receipt : "";
	expect(office.to(ada)[0]?.mail).toMatchObject({ subject: "The report" });
	expect(office.to(ada)[0]?.mail.headers.get("auto-submitted")).toBe("auto-generated");
	await office.write({
		from: ada,
		to: bot,
		subject: "Re: The report",
		text: "Really?\n\nKeryx wrote:\n> All is well.",
		id: id("r"),
		references: [receipt],
	});
	await until(() => host.taken.length === 1);
	expect(last(host)).toMatchObject({
		quoted: { platformMessage: receipt, text: "All is well.", own: true },
		source: { chat_id: ada, thread_id: receipt },
	});
});

test("a From counts only if the receiving server itself says that it is proven", async () => {
	const { user, bot, ada } = names();
	const { host } = await run(user);
	const pass = "dmarc=pass header.from=home.test";
	for (const mail of [
		{ checked: pass },
		{ checked: "dmarc=fail header.from=home.test" },
		{ checked: null },
		// Eve brings a header of her own, and the server writes its own above it.
		{
			checked: "dmarc=fail header.from=home.test",
			headers: { "Authentication-Results": `mx.keryx.test; ${pass}` },
		},
		{ checked: null, headers: { "Authentication-Results": `mx.evil.test; ${pass}` } },
		{ checked: "dkim=pass header.d=home.test; spf=fail" },
		{ checked: "dkim=pass header.d=evil.test; spf=pass smtp.mailfrom=eve@evil.test" },
	])
		await office.write({ from: ada, to: bot, text: "hello", ...mail });
	await until(() => host.taken.length === 7);
	expect(refusalsOf(host).map((reason) => reason === null)).toEqual([
		true,
		false,
		false,
		false,
		false,
		true,
		false,
	]);
	expect(host.taken[1]).toMatchObject({
		content: "",
		transport: { refused: expect.stringContaining("dmarc=fail") },
	});
});

test("with trust everybody is heard, and whoever is not proven decides nothing, unless the operator says so", async () => {
	const { user, bot, ada } = names();
	const { host } = await run(user, { trust: true });
	await office.write({ from: ada, to: bot, text: "one", checked: null });
	await office.write({ from: ada, to: bot, text: "two" });
	await until(() => host.taken.length === 2);
	expect(host.taken.map(({ transport }) => transport)).toEqual([{ unproven: true }, {}]);
	const other = names();
	const decider = await run(other.user, { trust: true, decides: true });
	await office.write({ from: ada, to: other.bot, text: "one", checked: null });
	await until(() => decider.host.taken.length === 1);
	expect(last(decider.host).transport).toEqual({});
});

test("automatic mails, lists, reports and mails from nobody are not answered; a sender can be excepted, and decides nothing", async () => {
	const { user, bot, ada, id } = names();
	const { host } = await run(user, { answerAutomatic: ["robot@home.test", "@hub.test"] });
	const automatic: readonly Partial<Written>[] = [
		{ headers: { "Auto-Submitted": "auto-replied" } },
		{ headers: { Precedence: "bulk" } },
		{ headers: { "List-Id": "<news.home.test>" } },
		{ headers: { "X-Autoreply": "yes" } },
		{ returnPath: "" },
		{ from: "MAILER-DAEMON@home.test" },
		{ from: "no-reply@home.test" },
	];
	for (const mail of automatic) await office.write({ from: ada, to: bot, text: "away", ...mail });
	await office.write({ from: "robot@home.test", to: bot, text: "ticket", headers: { Precedence: "bulk" } });
	await office.write({
		from: "x@hub.test",
		to: bot,
		text: "issue",
		headers: { "List-Id": "<a.hub.test>" },
		id: id("i"),
	});
	await office.write({ from: ada, to: bot, text: "person", headers: { "Auto-Submitted": "no" } });
	await office.write({ from: bot, to: bot, text: "myself", checked: "dmarc=pass" });
	await until(() => host.taken.length === automatic.length + 4);
	expect(refusalsOf(host)).toEqual([
		...automatic.map(() => expect.stringContaining("not answered")),
		null,
		null,
		null,
		null,
	]);
	expect(host.taken.slice(-4).map(({ transport }) => transport)).toEqual([
		{ unproven: true },
		{ unproven: true },
		{},
		{ own: true },
	]);
});

test("a mail of another Keryx is a bot's, its answer counts one hop more, and at the limit it is refused", async () => {
	const { user, bot, ada } = names();
	const { channel, host } = await run(user, { hopLimit: 3 });
	for (const hops of ["1", "2", "3", "x"])
		await office.write({
			from: ada,
			to: bot,
			text: hops,
			headers: { "X-Keryx-Hops": hops, "Auto-Submitted": "auto-replied" },
		});
	await until(() => host.taken.length === 4);
	expect(host.taken.map(({ transport }) => transport)).toEqual([
		{ isBot: true },
		{ isBot: true },
		{ refused: expect.stringContaining("hop limit 3") },
		{ refused: expect.stringContaining("not answered") },
	]);
	await channel.send(answerTo(host.taken[1] as Inbound, "hi"));
	expect(office.to(ada)[0]?.mail.headers.get("x-keryx-hops")).toBe("3");
});

test("of a command only its own lines count, whatever a mail program adds", async () => {
	const { user, bot, ada, id } = names();
	const { host } = await run(user);
	await office.write({
		from: ada,
		to: bot,
		subject: "Hi",
		text: "/status\n\nSent from my phone",
		id: id("c1"),
	});
	await office.write({ from: ada, to: bot, subject: "/status", text: "", id: id("c2") });
	await office.write({
		from: ada,
		to: bot,
		subject: "Re: x",
		text: "/usr/bin is full\n\nhelp",
		id: id("c3"),
		references: [id("c1")],
	});
	await until(() => host.taken.length === 3);
	expect(host.taken.map(({ content }) => content)).toEqual([
		"/status",
		"/status",
		"/usr/bin is full\n\nhelp",
	]);
});

test("what is in the mailbox before the first start is not answered, and what comes while Keryx is away is", async () => {
	const { user, bot, ada } = names();
	await office.write({ from: ada, to: bot, text: "old" });
	const { channel, host } = await run(user);
	await channel.stop();
	for (let n = 0; n < 5; n++) await office.write({ from: ada, to: bot, text: `away ${n}` });
	await run(user, {}, host);
	await until(() => host.taken.length === 5);
	expect(host.taken.map(({ content }) => content)).toEqual([0, 1, 2, 3, 4].map((n) => `away ${n}`));
});

test("a mailbox that is numbered anew is read again, and nothing is taken twice or missed", async () => {
	const { user, bot, ada, id } = names();
	await office.write({ from: ada, to: bot, text: "before Keryx", id: id("v0") });
	dovecot.age(user, 3_600_000);
	const { channel, host } = await run(user);
	for (const n of [1, 2]) await office.write({ from: ada, to: bot, text: `mail ${n}`, id: id(`v${n}`) });
	await until(() => host.taken.length === 2);
	await channel.stop();
	await office.write({ from: ada, to: bot, text: "mail 3", id: id("v3") });
	dovecot.renumber(user);
	await run(user, {}, host);
	await office.write({ from: ada, to: bot, text: "mail 4", id: id("v4") });
	await until(() => host.taken.length >= 4);
	expect(host.ids()).toEqual(["v1", "v2", "v3", "v4"].map(id));
});
