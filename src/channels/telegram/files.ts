// Files of a message. If Telegram cannot be reached, nothing is accepted and it redelivers.
import type { Api } from "grammy";
import type { Message } from "grammy/types";
import {
	type Fetched,
	type FileHost,
	fetchInto,
	type IncomingFile,
	mediaTypeOf,
	notFetched,
	Unfetched,
} from "../incoming-file.ts";
import type { Transport } from "../transport.ts";
import { isApiError, reasonOf } from "./outcome.ts";

/** The Bot API provides no larger ones. */
const BOT_LIMIT = 20 * 1024 * 1024;

interface Incoming extends IncomingFile {
	readonly id: string;
}

export interface FileSource extends FileHost {
	readonly api: Api;
	readonly transport: Transport;
	readonly apiRoot: string;
	/** Tried often enough: a file that cannot be fetched now becomes a sentence. */
	readonly isLastTry: boolean;
}

/** The file could not be fetched this time; later it may be. */
export class FileUnreached extends Error {}

/** The file of a message, if it has one. */
export function fileOf(message: Message): Incoming | null {
	const { photo, live_photo: live, animation, document, video, video_note: note, audio, voice } = message;
	const largest = (photo ?? live?.photo)?.at(-1);
	if (largest) return incoming(largest, "photo.jpg", "image/jpeg");
	// An animation also comes as a document.
	if (animation) return incoming(animation, "animation.mp4", "video/mp4");
	if (document) return incoming(document, "file", "application/octet-stream");
	if (live) return incoming(live, "video.mp4", "video/mp4");
	if (video) return incoming(video, "video.mp4", "video/mp4");
	if (note) return incoming(note, "video.mp4", "video/mp4");
	if (audio) return incoming(audio, "audio.mp3", "audio/mpeg");
	return voice ? incoming(voice, "voice.ogg", "audio/ogg") : null;
}

export async function fetchFile(file: Incoming, from: FileSource): Promise<Fetched> {
	const { name, size = 0 } = file;
	if (size > BOT_LIMIT)
		return notFetched(name, `it has ${megabytes(size)}, and Telegram does not give bots files over 20 MB`);
	const { api, transport, apiRoot, deadlineMs } = from;
	const open = async () => {
		const { file_path: path = "" } = await api.getFile(file.id);
		const safe = path.split("/").map(encodeURIComponent).join("/");
		return transport.download(`${apiRoot}/file/bot${api.token}/${safe}`, deadlineMs);
	};
	try {
		return await fetchInto(file, open, from, {
			reasonOf,
			isFinal: (error) => isApiError(error) && error.error_code < 500,
		});
	} catch (error) {
		if (!(error instanceof Unfetched)) throw error;
		if (!error.isFinal && !from.isLastTry) throw new FileUnreached(error.message);
		return notFetched(name, error.message);
	}
}

function incoming(
	file: { file_id: string; file_size?: number; file_name?: string; mime_type?: string },
	name: string,
	mediaType: string,
): Incoming {
	return {
		id: file.file_id,
		name: (file.file_name || name).slice(0, 255),
		mediaType: mediaTypeOf(file.mime_type, mediaType),
		size: file.file_size,
	};
}

function megabytes(bytes: number): string {
	return `${Math.ceil(bytes / 1024 / 1024)} MB`;
}
