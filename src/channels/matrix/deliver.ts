// Deliveries as events. A transaction id made from the delivery's id lets a repeated request show nothing twice. Nothing is retried here:
// the server's answer, or its absence, is the result.
import { Readable } from "node:stream";
import type { Outgoing, SendResult } from "../../gateway/index.ts";
import type { Destination } from "../../store/index.ts";
import { NotSent } from "../transport.ts";
import { type Api, path } from "./api.ts";
import { encrypting } from "./encrypted-file.ts";
import { formattedBody, hasMarkup } from "./html.ts";
import { outcomeBefore, outcomeOf, reasonOf } from "./outcome.ts";
import type { Room } from "./rooms.ts";
import { sentSchema } from "./wire.ts";

/** The most content that fits into an encrypted event of 65,536 bytes. */
const CONTENT_LIMIT = 44_000;
/** How much of an edited text programs without edits show. */
const FALLBACK = 200;

type Attachment = NonNullable<Outgoing["body"]["attachments"]>[number];
type Content = Readonly<Record<string, unknown>>;

export interface DeliverContext {
	readonly api: Api;
	readonly room: Room;
	readonly limit: number;
	/** The event to send in an encrypted room. Rejects before anything was sent; null: the room is not encrypted. */
	readonly encrypt: ((type: string, content: Content) => Promise<Content>) | null;
	readonly randomBytes: (length: number) => Uint8Array;
	/** Asked right before a message leaves: another gateway may have taken over meanwhile. */
	readonly lost: () => SendResult | null;
}

/** Each file is a separate event. A repeated delivery repeats their transaction ids, so those already there are not shown twice. */
export async function deliver(outgoing: Outgoing, context: DeliverContext): Promise<SendResult> {
	const { id, body, plain } = outgoing;
	if (Buffer.byteLength(body.plain) > context.limit)
		return { kind: "refused", reason: "the text is too long for one message" };
	const files = body.attachments ?? [];
	const ids: string[] = [];
	const parts = files.length === 0 ? [null] : files;
	for (const [n, file] of parts.entries()) {
		let content: Content;
		try {
			const said = n === 0 ? textOf(outgoing) : { body: "" };
			content = {
				...(file ? await fileOf(file, said, outgoing, context) : said),
				...relationOf(outgoing.destination),
			};
		} catch (error) {
			return outcomeBefore(error);
		}
		if (!plain && sizeOf(content) > CONTENT_LIMIT) return { kind: "markup_refused" };
		const result = await put(content, transactionOf(id, n, parts.length), plain, context);
		if (result.kind !== "sent") return result;
		ids.push(result.receipt);
	}
	return { kind: "sent", receipt: ids.join(",") };
}

/** Edits a message's text in place. */
export async function change(
	receipt: string,
	outgoing: Outgoing,
	transaction: string,
	context: DeliverContext,
): Promise<SendResult> {
	const { body, plain } = outgoing;
	if (Buffer.byteLength(body.plain) > context.limit)
		return { kind: "refused", reason: "the text is too long for one message" };
	const [event = ""] = receipt.split(",");
	const said = textOf(outgoing);
	const content = {
		msgtype: "m.text",
		body: `* ${body.plain.slice(0, FALLBACK)}`,
		"m.mentions": {},
		"m.new_content": said,
		"m.relates_to": { rel_type: "m.replace", event_id: event },
	};
	if (!plain && sizeOf(content) > CONTENT_LIMIT) return { kind: "markup_refused" };
	const result = await put(content, transaction, plain, context);
	return result.kind === "sent" ? { kind: "sent", receipt } : result;
}

export function isReceipt(receipt: string): boolean {
	return /^\$[^\s,]+(?:,\$[^\s,]+)*$/.test(receipt);
}

/** The same after a restart. Only the last event's id shows that the delivery is complete. */
function transactionOf(id: string, n: number, count: number): string {
	return n === count - 1 ? `keryx.${id}` : `keryx.${id}.${n}`;
}

/** The events of a delivery among those found by transaction id; null: it is not complete. */
export function eventsOf(id: string, found: ReadonlyMap<string, string>): readonly string[] | null {
	const last = found.get(`keryx.${id}`);
	if (last === undefined) return null;
	const ids: string[] = [];
	for (let n = 0; ; n++) {
		const event = found.get(`keryx.${id}.${n}`);
		if (event === undefined) return [...ids, last];
		ids.push(event);
	}
}

async function put(
	content: Content,
	transaction: string,
	plain: boolean,
	{ api, room, encrypt, lost }: DeliverContext,
): Promise<SendResult> {
	let [type, sent] = ["m.room.message", content];
	try {
		if (encrypt) [type, sent] = ["m.room.encrypted", await encrypt(type, content)];
	} catch (error) {
		return outcomeBefore(error);
	}
	const gone = lost();
	if (gone) return gone;
	try {
		const answer = await api.put(path`/_matrix/client/v3/rooms/${room.id}/send/${type}/${transaction}`, sent);
		return { kind: "sent", receipt: sentSchema.parse(answer).event_id };
	} catch (error) {
		throw new PutError(error, outcomeOf(error, plain));
	}
}

/** The last request failed, with this result. */
export class PutError extends Error {
	readonly result: SendResult;
	constructor(cause: unknown, result: SendResult) {
		super(reasonOf(cause), { cause });
		this.result = result;
	}
}

/** Nobody is notified by what an answer says: `m.mentions` is empty. */
function textOf({ body, plain }: Outgoing): Content {
	return {
		msgtype: "m.text",
		body: body.plain,
		...(!plain &&
			hasMarkup(body.text) && { format: "org.matrix.custom.html", formatted_body: formattedBody(body.text) }),
		"m.mentions": {},
	};
}

/** The thread, and the message that is answered. */
function relationOf({ threadId, replyTo, group }: Destination): Content {
	const reply = replyTo?.startsWith("$") ? replyTo : undefined;
	if (threadId !== undefined)
		return {
			"m.relates_to": {
				rel_type: "m.thread",
				event_id: threadId,
				is_falling_back: true,
				"m.in_reply_to": { event_id: reply ?? threadId },
			},
		};
	// In groups an answer shows what it replies to; in a private chat that is clear.
	return group && reply !== undefined ? { "m.relates_to": { "m.in_reply_to": { event_id: reply } } } : {};
}

async function fileOf(
	file: Attachment,
	said: Content,
	outgoing: Outgoing,
	{ api, encrypt, randomBytes }: DeliverContext,
): Promise<Content> {
	const { name, mediaType, size, blob } = file;
	const facts = {
		...said,
		msgtype: /^(image|audio|video)\//.test(mediaType) ? `m.${mediaType.split("/")[0]}` : "m.file",
		body: said.body === "" ? name : said.body,
		filename: name,
		info: { mimetype: mediaType, size },
	};
	const bytes = readable(outgoing, blob);
	if (!encrypt) return { ...facts, url: await api.upload(name, mediaType, Readable.from(bytes), size) };
	const secret = encrypting(bytes, randomBytes);
	const url = await api.upload("", "application/octet-stream", Readable.from(secret.bytes), size);
	return { ...facts, file: secret.facts(url) };
}

/** If a file cannot be read completely, the upload stays incomplete and the server refuses it. */
async function* readable(outgoing: Outgoing, blob: string): AsyncGenerator<Uint8Array> {
	try {
		yield* outgoing.openBlob(blob);
	} catch (error) {
		throw new NotSent(`the file could not be read: ${reasonOf(error)}`);
	}
}

function sizeOf(content: Content): number {
	return Buffer.byteLength(JSON.stringify(content));
}
