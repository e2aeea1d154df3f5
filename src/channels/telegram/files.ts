// Files that come with a message: stored before it is accepted. One that is too large or cannot be fetched becomes words that say so,
// never a lost message; where the store or the network fails, nothing is accepted and Telegram delivers again.
import type { Api } from "grammy";
import type { Message } from "grammy/types";
import type { Part } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import type { ChannelHost } from "../../gateway/index.ts";
import type { Transport } from "../transport.ts";
import { isApiError, reasonOf } from "./outcome.ts";

/** The Bot API hands out no larger ones. */
const BOT_LIMIT = 20 * 1024 * 1024;
const TRIES = 3;
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;

interface Incoming {
	readonly id: string;
	readonly name: string;
	readonly mediaType: string;
	readonly size: number | undefined;
}

export interface FileSource {
	readonly api: Api;
	readonly transport: Transport;
	readonly apiRoot: string;
	readonly host: Pick<ChannelHost, "putBlob">;
	/** How long one file may take in all. */
	readonly deadlineMs: number;
	readonly isStopping: () => boolean;
	/** It was tried often enough: what cannot be fetched now becomes words. */
	readonly isLastTry: boolean;
}

/** The file could not be fetched this time; later it may be. */
export class FileUnreached extends Error {}

export interface Fetched {
	readonly part: Part;
	readonly blob: string | null;
}

/** The file of a message, if it has one. */
export function fileOf(message: Message): Incoming | null {
	const { photo, animation, document, video, video_note: note, audio, voice } = message;
	const largest = photo?.at(-1);
	if (largest) return incoming(largest, "photo.jpg", "image/jpeg");
	// An animation comes as a document too.
	if (animation) return incoming(animation, "animation.mp4", "video/mp4");
	if (document) return incoming(document, "file", "application/octet-stream");
	if (video) return incoming(video, "video.mp4", "video/mp4");
	if (note) return incoming(note, "video.mp4", "video/mp4");
	if (audio) return incoming(audio, "audio.mp3", "audio/mpeg");
	return voice ? incoming(voice, "voice.ogg", "audio/ogg") : null;
}

export async function fetchFile(file: Incoming, from: FileSource): Promise<Fetched> {
	const { name, size = 0 } = file;
	if (size > BOT_LIMIT)
		return notFetched(name, `it has ${megabytes(size)}, and Telegram does not give bots files over 20 MB`);
	let reason = "";
	for (let tries = 0; tries < TRIES; tries++) {
		try {
			return await store(file, from);
		} catch (error) {
			if (error instanceof KeryxError && error.code === "attachment.too_large")
				return notFetched(name, error.message);
			if (error instanceof KeryxError || from.isStopping()) throw error;
			reason = reasonOf(error);
			if (isApiError(error) && error.error_code < 500) return notFetched(name, reason);
		}
	}
	if (!from.isLastTry) throw new FileUnreached(reason);
	return notFetched(name, reason);
}

async function store(
	{ id, name, mediaType, size }: Incoming,
	{ api, transport, apiRoot, host, deadlineMs }: FileSource,
): Promise<Fetched> {
	const { file_path: path = "" } = await api.getFile(id);
	const safe = path.split("/").map(encodeURIComponent).join("/");
	const bytes = transport.download(`${apiRoot}/file/bot${api.token}/${safe}`, deadlineMs);
	const facts = { name, mediaType, ...(size !== undefined && { size }) };
	const blob = await host.putBlob(bytes, facts);
	const type = /^(image|audio)\//.exec(mediaType)?.[1] as "image" | "audio" | undefined;
	return { part: { type: type ?? "file", blob, mediaType, name }, blob };
}

function notFetched(name: string, why: string): Fetched {
	return {
		part: { type: "text", text: `[could not download the file ${JSON.stringify(name)}: ${why}]` },
		blob: null,
	};
}

function incoming(
	file: { file_id: string; file_size?: number; file_name?: string; mime_type?: string },
	name: string,
	mediaType: string,
): Incoming {
	const stated = file.mime_type?.toLowerCase() ?? "";
	return {
		id: file.file_id,
		name: (file.file_name || name).slice(0, 255),
		mediaType: MEDIA_TYPE.test(stated) ? stated : mediaType,
		size: file.file_size,
	};
}

function megabytes(bytes: number): string {
	return `${Math.ceil(bytes / 1024 / 1024)} MB`;
}
