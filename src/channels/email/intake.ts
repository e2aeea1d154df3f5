// Passes one mail to the gateway: its thread, its new words, its files. It is committed together with the position after it (I3).
import type { Part } from "../../domain/index.ts";
import type { ChannelHost, Inbound } from "../../gateway/index.ts";
import type { Clock } from "../../time/index.ts";
import { type Fetched, fetchInto, inWords, mediaTypeOf, notFetched, Unfetched } from "../incoming-file.ts";
import { idFor, isOwnId, keptId, oneLine } from "./address.ts";
import { after, type Cursor, formatCursor, mayBeNew } from "./cursor.ts";
import { type Head, headOf } from "./desk.ts";
import type { Heads } from "./heads.ts";
import { type JudgeOptions, judge } from "./judge.ts";
import type { Mail } from "./mail.ts";
import { trim } from "./trim.ts";

const MOST_FILES = 50;
/** How far back a thread is followed, in mails. */
const MOST_STEPS = 50;
const FILE_MS = 60_000;
/** A longer text is cut, and attached whole as a file. */
const LONGEST_TEXT = 200_000;
/** Signatures as files: not part of the message. */
const SIGNATURES = /^application\/(?:pgp-signature|pkcs7-signature|x-pkcs7-signature)$/;

export interface IntakeOptions extends JudgeOptions {
	readonly address: string;
	readonly account: string;
	readonly profile?: string;
	readonly heads: Heads;
	readonly clock: Clock;
	readonly isStopping: () => boolean;
}

export interface Received {
	readonly mail: Mail;
	readonly uid: number;
	readonly receivedAt: number;
	/** Its files were not read: it is too large. */
	readonly tooLarge?: string;
}

export class Intake {
	readonly #options: IntakeOptions;
	readonly #host: ChannelHost;
	readonly #commands: ReadonlySet<string>;

	constructor(options: IntakeOptions, host: ChannelHost) {
		this.#options = options;
		this.#host = host;
		this.#commands = new Set(host.commands().map(({ name }) => name));
	}

	/** Returns the current position. */
	async take(received: Received, cursor: Cursor): Promise<Cursor> {
		const { mail, uid, receivedAt } = received;
		const next = after(cursor, uid, receivedAt);
		const value = formatCursor(next);
		const transport = judge(mail, this.#options);
		const isHeard = transport.refused === undefined && transport.own !== true;
		const source = await this.#sourceOf(mail, isHeard);
		const id = keptId(mail.id);
		// While the mailbox is read again, it may have been taken before.
		if (uid <= cursor.again && !(await this.#isNew(received, cursor, String(source.chat_id), id))) {
			await this.#host.passed(value);
			return next;
		}
		// A mail with an unproven sender proves nothing about who is in a thread.
		if (isHeard) this.#options.heads.add(id, headOf(mail));
		const { content, blobs, quoted } = isHeard ? await this.#contentOf(received) : UNHEARD;
		await this.#host.accept({
			source,
			platformMessage: id,
			content,
			mentioned: this.#isMentioned(mail),
			sentAt: receivedAt,
			transport,
			cursor: value,
			...(blobs.length > 0 && { blobs }),
			...(quoted && { quoted }),
		});
		return next;
	}

	async #isNew({ mail, receivedAt }: Received, cursor: Cursor, chat: string, id: string): Promise<boolean> {
		if (!mayBeNew(cursor, receivedAt, mail.date)) return false;
		return (await this.#host.known(chat, [id])).length === 0;
	}

	/** One person: their thread. Several: the mailbox's thread, which all of them share. */
	async #sourceOf(mail: Mail, isHeard: boolean): Promise<Record<string, unknown>> {
		const { account, profile, address, own } = this.#options;
		const { from } = mail;
		const others = [...mail.to, ...mail.cc].filter(
			(one) => !own.has(one.address) && one.address !== from?.address,
		);
		const isPrivate = others.length === 0;
		return {
			platform: "email",
			account,
			chat_id: isPrivate ? (from?.address ?? address) : address,
			chat_type: isPrivate ? "dm" : "group",
			...(!isPrivate && mail.subject !== "" && { chat_name: mail.subject }),
			thread_id: keptId(isPrivate || !isHeard ? rootOf(mail) : await this.#sharedRoot(mail)),
			message_id: keptId(mail.id),
			...(from && { user_id: from.address, user_name: from.name || from.address }),
			...(profile !== undefined && { profile }),
		};
	}

	/** Only recipients of a mail in the thread may continue it; anyone else who names it starts a new thread. */
	async #sharedRoot(mail: Mail): Promise<string> {
		const root = rootOf(mail);
		if (await this.#isIn(headOf(mail), root)) return root;
		return root === mail.id ? idFor(Buffer.from(`${mail.from?.address} ${root}`)) : mail.id;
	}

	/** Follows replies back to the thread's first mail; each must be written by a recipient of the previous one. */
	async #isIn(mail: Head, root: string): Promise<boolean> {
		const { heads, own } = this.#options;
		const first = await heads.firstOf(root);
		if (!first) return true;
		let at = mail;
		for (let steps = 0; steps < MOST_STEPS; steps++) {
			const isOwn = at.from !== null && own.has(at.from.address);
			if (isOwn ? at.id === first.id : got(first, at)) return true;
			const parent = await heads.find(keptId(at.references.at(-1) ?? ""));
			if (!parent || !(isOwn || got(parent, at))) return false;
			at = parent;
		}
		return false;
	}

	/** In a group, whoever is only in Cc reads along. */
	#isMentioned({ to, inReplyTo }: Mail): boolean {
		const { address, own } = this.#options;
		return to.some((one) => own.has(one.address)) || (inReplyTo !== null && isOwnId(address, inReplyTo));
	}

	async #contentOf({ mail, tooLarge }: Received): Promise<Content> {
		const { address } = this.#options;
		const { text, quoted, isCut } = trim(mail.text, mail.subject);
		const words = this.#wordsOf(mail, text);
		const isTooLong = words.length > LONGEST_TEXT;
		const shown = isTooLong
			? `${words.slice(0, LONGEST_TEXT).toWellFormed()}\n[the rest is left out]`
			: words;
		const files = await this.#filesOf(mail, isCut || isTooLong, tooLarge);
		const root = rootOf(mail);
		return {
			content:
				files.length === 0
					? shown
					: [
							...(shown === "" ? [] : [{ type: "text" as const, text: shown }]),
							...files.map(({ part }) => part),
						],
			blobs: files.flatMap(({ blob }) => (blob === null ? [] : [blob])),
			// Another conversation started this thread, and this one does not know it.
			...(isOwnId(address, root) &&
				mail.inReplyTo === root && { quoted: { platformMessage: keptId(root), text: quoted, own: true } }),
		};
	}

	/** The subject counts where a thread begins. Of a command only its own lines count: programs add words below. */
	#wordsOf({ subject, references }: Mail, text: string): string {
		const [first = ""] = text.trimStart().split(/\n\s*\n/);
		const [, command] = /^\/([a-z]+)\b/.exec(first) ?? [];
		if (command !== undefined && this.#commands.has(command)) return first.trim();
		if (references.length > 0 || subject === "") return text;
		return text === "" ? subject : `Subject: ${subject}\n\n${text}`;
	}

	async #filesOf(mail: Mail, withWhole: boolean, tooLarge: string | undefined): Promise<Fetched[]> {
		const files = mail.attachments.filter(({ contentType }) => !SIGNATURES.test(contentType));
		const fetched: Fetched[] = [];
		for (const [n, file] of files.slice(0, MOST_FILES).entries()) {
			const name = oneLine(file.filename ?? "", 200) || `file ${n + 1}`;
			fetched.push(await this.#fileOf(name, mediaTypeOf(file.contentType), file.content));
		}
		if (files.length > MOST_FILES)
			fetched.push(inWords(`[${files.length - MOST_FILES} more files of this mail are left out]`));
		if (tooLarge !== undefined) fetched.push(inWords(`[${tooLarge}]`));
		if (withWhole) fetched.push(await this.#fileOf("whole mail.eml", "message/rfc822", wholeOf(mail)));
		return fetched;
	}

	async #fileOf(name: string, mediaType: string, bytes: Buffer): Promise<Fetched> {
		const { clock, isStopping } = this.#options;
		try {
			return await fetchInto(
				{ name, mediaType, size: bytes.length },
				async function* () {
					yield bytes;
				},
				{ host: this.#host, clock, deadlineMs: FILE_MS, isStopping },
				{ reasonOf: String, isFinal: () => false },
			);
		} catch (error) {
			if (error instanceof Unfetched) return notFetched(name, error.message);
			throw error;
		}
	}
}

interface Content {
	readonly content: string | readonly Part[];
	readonly blobs: readonly string[];
	readonly quoted?: NonNullable<Inbound["quoted"]>;
}

/** Nobody reads what is refused. */
const UNHEARD: Content = { content: "", blobs: [] };

/** Whether the writer of one mail got another one, or wrote it. */
function got({ from, to, cc }: Head, { from: writer }: Head): boolean {
	return [from, ...to, ...cc].some((one) => one?.address === writer?.address);
}

/** The first mail of the thread. */
function rootOf({ id, references }: Mail): string {
	return references[0] ?? id;
}

/** With its quotes and its signature, as a mail program opens it. */
function wholeOf({ from, to, cc, subject, date, id, text }: Mail): Buffer {
	const people = (list: Mail["to"]) =>
		list.map(({ address, name }) => (name === "" ? address : `${name} <${address}>`));
	const lines = [
		`From: ${people(from ? [from] : []).join(", ")}`,
		`To: ${people(to).join(", ")}`,
		...(cc.length > 0 ? [`Cc: ${people(cc).join(", ")}`] : []),
		`Subject: ${subject}`,
		...(date === null ? [] : [`Date: ${new Date(date).toUTCString()}`]),
		`Message-ID: <${id}>`,
		"MIME-Version: 1.0",
		"Content-Type: text/plain; charset=utf-8",
		"Content-Transfer-Encoding: 8bit",
		"",
		text,
	];
	return Buffer.from(lines.join("\r\n"));
}
