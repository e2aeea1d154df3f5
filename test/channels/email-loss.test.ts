// Connections to the mail servers that end at the worst moment: no mail is passed over, taken without need or sent twice.
import { type AddressInfo, connect, createServer } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { EmailOptions } from "../../src/channels/email/index.ts";
import type { Channel } from "../../src/gateway/index.ts";
import { createFaultProxy } from "../../src/testing/fault-proxy.ts";
import { TakingHost } from "../../src/testing/index.ts";
import { type Dovecot, startDovecot } from "../support/dovecot.ts";
import { openPostOffice, type PostOffice } from "../support/post-office.ts";
import { until } from "../support/until.ts";
import { connected, emailChannelOn, outgoing } from "./email-scene.ts";

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

function names() {
	const n = ++scenes;
	const user = `loss${n}`;
	return {
		user,
		bot: `${user}@keryx.test`,
		ada: `ada${n}@home.test`,
		id: (name: string) => `${name}.${n}@home.test`,
	};
}

function channelOf(user: string, options: Partial<EmailOptions> = {}): Channel {
	const channel = emailChannelOn(office, user, options);
	undo.push(() => channel.stop());
	return channel;
}

async function cuttable(): Promise<{ readonly imap: EmailOptions["imap"]; readonly cut: () => void }> {
	const proxy = await createFaultProxy(`http://127.0.0.1:${dovecot.port}`);
	undo.push(() => proxy.close());
	return { imap: { host: "127.0.0.1", port: proxy.port, encryption: "none" }, cut: () => proxy.cut() };
}

test("I3: a connection that ends while a mail is committed takes no other mail with it", async () => {
	const { user, bot, ada, id } = names();
	const { imap, cut } = await cuttable();
	const host = new TakingHost();
	const channel = channelOf(user, { imap });
	await connected(channel, host);
	await channel.stop();
	for (const n of [1, 2, 3]) await office.write({ from: ada, to: bot, text: `mail ${n}`, id: id(`m${n}`) });
	host.hold();
	await channel.start(host);
	await until(() => host.asked === 1);
	cut();
	await until(() => channel.health().connections === 0);
	host.release();
	await office.write({ from: ada, to: bot, text: "mail 4", id: id("m4") });
	await until(() => host.ids().includes(id("m4")));
	expect(host.ids()).toEqual(["m1", "m2", "m3", "m4"].map(id));
});

test("I7: a search that failed does not say that a mail was never sent", async () => {
	const { user, bot, ada } = names();
	let isCutting = false;
	const relay = createServer((near) => {
		const far = connect(dovecot.port, "127.0.0.1");
		for (const [from, to] of [
			[near, far],
			[far, near],
		] as const) {
			from.on("error", () => {}).on("close", () => to.destroy());
			from.on("data", (bytes) => {
				if (isCutting && from === near && bytes.includes("SEARCH")) near.destroy();
				else to.write(bytes);
			});
		}
	});
	await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
	undo.push(() => new Promise<void>((resolve) => void relay.close(() => resolve())));
	const { port } = relay.address() as AddressInfo;
	const channel = channelOf(user, { imap: { host: "127.0.0.1", port, encryption: "none" } });
	await connected(channel);
	office.faults.set(bot, "lose_ack");
	const one = outgoing({ chatId: ada }, "once");
	expect(await channel.send(one)).toMatchObject({ kind: "unknown" });
	expect(office.to(ada)).toHaveLength(1);
	isCutting = true;
	await expect(channel.lookup?.(one.id, one.destination)).rejects.toThrow();
	isCutting = false;
});

test("a mailbox that is numbered anew is read again to its end, whatever interrupts that", async () => {
	const { user, bot, ada, id } = names();
	for (const n of [1, 2, 3])
		await office.write({ from: ada, to: bot, text: `before Keryx ${n}`, id: id(`b${n}`) });
	dovecot.age(user, 3_600_000);
	const host = new TakingHost();
	const first = channelOf(user);
	await connected(first, host);
	await first.stop();
	dovecot.renumber(user);
	// Killed when the first of the old mails was passed over.
	let passes = 0;
	const passed = host.passed.bind(host);
	host.passed = async (cursor) => {
		if (++passes > 1) throw new Error("killed");
		await passed(cursor);
	};
	const killed = channelOf(user);
	await killed.start(host);
	await until(() => passes > 1);
	await killed.stop();
	host.passed = passed;
	await connected(channelOf(user), host);
	await office.write({ from: ada, to: bot, text: "new", id: id("n1") });
	await until(() => host.ids().includes(id("n1")));
	expect(host.ids()).toEqual([id("n1")]);
});

test("I7: where the server keeps the copies, a restart does not make a mail absent before its copy can be there", async () => {
	const { user, bot, ada } = names();
	const settleMs = 60_000;
	const first = channelOf(user, { sent: "server", settleMs });
	await connected(first);
	office.faults.set(bot, "lose_ack");
	const one = outgoing({ chatId: ada }, "once");
	expect(await first.send(one)).toMatchObject({ kind: "unknown" });
	await first.stop();
	const second = channelOf(user, { sent: "server", settleMs });
	await connected(second);
	expect(await second.lookup?.(one.id, one.destination)).toEqual({ kind: "unknown" });
});
