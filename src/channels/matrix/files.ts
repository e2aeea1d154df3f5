// Files of a message, from the homeserver. If it cannot be reached, nothing is accepted and the sync brings the message again.
import {
	type Fetched,
	type FileHost,
	fetchInto,
	mediaTypeOf,
	notFetched,
	Unfetched,
} from "../incoming-file.ts";
import { NoAnswer } from "../transport.ts";
import type { Api } from "./api.ts";
import { decrypting, readEncryptedFile, WrongFile } from "./encrypted-file.ts";
import { reasonOf } from "./outcome.ts";
import { objectOf, textIn } from "./wire.ts";

export interface FileSource extends FileHost {
	readonly api: Api;
	/** The last attempt: if the file cannot be fetched now, a sentence replaces it. */
	readonly isLastTry: boolean;
}

/** The file could not be fetched this time; later it may be. */
export class FileUnreached extends Error {}

export async function fetchFile(content: unknown, from: FileSource): Promise<Fetched> {
	const { file, url, info } = objectOf(content);
	const name = (textIn(content, "filename") ?? textIn(content, "body") ?? "").slice(0, 255) || "file";
	const { mimetype, size } = objectOf(info);
	const encrypted = readEncryptedFile(file);
	const address = encrypted?.url ?? url;
	const [, server, media] =
		/^mxc:\/\/([^/]+)\/([^/?#]+)$/.exec(typeof address === "string" ? address : "") ?? [];
	if (server === undefined || media === undefined) return notFetched(name, "its address cannot be read");
	const open = () => {
		const bytes = from.api.download(server, media, from.deadlineMs);
		return encrypted ? decrypting(bytes, encrypted) : bytes;
	};
	const facts = {
		name,
		mediaType: mediaTypeOf(typeof mimetype === "string" ? mimetype : undefined),
		...(typeof size === "number" && { size }),
	};
	try {
		return await fetchInto(facts, open, from, { reasonOf, isFinal });
	} catch (error) {
		if (!(error instanceof Unfetched)) throw error;
		if (!error.isFinal && !from.isLastTry) throw new FileUnreached(error.message);
		return notFetched(name, error.message);
	}
}

/** The server has no such file, or the bytes differ. */
function isFinal(error: unknown): boolean {
	return (
		error instanceof WrongFile || (error instanceof NoAnswer && /^HTTP status 4\d\d$/.test(error.message))
	);
}
