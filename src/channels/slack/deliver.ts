// Deliveries as Web API calls. Nothing is retried here: Slack's answer, or its absence, is the result.
import type { Outgoing, SendResult } from "../../gateway/index.ts";
import { metadataOf, receiptOf } from "./history.ts";
import { outcomeOf, reasonOf, wordOf } from "./outcome.ts";
import { NotSent, type Web } from "./web.ts";

/** An edited message may not be longer, though a new one may. */
export const TEXT_LIMIT = 4000;
const SECTION_LIMIT = 3000;
const LABEL_LIMIT = 75;
/** The message was deleted, or can no longer be edited: the answer must not be lost with it. */
const UNCHANGEABLE = new Set(["message_not_found", "edit_window_closed", "cant_update_message"]);
const TS = /^\d+\.\d+$/;

/** Slack fetches links to preview them: anyone who makes the agent write a link could learn something from its address. */
const NO_PREVIEWS = { unfurl_links: false, unfurl_media: false } as const;

type Attachment = NonNullable<Outgoing["body"]["attachments"]>[number];

export interface DeliverContext {
	readonly web: Web;
	/** Files being sent, by delivery: recorded before they are shown. */
	readonly onFiles: (delivery: string, files: readonly string[]) => void;
}

export function isReceipt(receipt: string): boolean {
	return TS.test(receipt) || receipt.startsWith("file:");
}

/** Rejects with the error of the call that failed. */
export async function deliver(outgoing: Outgoing, context: DeliverContext): Promise<SendResult> {
	const { destination, body } = outgoing;
	const tooLong = refusalOf(outgoing);
	if (tooLong) return tooLong;
	const files = body.attachments ?? [];
	const [first] = files;
	if (first) return deliverFiles(outgoing, files, context);
	const { ts } = await context.web.call<{ ts?: string }>("chat.postMessage", {
		channel: destination.chatId,
		...wordsOf(outgoing),
		...NO_PREVIEWS,
		...threadOf(outgoing),
		metadata: metadataOf(outgoing),
	});
	return { kind: "sent", receipt: String(ts) };
}

/** Edits a message's text and buttons in place. */
export async function change(
	receipt: string,
	outgoing: Outgoing,
	{ web }: DeliverContext,
): Promise<SendResult> {
	const tooLong = refusalOf(outgoing);
	if (tooLong) return tooLong;
	const channel = outgoing.destination.chatId;
	const ts = TS.test(receipt) ? receipt : await messageOf(receipt, channel, web);
	if (ts === undefined) return { kind: "refused", reason: "the message of this file is unknown" };
	const { blocks = [], ...words } = wordsOf(outgoing);
	try {
		// By default, an edit turns names into mentions.
		await web.call("chat.update", {
			channel,
			ts,
			...words,
			blocks,
			parse: "none",
			metadata: metadataOf(outgoing),
		});
	} catch (error) {
		if (UNCHANGEABLE.has(wordOf(error) ?? "")) return { kind: "missing" };
		throw error;
	}
	return { kind: "sent", receipt };
}

async function messageOf(receipt: string, channel: string, web: Web): Promise<string | undefined> {
	const [id] = receipt.slice("file:".length).split(",");
	interface Shares {
		readonly [where: string]: Readonly<Record<string, readonly { readonly ts?: string }[]>>;
	}
	const { file } = await web.call<{ file?: { shares?: Shares } }>("files.info", { file: id });
	return Object.values(file?.shares ?? {}).flatMap((where) => where[channel] ?? [])[0]?.ts;
}

async function deliverFiles(
	outgoing: Outgoing,
	files: readonly Attachment[],
	{ web, onFiles }: DeliverContext,
): Promise<SendResult> {
	const empty = files.find(({ size }) => size === 0);
	if (empty)
		return { kind: "refused", reason: `${empty.name} is empty, and Slack does not accept empty files` };
	const uploaded: { readonly id: string; readonly title: string }[] = [];
	for (const file of files) uploaded.push(await upload(file, outgoing, web).catch(unseen));
	const ids = uploaded.map(({ id }) => id);
	onFiles(outgoing.id, ids);
	const { text } = wordsOf(outgoing);
	await web.call("files.completeUploadExternal", {
		files: uploaded,
		channel_id: outgoing.destination.chatId,
		...(text !== "" && { initial_comment: text }),
		...threadOf(outgoing),
	});
	return { kind: "sent", receipt: receiptOf(ids) };
}

/** An upload is not visible yet: if its outcome is unknown, it may be repeated. */
function unseen(error: unknown): never {
	throw outcomeOf(error).kind === "unknown" ? new NotSent(reasonOf(error)) : error;
}

async function upload(
	{ blob, name }: Attachment,
	outgoing: Outgoing,
	web: Web,
): Promise<{ readonly id: string; readonly title: string }> {
	const bytes = await whole(outgoing.openBlob(blob));
	const { upload_url: url, file_id: id } = await web.call<{ upload_url?: string; file_id?: string }>(
		"files.getUploadURLExternal",
		{ filename: name || "file", length: bytes.length },
	);
	if (url === undefined || id === undefined) throw new NotSent("Slack gave no address for the upload");
	await web.upload(url, bytes);
	return { id, title: name || "file" };
}

async function whole(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
	const read: Uint8Array[] = [];
	try {
		for await (const piece of pieces) read.push(piece);
	} catch (error) {
		throw new NotSent(
			`the file could not be read: ${error instanceof Error ? error.message : String(error)}`,
		);
	}
	return new Uint8Array(Buffer.concat(read));
}

function refusalOf({ body, plain }: Outgoing): SendResult | null {
	const { length } = plain ? body.plain : body.text;
	return length <= TEXT_LIMIT
		? null
		: { kind: "refused", reason: `the text has ${length} characters, but Slack's limit is ${TEXT_LIMIT}` };
}

function threadOf({ destination: { threadId } }: Outgoing): object {
	return threadId === undefined ? {} : { thread_ts: threadId };
}

interface Words {
	readonly text: string;
	readonly mrkdwn: boolean;
	readonly link_names: false;
	readonly blocks?: readonly object[];
}

function wordsOf({ body, plain }: Outgoing): Words {
	const text = inert(plain ? body.plain : body.text);
	const said = { text, mrkdwn: !plain, link_names: false } as const;
	const { buttons = [] } = body;
	if (buttons.length === 0) return said;
	const type = plain ? "plain_text" : "mrkdwn";
	const sections = piecesOf(text).map((piece) => ({ type: "section", text: { type, text: piece } }));
	const rows = buttons.map((row) => ({
		type: "actions",
		elements: row.map(({ id, label, style = "plain" }) => ({
			type: "button",
			action_id: id,
			value: id,
			text: { type: "plain_text", text: label.slice(0, LABEL_LIMIT) || "…" },
			...(style !== "plain" && { style }),
		})),
	}));
	return { ...said, blocks: [...sections, ...rows] };
}

/** Rendered text has no mentions; this covers text from other paths. */
function inert(text: string): string {
	return text.replace(/<(?=[@#!])/g, "&lt;");
}

function piecesOf(text: string): readonly string[] {
	const pieces: string[] = [];
	for (let rest = text; rest !== ""; ) {
		const line = rest.lastIndexOf("\n", SECTION_LIMIT);
		const end = rest.length <= SECTION_LIMIT ? rest.length : line > 0 ? line : SECTION_LIMIT;
		pieces.push(rest.slice(0, end));
		rest = rest.slice(end);
	}
	return pieces;
}
