// An incoming file: stored before its message is accepted. If it is too large or cannot be fetched, a sentence says so, and the message
// is never lost; if the store fails, nothing is accepted and the platform delivers again.
import type { Part } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import type { ChannelHost } from "../gateway/index.ts";
import type { Clock } from "../time/index.ts";

const TRIES = 4;
/** Before the second try; each later pause is twice as long. A connection that was cut is often back by then. */
const PAUSE_MS = 150;
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}/;

export interface IncomingFile {
	readonly name: string;
	readonly mediaType: string;
	/** As stated by the platform. */
	readonly size?: number | undefined;
}

export interface FileHost {
	readonly host: Pick<ChannelHost, "putBlob">;
	readonly clock: Clock;
	/** How long one file may take in total. */
	readonly deadlineMs: number;
	readonly isStopping: () => boolean;
}

export interface Fetched {
	readonly part: Part;
	readonly blob: string | null;
}

/** The platform did not provide the file. */
export class Unfetched extends Error {
	/** Permanent: the same would happen later. */
	readonly isFinal: boolean;

	constructor(reason: string, isFinal: boolean) {
		super(reason);
		this.isFinal = isFinal;
	}
}

/** Rejects with `Unfetched`, or if the store fails. */
export async function fetchInto(
	{ name, mediaType, size }: IncomingFile,
	open: () => Promise<AsyncIterable<Uint8Array>> | AsyncIterable<Uint8Array>,
	{ host, clock, isStopping }: FileHost,
	{ reasonOf, isFinal }: { reasonOf: (error: unknown) => string; isFinal: (error: unknown) => boolean },
): Promise<Fetched> {
	let reason = "";
	for (let tries = 0; tries < TRIES; tries++) {
		try {
			const facts = { name, mediaType, ...(size !== undefined && { size }) };
			const blob = await host.putBlob(await open(), facts);
			const type = /^(image|audio)\//.exec(mediaType)?.[1] as "image" | "audio" | undefined;
			return { part: { type: type ?? "file", blob, mediaType, name }, blob };
		} catch (error) {
			if (error instanceof KeryxError && error.code === "attachment.too_large")
				throw new Unfetched(error.message, true);
			if (error instanceof KeryxError || isStopping()) throw error;
			reason = reasonOf(error);
			if (isFinal(error)) throw new Unfetched(reason, true);
			if (tries + 1 < TRIES)
				await new Promise<void>((resolve) => void clock.after(PAUSE_MS * 2 ** tries, resolve));
		}
	}
	throw new Unfetched(reason, false);
}

/** A sentence instead of the file. */
export function notFetched(name: string, why: string): Fetched {
	return inWords(`[could not download the file ${JSON.stringify(name)}: ${why}]`);
}

export function inWords(text: string): Fetched {
	return { part: { type: "text", text }, blob: null };
}

/** As stated, if it is valid. */
export function mediaTypeOf(stated: string | undefined, otherwise = "application/octet-stream"): string {
	return MEDIA_TYPE.exec(stated?.toLowerCase() ?? "")?.[0] ?? otherwise;
}
