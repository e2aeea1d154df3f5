// Stores files piece by piece: memory holds one chunk at a time, and the size is checked on the way.
import type { KeryxError } from "../../errors.ts";
import type { Store } from "../../store/index.ts";

const CHUNK = 1024 * 1024;

export interface BlobLimit {
	readonly bytes: number;
	readonly error: () => KeryxError;
}

/** Returns the id of the finished blob. Throws over the limit; the partial data is removed within the hour. */
export async function putBlobStream(
	store: Store,
	pieces: AsyncIterable<Uint8Array>,
	{ mediaType, limit }: { readonly mediaType: string; readonly limit: BlobLimit },
): Promise<{ readonly id: string; readonly digest: string; readonly size: number }> {
	const { id } = await store.beginBlob({ mediaType });
	let size = 0;
	let n = 0;
	let waiting: Uint8Array[] = [];
	let length = 0;
	const write = async () => {
		if (length === 0) return;
		await store.putBlobChunk({ id, n, bytes: new Uint8Array(Buffer.concat(waiting)) });
		n++;
		waiting = [];
		length = 0;
	};
	const take = async (piece: Uint8Array): Promise<void> => {
		for (let at = 0; at < piece.length; ) {
			const part = piece.subarray(at, at + CHUNK - length);
			waiting.push(part);
			length += part.length;
			at += part.length;
			if (length === CHUNK) await write();
		}
	};
	// Before it is cut into chunks: a secret may span two of them.
	const hidden = store.secrets.byteStream();
	for await (const piece of pieces) {
		size += piece.length;
		if (size > limit.bytes) throw limit.error();
		await take(hidden.push(piece));
	}
	await take(hidden.end());
	await write();
	return { id, ...(await store.finishBlob({ id })) };
}
