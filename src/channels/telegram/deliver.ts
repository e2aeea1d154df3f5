// Deliveries as Bot API calls. Nothing is retried here: Telegram's answer, or its absence, is the result.
import type { Api } from "grammy";
import type {
	InlineKeyboardMarkup,
	InputMediaAudio,
	InputMediaDocument,
	InputMediaPhoto,
} from "grammy/types";
import type { Outgoing, SendResult } from "../../gateway/index.ts";
import { NotSent } from "../transport.ts";
import { isApiError, movedTo, outcomeOf, reasonOf } from "./outcome.ts";
import { readReceipt, receiptOf } from "./receipts.ts";

/** The caption of a file. */
export const CAPTION_LIMIT = 1024;
const ALBUM = 10;
const PHOTO = /^image\/(?:jpeg|png|webp)$/;
const AUDIO = /^audio\/(?:mpeg|mp4|x-m4a)$/;

/** Telegram fetches links to preview them: anyone who makes the agent write a link could learn something from its address. */
const NO_PREVIEWS = { link_preview_options: { is_disabled: true } } as const;

type Attachment = NonNullable<Outgoing["body"]["attachments"]>[number];
type Kind = "photo" | "audio" | "document";

export interface DeliverContext {
	readonly api: Api;
	/** grammY's class, loaded when a channel starts. */
	readonly InputFile: typeof import("grammy").InputFile;
	/** The chat's current id: a group that became a supergroup has another. */
	readonly chatNow: (chatId: string) => string;
}

/**
 * One call, so that its result is known as a whole: with two, the second could fail when people already see the first. Rejects with the
 * call's error; the caller handles a group's move.
 */
export async function deliver(outgoing: Outgoing, context: DeliverContext): Promise<SendResult> {
	const { body, destination } = outgoing;
	const runs = runsOf(body.attachments ?? []);
	const [files] = runs;
	if (runs.length > 1)
		return {
			kind: "refused",
			reason: "Telegram shows files of different kinds, or more than ten, as several messages",
		};
	if (files && body.plain.length > CAPTION_LIMIT)
		return { kind: "refused", reason: `a caption can have at most ${CAPTION_LIMIT} characters` };
	const ids = files ? await sendFiles(files, outgoing, context) : await sendText(outgoing, context);
	return { kind: "sent", receipt: receiptOf(destination.chatId, ids, context) };
}

/** Edits a message's text and buttons in place. */
export async function change(
	receipt: string,
	outgoing: Outgoing,
	context: DeliverContext,
): Promise<SendResult> {
	const { chat = outgoing.destination.chatId, ids } = readReceipt(receipt);
	const [id = 0] = ids;
	const { text, mode } = textOf(outgoing);
	const options = { ...mode, reply_markup: keyboardOf(outgoing) ?? { inline_keyboard: [] } };
	try {
		await context.api
			.editMessageText(chat, id, text, { ...options, ...NO_PREVIEWS })
			.catch((error: unknown) => {
				if (!isApiError(error) || !/no text in the message/i.test(error.description)) throw error;
				return context.api.editMessageCaption(chat, id, { caption: text, ...options });
			});
	} catch (error) {
		// A message stays in the group it was sent to, whatever that became.
		if (movedTo(error) !== null && context.chatNow(chat) !== chat) return { kind: "missing" };
		if (!isApiError(error)) throw error;
		if (/message to edit not found|MESSAGE_ID_INVALID/i.test(error.description)) return { kind: "missing" };
		// It already shows the text: nothing is wrong.
		if (!/message is not modified/i.test(error.description)) throw error;
	}
	return { kind: "sent", receipt };
}

async function sendText(outgoing: Outgoing, context: DeliverContext): Promise<readonly number[]> {
	const { text, mode } = textOf(outgoing);
	const chat = context.chatNow(outgoing.destination.chatId);
	const options = { ...sendOptions(outgoing), ...mode, ...NO_PREVIEWS };
	return [(await context.api.sendMessage(chat, text, options)).message_id];
}

/** Where in the chat, replying to what, and with which buttons. */
function sendOptions(outgoing: Outgoing) {
	const { threadId } = outgoing.destination;
	const keyboard = keyboardOf(outgoing);
	return {
		...(threadId !== undefined && { message_thread_id: Number(threadId) }),
		...replyOf(outgoing.destination),
		...(keyboard && { reply_markup: keyboard }),
	};
}

interface Run {
	readonly kind: Kind;
	readonly files: readonly Attachment[];
}

/** Albums contain files of one kind, at most ten. */
function runsOf(attachments: readonly Attachment[]): readonly Run[] {
	const runs: { kind: Kind; files: Attachment[] }[] = [];
	for (const file of attachments) {
		const kind = kindOf(file);
		const last = runs.at(-1);
		if (last?.kind === kind && last.files.length < ALBUM) last.files.push(file);
		else runs.push({ kind, files: [file] });
	}
	return runs;
}

async function sendFiles(
	{ kind, files }: Run,
	outgoing: Outgoing,
	context: DeliverContext,
): Promise<readonly number[]> {
	const { api, InputFile } = context;
	const chat = context.chatNow(outgoing.destination.chatId);
	const common = sendOptions(outgoing);
	const { text, mode } = textOf(outgoing);
	const said = text === "" ? {} : { caption: text, ...mode };
	const input = ({ blob, name }: Attachment) => new InputFile(readable(outgoing, blob), nameOf(name));
	const [first] = files;
	if (!first) return [];
	if (files.length > 1) {
		const media = files.map((file, n) => ({
			type: kind,
			media: input(file),
			...(n === 0 ? said : file.caption ? { caption: file.caption } : {}),
		}));
		const sent = await api.sendMediaGroup(
			chat,
			media as InputMediaPhoto[] | InputMediaAudio[] | InputMediaDocument[],
			common,
		);
		return sent.map(({ message_id: id }) => id);
	}
	const options = { ...common, ...said };
	if (kind === "audio") return [(await api.sendAudio(chat, input(first), options)).message_id];
	if (kind === "photo")
		try {
			return [(await api.sendPhoto(chat, input(first), options)).message_id];
		} catch (error) {
			// Too large or too long for a picture; accepted as a file.
			if (!isApiError(error) || !/PHOTO_|IMAGE_PROCESS|too big|too large/i.test(error.description))
				throw error;
		}
	return [(await api.sendDocument(chat, input(first), options)).message_id];
}

/** A file that cannot be read completely is not uploaded completely, so not accepted. */
async function* readable(outgoing: Outgoing, blob: string): AsyncGenerator<Uint8Array> {
	try {
		yield* outgoing.openBlob(blob);
	} catch (error) {
		throw new NotSent(`the file could not be read: ${reasonOf(error)}`);
	}
}

function kindOf({ mediaType }: Attachment): Kind {
	if (PHOTO.test(mediaType)) return "photo";
	return AUDIO.test(mediaType) ? "audio" : "document";
}

/** The upload format cannot quote. */
function nameOf(name: string): string {
	return name.replace(/[\r\n";\\/]/g, "_") || "file";
}

function textOf({ body, plain }: Outgoing): {
	readonly text: string;
	readonly mode: { readonly parse_mode?: "HTML" };
} {
	return plain ? { text: body.plain, mode: {} } : { text: body.text, mode: { parse_mode: "HTML" } };
}

/** In groups an answer shows what it replies to; in a private chat that is clear. */
function replyOf({ chatId, replyTo }: Outgoing["destination"]): object {
	if (!chatId.startsWith("-") || replyTo === undefined || !/^\d+$/.test(replyTo)) return {};
	return { reply_parameters: { message_id: Number(replyTo), allow_sending_without_reply: true } };
}

const STYLES = { primary: "primary", danger: "danger", plain: undefined } as const;

function keyboardOf({ body }: Outgoing): InlineKeyboardMarkup | undefined {
	if (!body.buttons || body.buttons.length === 0) return undefined;
	return {
		inline_keyboard: body.buttons.map((row) =>
			row.map(({ id, label, style = "plain" }) => {
				const colour = STYLES[style];
				return { text: label, callback_data: id, ...(colour && { style: colour }) };
			}),
		),
	};
}

/** Makes a call; if the chat has moved meanwhile, once more with its new id, because the first was refused. */
export async function followingMoves(
	call: () => Promise<SendResult>,
	onMoved: (toChatId: string) => Promise<void>,
	onError: (error: unknown) => Promise<void>,
): Promise<SendResult> {
	try {
		return await call();
	} catch (error) {
		const to = movedTo(error);
		if (to === null) {
			await onError(error);
			return outcomeOf(error);
		}
		await onMoved(to);
	}
	try {
		return await call();
	} catch (error) {
		await onError(error);
		return outcomeOf(error);
	}
}
