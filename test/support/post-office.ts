// Mail transport for tests: an SMTP server that accepts mails from Keryx and people. Mails to a mailbox of Dovecot are put there over LMTP, as
// a receiving server does; mails to anyone else are kept here.
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type ParsedMail, simpleParser } from "mailparser";
import MailComposer from "nodemailer/lib/mail-composer";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import { SMTPServer } from "smtp-server";
import { createFaultProxy, type FaultProxy } from "../../src/testing/fault-proxy.ts";
import { type Dovecot, PASSWORD } from "./dovecot.ts";

/** What happens to a sender's next mail. */
export type Fault = "refuse" | "pause" | "lose_ack" | "lost" | "too_large";

export interface SeenMail {
	readonly to: string;
	readonly from: string;
	readonly raw: Buffer;
	readonly mail: ParsedMail;
}

export interface Written {
	readonly from: string;
	readonly fromName?: string;
	readonly to: string | readonly string[];
	readonly cc?: readonly string[];
	readonly subject?: string;
	readonly text?: string;
	readonly html?: string;
	/** Without brackets. */
	readonly id?: string;
	readonly references?: readonly string[];
	readonly headers?: Readonly<Record<string, string>>;
	readonly files?: readonly {
		readonly name: string;
		readonly bytes: Uint8Array;
		readonly type?: string;
		readonly cid?: string;
	}[];
	/** The receiving server's verdict on the sender. Default: proven. */
	readonly checked?: string | null;
	/** The envelope's sender. Default: the From. Empty: the null return path. */
	readonly returnPath?: string;
	readonly date?: Date;
}

export const AUTHSERV = "mx.keryx.test";

export interface PostOffice {
	readonly port: number;
	readonly dovecot: Dovecot;
	/** From every sender. */
	readonly proxy: FaultProxy;
	/** The server puts a copy of each sent mail into the mailbox's Sent folder. */
	keepsSent: boolean;
	/** All mails to people, oldest first. */
	readonly seen: readonly SeenMail[];
	/** By the sender's address: started mails. */
	readonly begun: Map<string, number>;
	readonly faults: Map<string, Fault>;
	/** Senders whose password is no longer valid. */
	readonly revoked: Set<string>;
	/** A person or a machine writes; resolves when the mail is in the mailbox. */
	write(mail: Written): Promise<void>;
	/** Puts a mail into a mailbox unchanged. */
	put(to: string, raw: Buffer | string, from?: string): Promise<void>;
	to(address: string): readonly SeenMail[];
	onMail: (mail: SeenMail) => void;
	close(): Promise<void>;
}

export async function openPostOffice(
	dovecot: Dovecot,
	{
		tls,
		keepsSent = false,
	}: { readonly tls?: { readonly key: string; readonly cert: string }; readonly keepsSent?: boolean } = {},
): Promise<PostOffice> {
	const seen: SeenMail[] = [];
	const lmtp = new Lmtp(dovecot.lmtpPort);
	const isLocal = (address: string) => address.endsWith(`@${dovecot.domain}`);
	const server = new SMTPServer({
		secure: false,
		...(tls ? { key: tls.key, cert: tls.cert } : { hideSTARTTLS: true }),
		allowInsecureAuth: true,
		disableReverseLookup: true,
		logger: false,
		size: 40 * 1024 * 1024,
		onAuth: ({ username = "", password = "" }, _session, done) =>
			isLocal(username) && password === PASSWORD && !office.revoked.has(username)
				? done(null, { user: username })
				: done(Object.assign(new Error("Invalid login"), { responseCode: 535 })),
		onMailFrom: ({ address }, _session, done) => {
			office.begun.set(address, (office.begun.get(address) ?? 0) + 1);
			const fault = office.faults.get(address);
			if (fault === "refuse" || fault === "pause") {
				office.faults.delete(address);
				return done(
					Object.assign(new Error(fault === "refuse" ? "we do not want this" : "come back later"), {
						responseCode: fault === "refuse" ? 550 : 451,
					}),
				);
			}
			return done();
		},
		onData: (stream, session, done) => {
			const pieces: Buffer[] = [];
			stream.on("data", (piece: Buffer) => pieces.push(piece));
			stream.on("end", () => {
				void (async () => {
					const { mailFrom, rcptTo } = session.envelope;
					const from = mailFrom ? mailFrom.address : "";
					const fault = office.faults.get(from);
					office.faults.delete(from);
					if (fault === "lost") return office.proxy.cut();
					if (fault === "too_large")
						return done(Object.assign(new Error("too large"), { responseCode: 552 }));
					await pass(
						from,
						rcptTo.map(({ address }) => address.toLowerCase()),
						Buffer.concat(pieces),
					);
					if (fault === "lose_ack") return office.proxy.cut();
					return done();
				})().catch((error: Error) => done(error));
			});
		},
	});
	const pass = async (from: string, to: readonly string[], raw: Buffer) => {
		const mail = await simpleParser(raw);
		if (office.keepsSent && isLocal(from)) await lmtp.put(from.replace("@", "+Sent@"), raw, from);
		for (const one of to) {
			// A logged-in sender is who they claim to be.
			if (isLocal(one)) await lmtp.put(one, checked(raw, `dmarc=pass header.from=${dovecot.domain}`), from);
			const kept = { to: one, from, raw, mail };
			seen.push(kept);
			office.onMail(kept);
		}
	};
	server.on("error", () => {});
	server.listen(0, "127.0.0.1");
	await once(server.server, "listening");
	const { port } = server.server.address() as AddressInfo;
	const office: PostOffice = {
		port,
		dovecot,
		proxy: await createFaultProxy(`http://127.0.0.1:${port}`),
		keepsSent,
		seen,
		begun: new Map(),
		faults: new Map(),
		revoked: new Set(),
		write: async (written) => {
			const raw = await rawOf(written);
			const from = written.returnPath ?? written.from;
			const targets = [written.to, written.cc ?? []].flat().filter(isLocal);
			for (const target of new Set(targets)) await lmtp.put(target, raw, from);
		},
		put: (to, raw, from = "") => lmtp.put(to, Buffer.from(raw), from),
		to: (address) => seen.filter((one) => one.to === address),
		onMail: () => {},
		close: async () => {
			await office.proxy.close();
			lmtp.close();
			await new Promise<void>((resolve) => server.close(() => resolve()));
		},
	};
	return office;
}

/** With the header that the receiving server adds. */
function checked(raw: Buffer, result: string): Buffer {
	return Buffer.concat([Buffer.from(`Authentication-Results: ${AUTHSERV};\r\n\t${result}\r\n`), raw]);
}

async function rawOf(written: Written): Promise<Buffer> {
	const {
		from,
		fromName = "",
		to,
		cc,
		subject,
		text,
		html,
		id,
		references = [],
		headers = {},
		files = [],
	} = written;
	const domain = from.slice(from.indexOf("@") + 1);
	const { checked: result = `dmarc=pass header.from=${domain}` } = written;
	const raw = await new MailComposer({
		from: { name: fromName, address: from },
		to: [to].flat(),
		cc: [...(cc ?? [])],
		...(subject !== undefined && { subject }),
		...(text !== undefined && { text }),
		...(html !== undefined && { html }),
		...(id !== undefined && { messageId: `<${id}>` }),
		...(references.length > 0 && {
			references: references.map((one) => `<${one}>`),
			inReplyTo: `<${references.at(-1)}>`,
		}),
		...(written.date && { date: written.date }),
		headers: { ...headers },
		attachments: files.map(({ name, bytes, type, cid }) => ({
			filename: name,
			content: Buffer.from(bytes),
			...(type !== undefined && { contentType: type }),
			...(cid !== undefined && { cid }),
		})),
	})
		.compile()
		.build();
	return result === null ? raw : checked(raw, result);
}

/** Puts mails into mailboxes, one after another over one connection. */
class Lmtp {
	readonly #port: number;
	#connection: SMTPConnection | null = null;
	#tail: Promise<unknown> = Promise.resolve();

	constructor(port: number) {
		this.#port = port;
	}

	put(to: string, raw: Buffer, from: string): Promise<void> {
		const done = this.#tail.then(() => this.#put(to, raw, from));
		this.#tail = done.catch(() => {});
		return done;
	}

	close(): void {
		this.#connection?.close();
	}

	async #put(to: string, raw: Buffer, from: string): Promise<void> {
		const connection = await this.#open();
		await new Promise<void>((resolve, reject) =>
			connection.send({ from: from === "" ? false : from, to: [to] }, raw, (error) =>
				error ? reject(error) : resolve(),
			),
		);
	}

	async #open(): Promise<SMTPConnection> {
		if (this.#connection) return this.#connection;
		const connection = new SMTPConnection({
			host: "127.0.0.1",
			port: this.#port,
			lmtp: true,
			ignoreTLS: true,
		});
		connection.on("error", () => {});
		connection.once("end", () => {
			if (this.#connection === connection) this.#connection = null;
		});
		await new Promise<void>((resolve, reject) => {
			connection.once("error", reject);
			connection.connect((error) => (error ? reject(error) : resolve()));
		});
		this.#connection = connection;
		return connection;
	}
}
