// Deliveries as requests. Nothing is retried here: Discord's answer, or its absence, is the result. Each message has a nonce derived from
// its delivery, so that a delivery repeated within minutes is shown once.
import type { RawFile, REST } from "@discordjs/rest";
import type { APIMessage } from "discord-api-types/v10";
import type { Outgoing, SendResult } from "../../gateway/index.ts";
import type { Destination } from "../../store/index.ts";
import { NotSent } from "../transport.ts";
import { NO_PREVIEWS, NOBODY } from "./interactions.ts";
import { CODE, hasCode, reasonOf } from "./outcome.ts";
import type { SentMessages } from "./sent.ts";
import { isSnowflake } from "./snowflake.ts";

const FILES = 10;
const TEXT_LIMIT = 2000;
const THREAD_NAME = 90;
const ROWS = 5;
const IN_ROW = 5;
const LABEL = 80;
const ACTION_ROW = 1;
const BUTTON = 2;
const STYLES = { primary: 1, plain: 2, danger: 4 } as const;
/** A thread without news is archived after a day. */
const PUT_AWAY_MINUTES = 1440;

type Attachment = NonNullable<Outgoing["body"]["attachments"]>[number];
type Made = Pick<APIMessage, "id" | "content" | "components" | "attachments">;

export interface DeliverContext {
	readonly rest: REST;
	readonly sent: SentMessages;
}

/** A destination's channel: a thread is a separate channel. */
export function channelOf({ chatId, threadId }: Destination): string {
	return threadId ?? chatId;
}

/** Rejects with the error of the request that failed. */
export async function deliver(outgoing: Outgoing, context: DeliverContext): Promise<SendResult> {
	const { id, destination, body } = outgoing;
	const attachments = body.attachments ?? [];
	const ids: string[] = [];
	for (let part = 0; part === 0 || part * FILES < attachments.length; part++) {
		const files = attachments.slice(part * FILES, (part + 1) * FILES);
		const said =
			part === 0 ? { ...contentOf(outgoing), ...replyOf(destination) } : { content: "", components: [] };
		const nonce = context.sent.nonceOf(id, part);
		const meant = {
			...said,
			nonce,
			enforce_nonce: true,
			allowed_mentions: NOBODY,
			flags: NO_PREVIEWS,
		};
		const { made, ...given } = await post(outgoing, meant, files, context);
		context.sent.add(nonce, made.id);
		if (!isAsSaid(made, given)) await correct(outgoing, made, given, context);
		ids.push(made.id);
	}
	return { kind: "sent", receipt: ids.join(",") };
}

export function isReceipt(receipt: string): boolean {
	return isSnowflake(messageOf(receipt));
}

/** Its first message, which has the text. */
function messageOf(receipt: string): string {
	return receipt.split(",")[0] ?? "";
}

/** Edits a message's text and buttons in place. */
export async function change(
	receipt: string,
	outgoing: Outgoing,
	{ rest, sent }: DeliverContext,
): Promise<SendResult> {
	const body = { ...contentOf(outgoing), allowed_mentions: NOBODY };
	try {
		await rest.patch(`/channels/${channelOf(outgoing.destination)}/messages/${messageOf(receipt)}`, { body });
	} catch (error) {
		if (!hasCode(error, CODE.unknownMessage)) throw error;
		sent.lost(outgoing.id, receipt);
		return { kind: "missing" };
	}
	return { kind: "sent", receipt };
}

/** A message's parts. */
interface Given {
	readonly said: SaidBody;
	readonly files: readonly Attachment[];
}

interface SaidBody {
	readonly content: string;
	readonly components: readonly unknown[];
}

async function post(
	outgoing: Outgoing,
	body: SaidBody & object,
	attachments: readonly Attachment[],
	{ rest }: DeliverContext,
): Promise<Given & { readonly made: Made }> {
	const { destination } = outgoing;
	const path = `/channels/${channelOf(destination)}/messages` as const;
	const send = async (said: SaidBody & object, files: readonly Attachment[]) => {
		const raw = await rawFiles(outgoing, files);
		const made = (await rest.post(path, { body: { ...said, ...namesOf(files) }, files: raw })) as Made;
		return { made, said, files };
	};
	const once = async () => {
		try {
			return await send(body, attachments);
		} catch (error) {
			if (attachments.length === 0 || !isTooLarge(error)) throw error;
			const names = attachments.map(({ name }) => name).join(", ");
			const note = `[${names}: too large for Discord]`;
			const content = `${body.content.slice(0, TEXT_LIMIT - note.length - 1)}\n${note}`;
			return send({ ...body, content }, []);
		}
	};
	try {
		return await once();
	} catch (error) {
		// The first answer opens the thread. It has the id of the message it starts with.
		if (destination.threadId === undefined || !hasCode(error, CODE.unknownChannel)) throw error;
		await openThread(destination, outgoing.body.plain, rest);
		return once();
	}
}

async function openThread({ chatId, threadId }: Destination, text: string, rest: REST): Promise<void> {
	const [line = ""] = text.trim().split("\n");
	const name = line.length > THREAD_NAME ? `${line.slice(0, THREAD_NAME - 1)}…` : line || "Answer";
	const body = { name, auto_archive_duration: PUT_AWAY_MINUTES };
	try {
		await rest.post(`/channels/${chatId}/messages/${threadId}/threads`, { body });
	} catch (error) {
		if (!hasCode(error, CODE.threadExists)) throw error;
	}
}

/** Otherwise Discord returned the message of an earlier attempt, which shows the earlier text. */
function isAsSaid({ content, attachments, components = [] }: Made, { said, files }: Given): boolean {
	return (
		content === said.content.trim() &&
		attachments.length === files.length &&
		JSON.stringify(buttonIds(components)) === JSON.stringify(buttonIds(said.components))
	);
}

function buttonIds(components: readonly unknown[]): readonly unknown[] {
	const rows = components as readonly { readonly components?: readonly { readonly custom_id?: string }[] }[];
	return rows.flatMap((row) => (row.components ?? []).map(({ custom_id: id }) => id));
}

async function correct(
	outgoing: Outgoing,
	{ id, attachments }: Made,
	{ said, files }: Given,
	{ rest }: DeliverContext,
): Promise<void> {
	const missing = attachments.length < files.length ? files : [];
	const body = {
		content: said.content,
		components: said.components,
		allowed_mentions: NOBODY,
		...namesOf(missing),
	};
	await rest.patch(`/channels/${channelOf(outgoing.destination)}/messages/${id}`, {
		body,
		files: await rawFiles(outgoing, missing),
	});
}

function isTooLarge(error: unknown): boolean {
	return hasCode(error, CODE.tooLarge) || (error as { readonly status?: number }).status === 413;
}

function namesOf(files: readonly Attachment[]): object {
	if (files.length === 0) return {};
	return {
		attachments: files.map(({ name, caption }, n) => ({
			id: n,
			filename: name,
			...(caption && { description: caption.slice(0, 1024) }),
		})),
	};
}

/** A file that cannot be read completely is not uploaded, so not accepted. */
async function rawFiles({ openBlob }: Outgoing, files: readonly Attachment[]): Promise<RawFile[]> {
	const raw: RawFile[] = [];
	for (const { blob, name, mediaType } of files) {
		const pieces: Uint8Array[] = [];
		try {
			for await (const piece of openBlob(blob)) pieces.push(piece);
		} catch (error) {
			throw new NotSent(`the file could not be read: ${reasonOf(error)}`);
		}
		raw.push({ name, data: Buffer.concat(pieces), contentType: mediaType });
	}
	return raw;
}

function contentOf({ body, plain }: Outgoing): SaidBody {
	return { content: plain ? body.plain : body.text, components: componentsOf(body.buttons ?? []) };
}

type Buttons = NonNullable<Outgoing["body"]["buttons"]>;

/** At most five rows of five; further rows are merged. */
function componentsOf(given: Buttons): readonly unknown[] {
	const all = given.flat();
	const rows =
		given.length <= ROWS && given.every((row) => row.length <= IN_ROW)
			? given
			: Array.from({ length: Math.ceil(all.length / IN_ROW) }, (_, n) =>
					all.slice(n * IN_ROW, (n + 1) * IN_ROW),
				);
	return rows
		.filter((row) => row.length > 0)
		.slice(0, ROWS)
		.map((row) => ({
			type: ACTION_ROW,
			components: row.map(({ id, label, style = "plain" }) => ({
				type: BUTTON,
				style: STYLES[style],
				custom_id: id,
				label: label.slice(0, LABEL),
			})),
		}));
}

/** In a server an answer shows what it replies to; in a private chat or its own thread that is clear. */
function replyOf({ group, replyTo, threadId }: Destination): object {
	if (!group || replyTo === undefined || !isSnowflake(replyTo) || replyTo === threadId) return {};
	return { message_reference: { message_id: replyTo, fail_if_not_exists: false } };
}
