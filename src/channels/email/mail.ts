// One mail as it was received: who, to whom, which thread, its words and its files. Everything in it is untrusted (I11).
import type { AddressObject, Attachment, ParsedMail } from "mailparser";
import { foldedAddress, idFor, isAddress, type Mailbox, messageIds, oneLine } from "./address.ts";
import type { Libraries } from "./libraries.ts";

/** Of a longer HTML mail, only the beginning is read. */
const LONGEST_HTML = 1_000_000;
const MOST_PEOPLE = 200;

export interface Mail {
	/** Without brackets. Made from its bytes if it has none. */
	readonly id: string;
	/** The earlier mails of its thread, oldest first. */
	readonly references: readonly string[];
	readonly inReplyTo: string | null;
	/** Null: none, or several. */
	readonly from: Mailbox | null;
	readonly to: readonly Mailbox[];
	readonly cc: readonly Mailbox[];
	readonly subject: string;
	/** As stated by the sender. */
	readonly date: number | null;
	readonly text: string;
	readonly attachments: readonly Attachment[];
	/** The topmost header of this name, in lower case. */
	header(name: string): string | undefined;
	headers(name: string): readonly string[];
}

/** Rejects if it is no mail. */
export async function readMail(
	source: Buffer,
	{ simpleParser }: Pick<Libraries, "simpleParser">,
): Promise<Mail> {
	const parsed = await simpleParser(source, {
		skipTextToHtml: true,
		skipHtmlToText: true,
		skipImageLinks: true,
		keepCidLinks: true,
	});
	const headers = headersOf(parsed);
	const all = (name: string) => headers.filter(([one]) => one === name).map(([, value]) => value);
	const first = (name: string) => all(name)[0];
	const [id = idFor(source)] = messageIds(first("message-id") ?? "");
	const [inReplyTo] = messageIds(first("in-reply-to") ?? "");
	const references = messageIds(first("references") ?? "");
	// Unreadable senders count too: the server's proof may be about one of them.
	const isOne = all("from").length === 1 && entries(parsed.from).length === 1;
	const senders = isOne ? people(parsed.from) : [];
	return {
		id,
		references: references.length > 0 || inReplyTo === undefined ? references : [inReplyTo],
		inReplyTo: inReplyTo ?? references.at(-1) ?? null,
		from: senders.length === 1 ? (senders[0] as Mailbox) : null,
		to: people(parsed.to),
		cc: people(parsed.cc),
		subject: oneLine(parsed.subject ?? "", 500),
		date: parsed.date && !Number.isNaN(parsed.date.getTime()) ? parsed.date.getTime() : null,
		text: (await textOf(parsed, simpleParser)).replaceAll("\0", "\ufffd"),
		attachments: parsed.attachments,
		header: first,
		headers: all,
	};
}

/** The HTML counts where there are no plain words. */
async function textOf(
	{ text = "", html }: ParsedMail,
	simpleParser: Libraries["simpleParser"],
): Promise<string> {
	if (text.trim() !== "" || html === false || (html ?? "").trim() === "") return text;
	const words = html.slice(0, LONGEST_HTML).toWellFormed();
	try {
		// The library converts a mail that is nothing but HTML.
		const whole = await simpleParser(Buffer.from(`Content-Type: text/html; charset=utf-8\r\n\r\n${words}`), {
			skipImageLinks: true,
			keepCidLinks: true,
		});
		return whole.text ?? "";
	} catch {
		// Unparsable HTML: keeps at least its words.
		return words.replace(/<[^<>]*>/g, " ");
	}
}

/** In the order of the mail, unfolded. */
function headersOf({ headerLines }: ParsedMail): (readonly [name: string, value: string])[] {
	return headerLines.map(({ key, line }) => [
		key.toLowerCase(),
		line
			.slice(line.indexOf(":") + 1)
			.replace(/\r?\n[ \t]/g, " ")
			.trim(),
	]);
}

/** Those with an address; the members of a group count one by one. */
function people(field: AddressObject | readonly AddressObject[] | undefined): Mailbox[] {
	const found = new Map<string, Mailbox>();
	for (const one of entries(field)) {
		const address = foldedAddress(one.address ?? "");
		if (isAddress(address) && !found.has(address))
			found.set(address, { address, name: oneLine(one.name, 100) });
	}
	return [...found.values()].slice(0, MOST_PEOPLE);
}

function entries(field: AddressObject | readonly AddressObject[] | undefined): AddressObject["value"] {
	const values = (Array.isArray(field) ? field : field ? [field] : []).flatMap(
		({ value }: AddressObject) => value,
	);
	return values.flatMap((value) => value.group ?? [value]);
}
