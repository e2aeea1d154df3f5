// Files that come with a message: stored before it is accepted. One that is too large or cannot be fetched becomes words that say so,
// never a lost message; where the store fails, nothing is accepted and Discord is asked again.
import type { APIAttachment } from "discord-api-types/v10";
import type { Part } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import type { ChannelHost } from "../../gateway/index.ts";
import type { Transport } from "../transport.ts";
import { reasonOf } from "./outcome.ts";

const TRIES = 3;
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}/;

export interface FileSource {
	readonly transport: Transport;
	readonly apiRoot: string;
	readonly host: Pick<ChannelHost, "putBlob">;
	/** How long one file may take in all. */
	readonly deadlineMs: number;
	readonly isStopping: () => boolean;
}

export interface Fetched {
	readonly part: Part;
	readonly blob: string | null;
}

type Incoming = Pick<APIAttachment, "url" | "filename" | "size" | "content_type">;

export async function fetchFile(file: Incoming, from: FileSource): Promise<Fetched> {
	const name = file.filename.slice(0, 255) || "file";
	if (!isDiscords(file.url, from.apiRoot)) return notFetched(name, "its address is not on Discord");
	let reason = "";
	for (let tries = 0; tries < TRIES; tries++) {
		try {
			return await store(file, name, from);
		} catch (error) {
			if (error instanceof KeryxError && error.code === "attachment.too_large")
				return notFetched(name, error.message);
			if (error instanceof KeryxError || from.isStopping()) throw error;
			reason = reasonOf(error);
		}
	}
	return notFetched(name, reason);
}

/** Discord's files come over TLS; those of another server of its protocol from that server. */
function isDiscords(url: string, apiRoot: string): boolean {
	if (!URL.canParse(url)) return false;
	const { protocol, host, hostname } = new URL(url);
	return (
		host === new URL(apiRoot).host ||
		(protocol === "https:" && /(?:^|\.)discord(?:app)?\.(?:com|net)$/.test(hostname))
	);
}

async function store(
	{ url, size, content_type: stated = "" }: Incoming,
	name: string,
	{ transport, host, deadlineMs }: FileSource,
): Promise<Fetched> {
	const mediaType = MEDIA_TYPE.exec(stated.toLowerCase())?.[0] ?? "application/octet-stream";
	const blob = await host.putBlob(transport.download(url, deadlineMs), { name, mediaType, size });
	const type = /^(image|audio)\//.exec(mediaType)?.[1] as "image" | "audio" | undefined;
	return { part: { type: type ?? "file", blob, mediaType, name }, blob };
}

function notFetched(name: string, why: string): Fetched {
	return {
		part: { type: "text", text: `[could not download the file ${JSON.stringify(name)}: ${why}]` },
		blob: null,
	};
}
