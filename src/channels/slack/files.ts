// Files of a message. Some cannot be fetched.
import {
	type Fetched,
	type FileHost,
	fetchInto,
	inWords,
	mediaTypeOf,
	notFetched,
	Unfetched,
} from "../incoming-file.ts";
import { reasonOf } from "./outcome.ts";
import type { WireFile } from "./source.ts";
import type { Web } from "./web.ts";

export interface FileSource extends FileHost {
	readonly web: Web;
}

export async function fetchFile(given: WireFile, from: FileSource): Promise<Fetched> {
	const name = (given.name || given.title || "file").slice(0, 255);
	// Files of another workspace have only an id.
	const file = given.file_access === "check_file_info" ? await wholeOf(given, from.web) : given;
	if (file.mode === "tombstone") return inWords(`[the file ${JSON.stringify(name)} was deleted]`);
	if (file.is_external || file.mode === "external")
		return inWords(
			`[the file ${JSON.stringify(name)} is stored elsewhere: ${file.url_private ?? "without an address"}]`,
		);
	const url = file.url_private_download ?? file.url_private;
	if (url === undefined) return notFetched(name, "Slack gives no address for it");
	const incoming = { name, mediaType: mediaTypeOf(file.mimetype), size: file.size };
	try {
		return await fetchInto(incoming, () => from.web.download(url, from.deadlineMs), from, {
			reasonOf,
			isFinal: (error) => /HTTP status 4|may not read/.test(reasonOf(error)),
		});
	} catch (error) {
		if (error instanceof Unfetched) return notFetched(name, error.message);
		throw error;
	}
}

async function wholeOf(file: WireFile, web: Web): Promise<WireFile> {
	const answer = await web.call<{ file?: WireFile }>("files.info", { file: file.id }).catch(() => undefined);
	return answer?.file ?? file;
}
