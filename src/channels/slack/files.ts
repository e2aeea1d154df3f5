// Files that come with a message: stored before it is accepted. One that is too large or cannot be fetched becomes words that say so,
// never a lost message; where the store fails, nothing is accepted and Slack delivers again.
import type { Part } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import type { ChannelHost } from "../../gateway/index.ts";
import { reasonOf } from "./outcome.ts";
import type { WireFile } from "./source.ts";
import type { Web } from "./web.ts";

const TRIES = 3;
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;

export interface FileSource {
	readonly web: Web;
	readonly host: Pick<ChannelHost, "putBlob">;
	/** How long one file may take in all. */
	readonly deadlineMs: number;
	readonly isStopping: () => boolean;
}

export interface Fetched {
	readonly part: Part;
	readonly blob: string | null;
}

export async function fetchFile(given: WireFile, from: FileSource): Promise<Fetched> {
	const name = (given.name || given.title || "file").slice(0, 255);
	// Files of another workspace come without anything but their id.
	const file = given.file_access === "check_file_info" ? await wholeOf(given, from.web) : given;
	if (file.mode === "tombstone") return words(`[the file ${JSON.stringify(name)} was deleted]`);
	if (file.is_external || file.mode === "external")
		return words(
			`[the file ${JSON.stringify(name)} is stored elsewhere: ${file.url_private ?? "without an address"}]`,
		);
	const url = file.url_private_download ?? file.url_private;
	if (url === undefined) return notFetched(name, "Slack gives no address for it");
	let reason = "";
	for (let tries = 0; tries < TRIES; tries++) {
		try {
			return await store(file, { name, url }, from);
		} catch (error) {
			if (error instanceof KeryxError && error.code === "attachment.too_large")
				return notFetched(name, error.message);
			if (error instanceof KeryxError || from.isStopping()) throw error;
			reason = reasonOf(error);
			if (/HTTP status 4|may not read/.test(reason)) break;
		}
	}
	return notFetched(name, reason);
}

async function wholeOf(file: WireFile, web: Web): Promise<WireFile> {
	const answer = await web.call<{ file?: WireFile }>("files.info", { file: file.id }).catch(() => undefined);
	return answer?.file ?? file;
}

async function store(
	{ mimetype, size }: WireFile,
	{ name, url }: { readonly name: string; readonly url: string },
	{ web, host, deadlineMs }: FileSource,
): Promise<Fetched> {
	const stated = mimetype?.toLowerCase() ?? "";
	const mediaType = MEDIA_TYPE.test(stated) ? stated : "application/octet-stream";
	const facts = { name, mediaType, ...(size !== undefined && { size }) };
	const blob = await host.putBlob(web.download(url, deadlineMs), facts);
	const type = /^(image|audio)\//.exec(mediaType)?.[1] as "image" | "audio" | undefined;
	return { part: { type: type ?? "file", blob, mediaType, name }, blob };
}

function notFetched(name: string, why: string): Fetched {
	return words(`[could not download the file ${JSON.stringify(name)}: ${why}]`);
}

function words(text: string): Fetched {
	return { part: { type: "text", text }, blob: null };
}
