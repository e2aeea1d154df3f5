// An e-mail channel on a real IMAP server, with people around it and a network between them that fails as told.

import { setTimeout as pause } from "node:timers/promises";
import { ImapFlow } from "imapflow";
import { simpleParser } from "mailparser";
import MailComposer from "nodemailer/lib/mail-composer";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import { createEmailChannel, type EmailOptions, type Libraries } from "../../src/channels/email/index.ts";
import type { Channel, ChannelHost, Outgoing } from "../../src/gateway/index.ts";
import { createFaultProxy, type FaultProxy } from "../../src/testing/fault-proxy.ts";
import { type ChannelPeer, type SeenMessage, TakingHost } from "../../src/testing/index.ts";
import { systemClock } from "../../src/time/index.ts";
import { type Dovecot, PASSWORD } from "../support/dovecot.ts";
import { AUTHSERV, type PostOffice, type SeenMail } from "../support/post-office.ts";
import { until } from "../support/until.ts";
import type { Heard } from "./telegram-scene.ts";

export const LIBRARIES: Libraries = { ImapFlow, SMTPConnection, MailComposer, simpleParser };

export function emailChannelOn(
	office: PostOffice,
	user: string,
	options: Partial<EmailOptions> = {},
): Channel {
	const { dovecot } = office;
	return createEmailChannel({
		name: "email",
		imap: { host: "127.0.0.1", port: dovecot.port, encryption: "none" },
		smtp: { host: "127.0.0.1", port: office.proxy.port, encryption: "none" },
		address: `${user}@${dovecot.domain}`,
		password: async () => PASSWORD,
		authservId: AUTHSERV,
		load: async () => LIBRARIES,
		clock: systemClock,
		log: () => {},
		firstPauseMs: 5,
		longestPauseMs: 20,
		...options,
	});
}

export async function connected(channel: Channel, host: ChannelHost = new TakingHost()): Promise<void> {
	await channel.start(host);
	await until(() => channel.health().state === "connected");
}

let deliveries = 0;

export function outgoing(destination: Partial<Outgoing["destination"]>, text: string): Outgoing {
	return {
		id: `d${++deliveries}`,
		destination: { platform: "email", account: "", chatId: "", ...destination },
		body: { text, plain: text },
		plain: false,
		openBlob: async function* () {},
	};
}

/** What is in a folder of a mailbox: the ids and the flags, oldest first. */
export async function folder(
	dovecot: Dovecot,
	user: string,
	path: string,
): Promise<{ readonly id: string; readonly flags: readonly string[] }[]> {
	const client = new ImapFlow({
		host: "127.0.0.1",
		port: dovecot.port,
		secure: false,
		doSTARTTLS: false,
		auth: { user: `${user}@${dovecot.domain}`, pass: PASSWORD },
		logger: false,
	});
	await client.connect();
	await client.mailboxOpen(path, { readOnly: true });
	const rows = await client.fetchAll("1:*", { envelope: true, flags: true });
	await client.logout();
	return rows.map(({ envelope, flags }) => ({
		id: (envelope?.messageId ?? "").slice(1, -1),
		flags: [...(flags ?? [])].filter((flag) => flag !== "\\Recent"),
	}));
}

let scenes = 0;

/** For the suite that every channel passes, and for tests of a whole gateway on any platform. */
export async function emailPeer(
	office: PostOffice,
	options: Partial<EmailOptions> = {},
): Promise<ChannelPeer & Heard & { readonly proxy: FaultProxy }> {
	const n = ++scenes;
	const { dovecot } = office;
	const user = `bot${n}`;
	const bot = `${user}@${dovecot.domain}`;
	const ada = `ada${n}@home.test`;
	const proxy = await createFaultProxy(`http://127.0.0.1:${dovecot.port}`);
	let password = PASSWORD;
	let said = 0;
	const accepted: string[] = [];
	const written = new Map<string, Parameters<PostOffice["write"]>[0]>();
	const channel = emailChannelOn(office, user, {
		account: "box2",
		imap: { host: "127.0.0.1", port: proxy.port, encryption: "none" },
		password: async () => password,
		sent: "server",
		settleMs: 0,
		...options,
	});
	const write = (mail: Omit<Parameters<PostOffice["write"]>[0], "from" | "to" | "id">) => {
		const id = `m${++said}.${n}@home.test`;
		// One thread, so one conversation.
		const [root] = written.keys();
		const whole = { from: ada, to: bot, id, ...(root !== undefined && { references: [root] }), ...mail };
		written.set(id, whole);
		void office.write(whole);
		return id;
	};
	return {
		proxy,
		channel: {
			...channel,
			start: (host) =>
				channel.start({
					// A class has its methods on its prototype.
					...Object.fromEntries(METHODS.map((name) => [name, (host[name] as () => unknown).bind(host)])),
					accept: async (inbound: Parameters<ChannelHost["accept"]>[0]) => {
						const admission = await host.accept(inbound);
						accepted.push(inbound.platformMessage);
						return admission;
					},
				} as ChannelHost),
			send: async (one) => {
				// The fault is for a mail that is really sent.
				if (office.faults.has(bot)) await until(() => channel.health().state === "connected");
				return channel.send(one);
			},
		},
		destination: { platform: "email", account: "box2", chatId: ada },
		say: (text) => write({ text }),
		sendFile: (text, name, bytes) => write({ text, files: [{ name, bytes }] }),
		redeliver: (id) => {
			const mail = written.get(id);
			if (mail) void office.write(mail);
		},
		disconnect: () => proxy.cut(),
		refuseConnections: async () => {
			await proxy.set("cut");
			await until(() => channel.health().state !== "connected");
			return () => proxy.set("open");
		},
		acknowledged: () => accepted,
		visible: () => office.to(ada).flatMap(shown),
		requests: () => office.begun.get(bot) ?? 0,
		next: (behaviour) => {
			if (behaviour !== "markup_refused") office.faults.set(bot, behaviour);
		},
		never: ["markup_refused"],
		revoke: () => {
			password = "no longer";
			office.revoked.add(bot);
			proxy.cut();
		},
		pass: () => pause(1),
		person: ada,
		received: () =>
			office
				.to(ada)
				.map(({ raw, mail }) => [raw.toString("latin1"), mail.text, String(mail.html)].join("\n"))
				.join("\n"),
		close: async () => {
			await proxy.close();
		},
	};
}

/** A mail with several files is several messages for the suite. */
function shown({ mail }: SeenMail): SeenMessage[] {
	const receipt = (mail.messageId ?? "").slice(1, -1);
	const text = (mail.text ?? "").replace(/\n$/, "");
	if (mail.attachments.length === 0) return [{ receipt, text }];
	return mail.attachments.map(({ filename = "", content }, n) => ({
		receipt,
		text: n === 0 ? text : "",
		file: { name: filename, bytes: content },
	}));
}

const METHODS = [
	"cursor",
	"known",
	"putBlob",
	"edited",
	"deleted",
	"reacted",
	"pressed",
	"gone",
	"moved",
	"passed",
	"commands",
] as const;
