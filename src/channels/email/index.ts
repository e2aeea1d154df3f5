// E-mail: a mailbox read over IMAP, and answers sent over SMTP.
// A thread is a conversation. An answer is one mail, and never a status.
// Never here: a rule about who may speak, or anything of another platform.

import { platformTraits } from "../../domain/index.ts";
import type { Channel, ChannelTraits, Outgoing, SendResult } from "../../gateway/index.ts";
import { foldedAddress, ownId } from "./address.ts";
import { compose, recipientsOf } from "./compose.ts";
import { Desk, type Head } from "./desk.ts";
import { Heads } from "./heads.ts";
import { Intake } from "./intake.ts";
import { judge } from "./judge.ts";
import { type Connection, Line } from "./line.ts";
import type { EmailOptions } from "./options.ts";
import { type Handed, handIn } from "./smtp.ts";
import { reasonOf } from "./trouble.ts";

export { identifyEmail } from "./identify.ts";
export type { Libraries } from "./libraries.ts";
export type { EmailOptions, MailServer } from "./options.ts";

/** Each send uses a separate connection. */
const AT_ONCE = 4;
const LATER_MS = 5000;
const SETTLE_MS = 30_000;
const NOT_CONNECTED: SendResult = { kind: "retry", afterMs: 1000, reason: "not connected" };

export const EMAIL_TRAITS: ChannelTraits = {
	...platformTraits("email"),
	oneMessage: true,
	shows: {
		attachments: true,
		buttons: false,
		edit: false,
		typing: false,
		threads: true,
		idempotentSend: false,
		lookup: true,
		drafts: false,
	},
};

export function createEmailChannel(options: EmailOptions): Channel {
	const email = new Email(options);
	return {
		name: options.name,
		platform: "email",
		account: options.account ?? "",
		traits: EMAIL_TRAITS,
		start: (host) => email.line.start(host),
		stop: () => email.stop(),
		send: (outgoing) => email.send(outgoing),
		room: () => email.room(),
		lookup: (id) => email.lookup(id),
		health: () => email.line.health(),
	};
}

class Email {
	readonly #options: EmailOptions;
	/** All addresses that lead to this mailbox. */
	readonly #own: ReadonlySet<string>;
	readonly #desk: Desk;
	readonly #heads: Heads;
	readonly #sending = new Set<Promise<SendResult>>();
	/** When a send with an unknown outcome ended (monotonic), by delivery. */
	readonly #unknown = new Map<string, number>();
	/** Sends of an earlier run ended before this (monotonic). */
	readonly #madeAt: number;
	readonly line: Line;

	constructor(given: EmailOptions) {
		const options = { ...given, address: foldedAddress(given.address) };
		const { clock, name, account = "", profile, aliases = [], sentFolder } = options;
		this.#options = options;
		this.#madeAt = clock.monotonic();
		this.#own = new Set([options.address, ...aliases.map(foldedAddress)]);
		this.#desk = new Desk({
			clock,
			isTrusted: (mail) => {
				const { refused, own = false } = judge(mail, { ...options, own: this.#own });
				return refused === undefined && !own;
			},
			...(sentFolder !== undefined && { sentFolder }),
			login: () => {
				const { libraries, imap } = this.#connected();
				return { libraries, login: imap };
			},
		});
		this.#heads = new Heads(this.#desk);
		this.line = new Line({
			...options,
			random: options.random ?? Math.random,
			aliveMs: options.aliveMs ?? 60_000,
			firstPauseMs: options.firstPauseMs ?? 1000,
			longestPauseMs: options.longestPauseMs ?? 5 * 60_000,
			log: (message, error) => options.log(`${name}: ${message}`, error),
			lost: () => this.#desk.abort(),
			connections: () => this.#desk.connections + this.#sending.size,
			intake: (host) =>
				new Intake(
					{
						...options,
						account,
						...(profile !== undefined && { profile }),
						own: this.#own,
						heads: this.#heads,
						isStopping: () => this.line.isStopping,
					},
					host,
				),
		});
	}

	room(): { readonly free: number; readonly afterMs: number } {
		return { free: Math.max(0, AT_ONCE - this.#sending.size), afterMs: 250 };
	}

	/** Running sends are waited for, or their outcome would be unknown. */
	async stop(): Promise<void> {
		const sending = Promise.allSettled(this.#sending);
		await this.line.stop();
		await sending;
		await this.#desk.close();
	}

	send(outgoing: Outgoing): Promise<SendResult> {
		const { connection } = this.line;
		if (!connection) return Promise.resolve(NOT_CONNECTED);
		const sending = this.#send(outgoing, connection).finally(() => this.#sending.delete(sending));
		this.#sending.add(sending);
		return sending;
	}

	async #send(outgoing: Outgoing, connection: Connection): Promise<SendResult> {
		const { body, destination } = outgoing;
		if (body.plain.length > EMAIL_TRAITS.messageLimit.max)
			return { kind: "refused", reason: "the text is too long" };
		let head: Head | null;
		try {
			head = await this.#answered(destination);
		} catch (error) {
			return { kind: "retry", afterMs: LATER_MS, reason: reasonOf(error) };
		}
		const recipients = recipientsOf(destination, head, this.#own);
		if ("refused" in recipients) return { kind: "refused", reason: recipients.refused };
		const files = await Promise.all(
			(body.attachments ?? []).map(async ({ blob, name, mediaType }) => ({
				name,
				mediaType,
				bytes: await collected(outgoing.openBlob(blob)),
			})),
		);
		const { clock } = this.#options;
		const make = (one: Outgoing, withFiles: typeof files) =>
			compose(one, recipients, head, withFiles, this.#options, { ...connection.libraries, now: clock.now() });
		const result = await this.#post(outgoing.id, await make(outgoing, files), connection);
		if (result.kind !== "too_large") return result;
		// The text is sent, and says which files were left out.
		if (files.length === 0 || body.plain.trim() === "") return { kind: "refused", reason: result.reason };
		const missing = files.map(
			({ name }) => `[${name} is not attached: the mail server does not take a mail of this size]`,
		);
		const add = (text: string) => [text, ...missing].join("\n\n");
		const { attachments: _, ...rest } = body;
		const shorter = { ...outgoing, body: { ...rest, text: add(body.text), plain: add(body.plain) } };
		const second = await this.#post(outgoing.id, await make(shorter, []), connection);
		return second.kind === "too_large" ? { kind: "refused", reason: second.reason } : second;
	}

	/** The mail that is answered; null: this one begins a thread, or the one before is gone. */
	async #answered({ replyTo, threadId }: Outgoing["destination"]): Promise<Head | null> {
		const found = replyTo === undefined ? null : await this.#heads.find(replyTo);
		if (found || threadId === undefined) return found;
		return this.#heads.firstOf(threadId);
	}

	async #post(
		delivery: string,
		{ id, envelope, bytes, head }: Awaited<ReturnType<typeof compose>>,
		connection: Connection,
	): Promise<SendResult | Extract<Handed, { kind: "too_large" }>> {
		const { clock, log, name, sent = "append" } = this.#options;
		let copy: number | null;
		try {
			copy = sent === "append" ? await this.#desk.draft(bytes) : null;
		} catch (error) {
			const reason = `the copy for the Sent folder could not be stored: ${reasonOf(error)}`;
			return { kind: "retry", afterMs: LATER_MS, reason };
		}
		const handed = await handIn(connection.libraries, connection.smtp, envelope, bytes, clock);
		const keep = async (change: (uid: number) => Promise<void>) => {
			// The outcome is certain, whatever the copy says.
			if (copy !== null)
				await change(copy).catch((error: unknown) =>
					log(`${name}: a copy in Sent could not be changed`, error),
				);
		};
		switch (handed.kind) {
			case "taken":
				await keep((uid) => this.#desk.settle(uid));
				this.#heads.add(id, head);
				if (handed.rejected.length > 0)
					log(
						`${name}: the server did not take a mail for ${handed.rejected.join(", ")}, only for the others`,
					);
				return { kind: "sent", receipt: id };
			case "unknown":
				this.#unknown.set(delivery, clock.monotonic());
				return handed;
			case "login_refused":
				await keep((uid) => this.#desk.discard(uid));
				this.line.refused(handed.error);
				return { kind: "retry", afterMs: LATER_MS, reason: handed.error.message };
			case "retry":
			case "refused":
			case "too_large":
				await keep((uid) => this.#desk.discard(uid));
				return handed;
		}
	}

	async lookup(delivery: string) {
		const { address, clock, sent = "append", settleMs = SETTLE_MS } = this.#options;
		if (sent === "none") return { kind: "unknown" } as const;
		const receipt = ownId(address, delivery);
		const copy = await this.#desk.copyOf(receipt);
		if (copy === "clean") return { kind: "sent", receipt } as const;
		if (copy === "marked") return { kind: "unknown" } as const;
		// A server that keeps the copies itself may be slow.
		const endedAt = this.#unknown.get(delivery) ?? this.#madeAt;
		if (sent === "server" && clock.monotonic() - endedAt < settleMs) return { kind: "unknown" } as const;
		this.#unknown.delete(delivery);
		return { kind: "absent" } as const;
	}

	#connected(): Connection {
		const { opened } = this.line;
		if (!opened) throw new Error("not connected");
		return opened;
	}
}

async function collected(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
	const pieces: Uint8Array[] = [];
	for await (const piece of bytes) pieces.push(piece);
	return Buffer.concat(pieces);
}
