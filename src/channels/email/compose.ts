// The bytes of an outgoing mail: who gets it, which thread it belongs to, plain and HTML text, files. Nothing in it comes from outside
// without being checked (I11): a name, a subject or a file's name cannot add a header.
import type { Outgoing } from "../../gateway/index.ts";
import { foldedAddress, isAddress, type Mailbox, oneLine, ownId } from "./address.ts";
import { HOP_HEADER } from "./automatic.ts";
import type { Head } from "./desk.ts";
import { toHtml } from "./html.ts";
import type { Libraries } from "./libraries.ts";
import type { EmailOptions } from "./options.ts";
import type { Envelope } from "./smtp.ts";

/** More would look like a mail to a list. */
const MOST_RECIPIENTS = 100;
/** Long threads name only their first and newest ids. */
const MOST_REFERENCES = 30;
const SUBJECT = 78;

export interface Recipients {
	readonly to: Mailbox;
	readonly cc: readonly Mailbox[];
}

/** To a group: everybody who got the mail that is answered. To one person: only they. */
export function recipientsOf(
	{ chatId, group }: Outgoing["destination"],
	head: Head | null,
	own: ReadonlySet<string>,
): Recipients | { readonly refused: string } {
	if (!group) {
		const address = foldedAddress(chatId);
		if (!isAddress(address)) return { refused: `${oneLine(chatId)} is not an e-mail address` };
		const name = head?.from?.address === address ? head.from.name : "";
		return { to: { address, name }, cc: [] };
	}
	if (!head)
		return { refused: "the mail that it answers is no longer in the mailbox, so nobody knows who got it" };
	const all = [...(head.from ? [head.from] : []), ...head.to, ...head.cc].filter(
		({ address }) => !own.has(address),
	);
	const [to, ...rest] = [...new Map(all.map((one) => [one.address, one])).values()];
	if (!to) return { refused: "nobody but Keryx itself is in this thread" };
	if (rest.length >= MOST_RECIPIENTS)
		return { refused: `more than ${MOST_RECIPIENTS} people are in this thread` };
	return { to, cc: rest };
}

export interface Composed {
	readonly id: string;
	readonly envelope: Envelope;
	readonly bytes: Buffer;
	readonly head: Head;
}

export async function compose(
	{ id: delivery, destination, body, plain }: Outgoing,
	{ to, cc }: Recipients,
	head: Head | null,
	files: readonly { readonly name: string; readonly mediaType: string; readonly bytes: Buffer }[],
	{ address, displayName = "" }: Pick<EmailOptions, "address" | "displayName">,
	{ MailComposer, now }: Pick<Libraries, "MailComposer"> & { readonly now: number },
): Promise<Composed> {
	const id = ownId(address, delivery);
	const root =
		destination.threadId !== undefined && /@/.test(destination.threadId) ? [destination.threadId] : [];
	const references = head ? [...head.references, head.id] : root;
	const hops = (head?.hops ?? 0) + 1;
	const subject = head ? replySubject(head.subject) : subjectOf(body.plain);
	const shown = references.filter((one) => /^[\x21-\x3b\x3d\x3f-\x7e]+$/.test(one));
	const named = [...shown.slice(0, 1), ...shown.slice(1).slice(-MOST_REFERENCES)];
	const composer = new MailComposer({
		from: { name: oneLine(displayName, 100), address },
		to: [{ ...to, name: oneLine(to.name, 100) }],
		cc: cc.map((one) => ({ ...one, name: oneLine(one.name, 100) })),
		subject,
		messageId: `<${id}>`,
		date: new Date(now),
		...(named.length > 0 && {
			inReplyTo: `<${named.at(-1)}>`,
			references: named.map((one) => `<${one}>`),
		}),
		headers: {
			"Auto-Submitted": head ? "auto-replied" : "auto-generated",
			"X-Auto-Response-Suppress": "OOF, AutoReply",
			[HOP_HEADER]: String(hops),
		},
		text: body.plain,
		...(!plain && body.text !== "" && { html: toHtml(body.text) }),
		textEncoding: "base64",
		attachments: files.map(({ name, mediaType, bytes }) => ({
			filename: oneLine(name, 200) || "file",
			contentType: mediaType,
			content: bytes,
		})),
		// Only bytes that Keryx has itself.
		disableFileAccess: true,
		disableUrlAccess: true,
	});
	const bytes = await composer.compile().build();
	const from = { address, name: displayName };
	return {
		id,
		bytes,
		envelope: { from: address, to: [to, ...cc].map((one) => one.address) },
		head: { id, references, subject, from, to: [to], cc, hops },
	};
}

export function replySubject(subject: string): string {
	const bare = oneLine(subject, 500).replace(
		/^(?:\s*(?:re|aw|sv|antw|odp|ref?)\s*(?:\[\d+\])?\s*:)+\s*/i,
		"",
	);
	return `Re: ${bare || "your mail"}`;
}

/** The first line with words. */
function subjectOf(text: string): string {
	const line = text
		.split("\n")
		.map((one) => oneLine(one.replace(/^[\s#>*_-]+/, ""), 500))
		.find((one) => one !== "");
	if (line === undefined) return "A message from Keryx";
	const points = [...line];
	return points.length <= SUBJECT ? line : `${points.slice(0, SUBJECT - 1).join("")}…`;
}
