// A tool's bytes: stored as blobs in the same way as those of inbound messages; the row that refers to them adopts them.
import type { Content, Part } from "../../../domain/index.ts";
import type { Store } from "../../../store/index.ts";
import type { ToolPart, ToolResult } from "../../../tools/index.ts";

const CHUNK = 1024 * 1024;

/** The content as stored in a row, and the blobs its row must adopt. */
export async function storeAttachments(
	store: Store,
	content: ToolResult["content"],
): Promise<{ readonly content: Content; readonly blobs: readonly string[] }> {
	if (typeof content === "string") return { content, blobs: [] };
	const parts: Part[] = [];
	const blobs: string[] = [];
	for (const part of content) {
		if (!("data" in part)) {
			parts.push(part);
			continue;
		}
		const { id, digest } = await putBlob(store, part);
		const { type, mediaType, name, sent } = part;
		parts.push({
			type,
			blob: digest,
			mediaType,
			...(name !== undefined && { name }),
			...(sent && { sent }),
		});
		blobs.push(id);
	}
	return { content: parts, blobs };
}

async function putBlob(
	store: Store,
	{ data: given, mediaType }: Extract<ToolPart, { readonly data: Uint8Array }>,
): Promise<{ id: string; digest: string }> {
	const { id } = await store.beginBlob({ mediaType });
	// Whole: a secret may span two chunks.
	const data = store.secrets.hideBytes(given);
	for (let n = 0; n * CHUNK < data.byteLength; n++)
		await store.putBlobChunk({ id, n, bytes: data.slice(n * CHUNK, (n + 1) * CHUNK) });
	const { digest } = await store.finishBlob({ id });
	return { id, digest };
}
