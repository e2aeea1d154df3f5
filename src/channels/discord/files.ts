// Files of a message, only from Discord's own servers.
import type { APIAttachment } from "discord-api-types/v10";
import {
	type Fetched,
	type FileHost,
	fetchInto,
	mediaTypeOf,
	notFetched,
	Unfetched,
} from "../incoming-file.ts";
import type { Transport } from "../transport.ts";
import { reasonOf } from "./outcome.ts";

export interface FileSource extends FileHost {
	readonly transport: Transport;
	readonly apiRoot: string;
}

type Incoming = Pick<APIAttachment, "url" | "filename" | "size" | "content_type">;

export async function fetchFile(file: Incoming, from: FileSource): Promise<Fetched> {
	const { url, size, filename, content_type: stated } = file;
	const name = filename.slice(0, 255) || "file";
	if (!isDiscords(url, from.apiRoot)) return notFetched(name, "its address is not on Discord");
	const open = () => from.transport.download(url, from.deadlineMs);
	try {
		return await fetchInto({ name, mediaType: mediaTypeOf(stated), size }, open, from, {
			reasonOf,
			isFinal: () => false,
		});
	} catch (error) {
		if (error instanceof Unfetched) return notFetched(name, error.message);
		throw error;
	}
}

/** Discord's files come over TLS; those of another compatible server from that server. */
function isDiscords(url: string, apiRoot: string): boolean {
	if (!URL.canParse(url)) return false;
	const { protocol, host, hostname } = new URL(url);
	return (
		host === new URL(apiRoot).host ||
		(protocol === "https:" && /(?:^|\.)discord(?:app)?\.(?:com|net)$/.test(hostname))
	);
}
