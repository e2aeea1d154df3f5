// Large and binary content, in chunks, unique per (conversation, digest). A blob is stored before its message is accepted; one that
// nothing adopts within an hour is deleted.
import { createHash } from "node:crypto";
import { KeryxError } from "../../../errors.ts";
import { all, type Context, get, type Op, run, sql } from "../../query.ts";
import type { Content, Part } from "../../types.ts";

const CHUNK = 1024 * 1024;
/** Longer text, in UTF-8 bytes, is stored as a blob, so that a row stays small. */
const LARGE_TEXT = 64 * 1024;
const UNADOPTED_MS = 3_600_000;

const insertBlob = sql(
	"INSERT INTO blobs (id, conversation, digest, media_type, size, complete, created_at, due_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
);
const insertChunk = sql("INSERT INTO blob_chunks (blob, n, body) VALUES (?, ?, ?)");
const findBlob = sql<BlobRow>(
	"SELECT id, conversation, digest, media_type, size, complete FROM blobs WHERE id = ?",
);
const findByDigest = sql<BlobRow>(
	"SELECT id, conversation, digest, media_type, size, complete FROM blobs WHERE conversation = ? AND digest = ?",
);
const adopt = sql("UPDATE blobs SET conversation = ?, due_at = NULL WHERE id = ?");
const complete = sql("UPDATE blobs SET complete = 1, digest = ?, size = ? WHERE id = ?");
const chunk = sql<{ body: Uint8Array }>("SELECT body FROM blob_chunks WHERE blob = ? AND n = ?");
const chunkCount = sql<{ n: number }>("SELECT count(*) AS n FROM blob_chunks WHERE blob = ?");
const dueBlobs = sql<{ id: string }>(
	"SELECT id FROM blobs WHERE due_at IS NOT NULL AND due_at <= ? ORDER BY due_at LIMIT ?",
);
const deleteChunks = sql("DELETE FROM blob_chunks WHERE blob = ?");
const deleteBlob = sql("DELETE FROM blobs WHERE id = ?");

interface BlobRow {
	readonly id: string;
	readonly conversation: string | null;
	readonly digest: string;
	readonly media_type: string;
	readonly size: number;
	readonly complete: number;
}

/** Starts a blob; its bytes follow with putBlobChunk, in order, and finishBlob seals it with its digest. */
export function* beginBlob(context: Context, args: { readonly mediaType: string }): Op<{ id: string }> {
	const id = context.uuid();
	yield* run(insertBlob, id, null, "", args.mediaType, 0, 0, context.now, context.now + UNADOPTED_MS);
	return { id };
}

export function* putBlobChunk(
	_: Context,
	args: { readonly id: string; readonly n: number; readonly bytes: Uint8Array },
): Op<void> {
	const blob = yield* get(findBlob, args.id);
	if (!blob || blob.complete)
		throw new KeryxError("store.not_found", `no open blob ${args.id}`, { field: "id" });
	if (args.bytes.byteLength > CHUNK)
		throw new KeryxError("argument.invalid", `bytes must be at most ${CHUNK} bytes a chunk`, {
			field: "bytes",
		});
	const { n } = (yield* get(chunkCount, args.id)) ?? { n: 0 };
	if (args.n < n) return;
	if (args.n > n)
		throw new KeryxError("argument.invalid", `chunk n must be ${n}, the next one`, { field: "n" });
	yield* run(insertChunk, args.id, args.n, args.bytes);
}

export function* finishBlob(_: Context, args: { readonly id: string }): Op<{ digest: string; size: number }> {
	const blob = yield* get(findBlob, args.id);
	if (!blob) throw new KeryxError("store.not_found", `no blob ${args.id}`, { field: "id" });
	if (blob.complete) return { digest: blob.digest, size: blob.size };
	const { n } = (yield* get(chunkCount, args.id)) ?? { n: 0 };
	const hash = createHash("sha256");
	let size = 0;
	for (let i = 0; i < n; i++) {
		const bytes = ((yield* get(chunk, args.id, i)) as { body: Uint8Array }).body;
		hash.update(bytes);
		size += bytes.byteLength;
	}
	const digest = hash.digest("hex");
	yield* run(complete, digest, size, args.id);
	return { digest, size };
}

/** Moves stored blobs into a conversation; duplicates are dropped. Returns their digests by id. */
export function* adoptBlobs(ids: readonly string[], conversation: string): Op<ReadonlyMap<string, string>> {
	const digests = new Map<string, string>();
	for (const id of ids) {
		const blob = yield* get(findBlob, id);
		if (!blob?.complete)
			throw new KeryxError("store.not_found", `no finished blob ${id}`, { field: "blobs" });
		digests.set(id, blob.digest);
		if (blob.conversation === conversation) continue;
		if (blob.conversation !== null)
			throw new KeryxError("store.not_found", `no finished blob ${id}`, { field: "blobs" });
		if (yield* get(findByDigest, conversation, blob.digest)) yield* dropBlob(id);
		else yield* run(adopt, conversation, id);
	}
	return digests;
}

/** Content as stored in a row: text over the limit is a reference to a blob of the conversation. */
export type StoredContent = string | TextBlob | readonly (Part | TextBlob)[];
interface TextBlob {
	readonly type: "text_blob";
	readonly digest: string;
}

export function* storeLargeText(context: Context, conversation: string, content: Content): Op<StoredContent> {
	if (typeof content === "string")
		return isLarge(content) ? yield* storeText(context, conversation, content) : content;
	if (!content.some((part) => part.type === "text" && isLarge(part.text))) return content;
	const stored: (Part | TextBlob)[] = [];
	for (const part of content) {
		if (part.type === "text" && isLarge(part.text))
			stored.push(yield* storeText(context, conversation, part.text));
		else stored.push(part);
	}
	return stored;
}

/** The inverse of storeLargeText: content exactly as appended. */
export function* loadLargeText(conversation: string, content: StoredContent): Op<Content> {
	if (typeof content === "string") return content;
	if ("digest" in content) return yield* loadText(conversation, content.digest);
	const parts: Part[] = [];
	for (const part of content) {
		if (part.type === "text_blob")
			parts.push({ type: "text", text: yield* loadText(conversation, part.digest) });
		else parts.push(part);
	}
	return parts;
}

function* storeText(context: Context, conversation: string, text: string): Op<TextBlob> {
	const bytes = new TextEncoder().encode(text);
	const digest = createHash("sha256").update(bytes).digest("hex");
	if (!(yield* get(findByDigest, conversation, digest))) {
		const id = `${conversation}/${digest}`;
		yield* run(
			insertBlob,
			id,
			conversation,
			digest,
			"text/plain; charset=utf-8",
			bytes.byteLength,
			1,
			context.now,
			null,
		);
		for (let n = 0; n * CHUNK < bytes.byteLength; n++)
			yield* run(insertChunk, id, n, bytes.subarray(n * CHUNK, (n + 1) * CHUNK));
	}
	return { type: "text_blob", digest };
}

function* loadText(conversation: string, digest: string): Op<string> {
	return new TextDecoder("utf-8", { ignoreBOM: true }).decode(yield* readBlobBytes(conversation, digest));
}

/** All bytes of a conversation's blob. A missing one is an error and never looks empty (I8). */
export function* readBlobBytes(conversation: string, digest: string): Op<Uint8Array> {
	const blob = yield* get(findByDigest, conversation, digest);
	if (!blob)
		throw new KeryxError("store.not_found", `no blob ${digest} in this conversation`, { field: "digest" });
	const bytes = new Uint8Array(blob.size);
	for (let n = 0, at = 0; at < blob.size; n++) {
		const part = yield* get(chunk, blob.id, n);
		if (!part) throw new KeryxError("store.corrupt", `blob ${digest} lacks chunk ${n}`);
		bytes.set(part.body, at);
		at += part.body.byteLength;
	}
	return bytes;
}

/** Gives another conversation of the same person its own copy of a blob. */
export function* copyBlob(context: Context, from: string, to: string, digest: string): Op<void> {
	const blob = yield* get(findByDigest, from, digest);
	if (!blob)
		throw new KeryxError("store.not_found", `no blob ${digest} in this conversation`, { field: "digest" });
	if (yield* get(findByDigest, to, digest)) return;
	const id = `${to}/${digest}`;
	yield* run(insertBlob, id, to, digest, blob.media_type, blob.size, 1, context.now, null);
	yield* run(copyChunks, id, blob.id);
}
const copyChunks = sql(
	"INSERT INTO blob_chunks (blob, n, body, body_key) SELECT ?, n, body, body_key FROM blob_chunks WHERE blob = ?",
);

/** Deletes blobs that no message adopted in time. */
export function* expireBlobs(context: Context, args: { readonly limit: number }): Op<{ dropped: number }> {
	const due = yield* all(dueBlobs, context.now, args.limit);
	for (const { id } of due) yield* dropBlob(id);
	return { dropped: due.length };
}

export function* dropBlob(id: string): Op<void> {
	yield* run(deleteChunks, id);
	yield* run(deleteBlob, id);
}

function isLarge(text: string): boolean {
	// A UTF-16 unit is at most three bytes: short text needs no counting. Text that UTF-8 cannot represent stays in the row.
	return text.length * 3 > LARGE_TEXT && Buffer.byteLength(text) > LARGE_TEXT && text.isWellFormed();
}
