// The e-mail channel on a real Dovecot: files, headers, the copies in Sent, and lines that are cut, silent, encrypted or refused.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { EmailOptions } from "../../src/channels/email/index.ts";
import type { Channel, Inbound, Outgoing } from "../../src/gateway/index.ts";
import { createFaultProxy } from "../../src/testing/fault-proxy.ts";
import { TakingHost } from "../../src/testing/index.ts";
import { countedClock } from "../support/clock.ts";
import { type Dovecot, startDovecot } from "../support/dovecot.ts";
import { openPostOffice, type PostOffice } from "../support/post-office.ts";
import { until } from "../support/until.ts";
import { connected, emailChannelOn, folder, outgoing } from "./email-scene.ts";

let dovecot: Dovecot;
let office: PostOffice;
beforeAll(async () => {
	dovecot = await startDovecot({ tls: true });
	office = await openPostOffice(dovecot, { tls: { key: dovecot.ca, cert: dovecot.ca } });
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

function names() {
	const n = ++scenes;
	const user = `line${n}`;
	return { user, bot: `${user}@keryx.test`, ada: `ada${n}@home.test` };
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

const last = (host: TakingHost) => host.taken.at(-1) as Inbound;

function withFiles(
	chatId: string,
	text: string,
	files: readonly { readonly name: string; readonly bytes: Buffer }[],
): Outgoing {
	return {
		...outgoing({ chatId }, text),
		body: {
			text,
			plain: text,
			attachments: files.map(({ name, bytes }) => ({
				blob: name,
				name,
				mediaType: "application/octet-stream",
				size: bytes.length,
			})),
		},
		openBlob: async function* (blob) {
			yield files.find(({ name }) => name === blob)?.bytes ?? Buffer.alloc(0);
		},
	};
}

test("a file of 25 MB goes both ways, byte for byte", async () => {
	const { user, bot, ada } = names();
	const bytes = Buffer.alloc(25 * 1024 * 1024, "Keryx ");
	bytes.writeUInt32BE(0xdeadbeef, bytes.length - 4);
	const { channel, host } = await run(user);
	await office.write({ from: ada, to: bot, text: "look", files: [{ name: "big.bin", bytes }] });
	await until(() => host.taken.length === 1);
	const [blob = ""] = last(host).blobs ?? [];
	expect(host.blobs.get(blob)?.equals(bytes)).toBe(true);
	expect(await channel.send(withFiles(ada, "here", [{ name: "back.bin", bytes }]))).toMatchObject({
		kind: "sent",
	});
	const [file] = office.to(ada)[0]?.mail.attachments ?? [];
	expect(file?.filename).toBe("back.bin");
	expect(file?.content.equals(bytes)).toBe(true);
});

test("an HTML mail is read as text, and its pictures come with it", async () => {
	const { user, bot, ada } = names();
	const { host } = await run(user);
	const picture = Buffer.from("89504e470d0a1a0a", "hex");
	await office.write({
		from: ada,
		to: bot,
		html: '<p>Look at <b>this</b>:</p><img src="cid:pic"><script>alert(1)</script><ul><li>one</li></ul>',
		files: [{ name: "pic.png", bytes: picture, type: "image/png", cid: "pic" }],
	});
	await until(() => host.taken.length === 1);
	const { content, blobs } = last(host);
	expect(content).toEqual([
		{ type: "text", text: expect.stringMatching(/^Look at this:[\s\S]*one/) },
		{ type: "image", blob: blobs?.[0], mediaType: "image/png", name: "pic.png" },
	]);
	expect(JSON.stringify(content)).not.toContain("alert");
});

test("nothing that is sent can add a header or a recipient", async () => {
	const { user, ada } = names();
	const { channel } = await run(user, { displayName: "K\r\nBcc: eve@evil.test" });
	const text = "Subject line\r\nBcc: eve@evil.test\r\n\r\nbody";
	const file = { name: 'a"\r\nX-Evil: 1\r\n.txt', bytes: Buffer.from("x") };
	expect(await channel.send(withFiles(ada, text, [file]))).toMatchObject({ kind: "sent" });
	const [{ mail } = { mail: undefined }] = office.to(ada);
	expect(mail?.subject).toBe("Subject line");
	expect([...(mail?.headers.keys() ?? [])].filter((name) => /bcc|x-evil/.test(name))).toEqual([]);
	expect(office.to("eve@evil.test")).toEqual([]);
	for (const chatId of [
		`${ada}, eve@evil.test`,
		`${ada}>\r\nRCPT TO:<eve@evil.test`,
		"eve",
		"",
		`"x"@home.test`,
	])
		expect((await channel.send(outgoing({ chatId }, "x"))).kind).toBe("refused");
	expect(office.seen.filter(({ to }) => to.startsWith("eve"))).toEqual([]);
});

test("a mail that the server finds too large loses its files, and says so", async () => {
	const { user, bot, ada } = names();
	const { channel } = await run(user);
	office.faults.set(bot, "too_large");
	const result = await channel.send(
		withFiles(ada, "the result", [{ name: "big.bin", bytes: Buffer.alloc(9) }]),
	);
	expect(result).toMatchObject({ kind: "sent" });
	expect(office.to(ada).map(({ mail }) => [mail.text?.trim(), mail.attachments.length])).toEqual([
		["the result\n\n[big.bin is not attached: the mail server does not take a mail of this size]", 0],
	]);
	expect(await folder(dovecot, user, "Sent")).toHaveLength(1);
});

test("the copy in Sent says what became of a mail: clean was taken, none was never begun, and a draft is unknown", async () => {
	const { user, bot, ada } = names();
	const { channel } = await run(user);
	const sent = outgoing({ chatId: ada }, "sent");
	const { kind, receipt } = (await channel.send(sent)) as { kind: "sent"; receipt: string };
	expect(kind).toBe("sent");
	const { destination } = sent;
	expect(await channel.lookup?.(sent.id, destination)).toEqual({ kind: "sent", receipt });
	expect(await channel.lookup?.("never", destination)).toEqual({ kind: "absent" });
	for (const fault of ["lose_ack", "lost"] as const) {
		office.faults.set(bot, fault);
		const one = outgoing({ chatId: ada }, fault);
		expect(await channel.send(one)).toMatchObject({ kind: "unknown" });
		expect(await channel.lookup?.(one.id, destination)).toEqual({ kind: "unknown" });
	}
	for (const fault of ["refuse", "pause"] as const) {
		office.faults.set(bot, fault);
		const one = outgoing({ chatId: ada }, fault);
		expect((await channel.send(one)).kind).toBe(fault === "refuse" ? "refused" : "retry");
		expect(await channel.lookup?.(one.id, destination)).toEqual({ kind: "absent" });
	}
	expect((await folder(dovecot, user, "Sent")).map(({ flags }) => flags.includes("\\Draft"))).toEqual([
		false,
		true,
		true,
	]);
});

test("a connection that breaks before a mail's end is a certain failure", async () => {
	const { user, bot, ada } = names();
	const proxy = await createFaultProxy(`http://127.0.0.1:${office.port}`);
	undo.push(() => proxy.close());
	const smtp = { host: "127.0.0.1", port: proxy.port, encryption: "none" } as const;
	const { channel } = await run(user, { smtp });
	const bytes = Buffer.alloc(4_000_000, 7);
	const one = withFiles(ada, "large", [{ name: "large.bin", bytes }]);
	const sending = channel.send(one);
	await until(() => (office.begun.get(bot) ?? 0) === 1);
	proxy.cut();
	expect(await sending).toMatchObject({ kind: "retry" });
	expect(await channel.lookup?.(one.id, one.destination)).toEqual({ kind: "absent" });
	expect(office.to(ada)).toEqual([]);
});

test("an IDLE that is cut or goes silent is noticed and begun anew, and nothing is missed", async () => {
	const { user, bot, ada } = names();
	const proxy = await createFaultProxy(`http://127.0.0.1:${dovecot.port}`);
	undo.push(() => proxy.close());
	const imap = { host: "127.0.0.1", port: proxy.port, encryption: "none" } as const;
	const { channel, host } = await run(user, { imap, aliveMs: 3000 });
	await until(() => channel.health().provenBy === "IDLE renewed");
	proxy.cut();
	await office.write({ from: ada, to: bot, text: "after the cut" });
	await until(() => host.taken.length === 1);
	await proxy.set("silent");
	await office.write({ from: ada, to: bot, text: "in the silence" });
	await until(() => channel.health().state !== "connected");
	expect(await channel.send(outgoing({ chatId: ada }, "x"))).toMatchObject({ kind: "retry" });
	await proxy.set("open");
	await until(() => host.taken.length === 2);
	await until(() => channel.health().state === "connected");
	expect(host.taken.map(({ content }) => content)).toEqual(["after the cut", "in the silence"]);
});

test("a server without IDLE is polled, and one that dies is waited for", async () => {
	const { user, bot, ada } = names();
	const plain = await startDovecot({ more: "imap_capability = IMAP4rev1 UIDPLUS SPECIAL-USE" });
	undo.push(() => plain.remove());
	const there = await openPostOffice(plain);
	undo.push(() => there.close());
	const channel = emailChannelOn(there, user, { aliveMs: 1500 });
	undo.push(() => channel.stop());
	const host = new TakingHost();
	await connected(channel, host);
	await there.write({ from: ada, to: bot, text: "one" });
	await until(() => host.taken.length === 1);
	await until(() => channel.health().provenBy === "poll answered");
	await plain.kill();
	await until(() => channel.health().state !== "connected");
	await plain.start();
	await until(() => channel.health().state === "connected");
	await there.write({ from: ada, to: bot, text: "two" });
	await until(() => host.taken.length === 2);
});

test("over TLS and STARTTLS it trusts only what it is told to trust", async () => {
	const { user, bot, ada } = names();
	const at = (port: number, encryption: "tls" | "starttls", ca?: string) => ({
		host: "127.0.0.1",
		port,
		encryption,
		...(ca !== undefined && { ca }),
	});
	const trusted = {
		imap: at(dovecot.tlsPort, "tls", dovecot.ca),
		smtp: at(office.port, "starttls", dovecot.ca),
	};
	const { channel, host } = await run(user, trusted);
	await office.write({ from: ada, to: bot, text: "hello" });
	await until(() => host.taken.length === 1);
	expect(await channel.send(outgoing({ chatId: ada }, "hi"))).toMatchObject({ kind: "sent" });
	for (const [options, named] of [
		[{ ...trusted, imap: at(dovecot.tlsPort, "tls") }, "IMAP"],
		[{ ...trusted, imap: at(dovecot.port, "starttls") }, "IMAP"],
		[{ ...trusted, smtp: at(office.port, "starttls") }, "SMTP"],
	] as const) {
		const other = emailChannelOn(office, user, options);
		undo.push(() => other.stop());
		await other.start(new TakingHost());
		await until(() => other.health().state === "needs_attention");
		expect(other.health().detail).toMatch(new RegExp(`certificate of the ${named} server.*email\\.ca_file`));
	}
});

test("a wrong password is said with its remedy within 10 seconds, and a corrected one is used", async () => {
	const { user } = names();
	let password = "wrong";
	const clock = countedClock();
	const channel = emailChannelOn(office, user, { password: async () => password, clock });
	undo.push(() => channel.stop());
	await channel.start(new TakingHost());
	await until(() => channel.health().state === "needs_attention");
	expect(clock.waitedMs()).toBeLessThan(10_000);
	expect(channel.health().detail).toMatch(/IMAP server 127\.0\.0\.1 refused the login.*check the password/);
	password = "sesame";
	await until(() => channel.health().state === "connected");
	// The SMTP server alone refuses it from now on.
	office.revoked.add(`${user}@keryx.test`);
	expect(await channel.send(outgoing({ chatId: "ada@home.test" }, "x"))).toMatchObject({ kind: "retry" });
	await until(() => channel.health().state === "needs_attention");
	expect(channel.health().detail).toContain("the SMTP server 127.0.0.1 refused the login");
});

test("a mail that is no mail blocks nothing", async () => {
	const { user, bot, ada } = names();
	const { host } = await run(user);
	const odd = [
		"",
		"\r\n\r\n",
		"From: \r\nFrom: a@b.c\r\n\r\nx",
		`From: ${ada}\r\nContent-Type: multipart/mixed; boundary="x"\r\n\r\n--x\r\n--x\r\nContent-Type: \u0000\r\n`,
		`${"X-Long: y\r\n".repeat(2000)}\r\nx`,
		`From: =?utf-8?q?=00=0d=0a?= <${ada}>\r\nSubject: =?utf-8?b?AAA=?=\r\n\r\nx`,
		`From: ${ada}\r\nReferences: ${"<a@b> ".repeat(5000)}\r\nMessage-ID: <${"i".repeat(900)}@x>\r\n\r\nx`,
	];
	for (const raw of odd) await office.put(bot, raw);
	await office.write({ from: ada, to: bot, text: "still here" });
	await until(() => host.taken.at(-1)?.content === "still here");
	for (const { transport } of host.taken.slice(0, -1)) expect(transport?.refused).toBeDefined();
});
