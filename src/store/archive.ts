// Retention: archive, verify, delete, in this order. A crash in between leaves everything, or everything plus an archive. The archive is
// an ordinary export, so it can be imported again. Its name consists of ids and a digest (I10).
import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ConversationId } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import type { Held, Unchanged } from "./operations/sessions/retention.ts";
import { OPERATOR } from "./operator.ts";
import type { Store } from "./store.ts";
import { exportJsonl, linesOf } from "./transfer.ts";
import { TransferOrder } from "./transfer-order.ts";
import { parseLine } from "./transfer-parse.ts";

export interface Archive {
	readonly path: string;
	readonly name: string;
	/** SHA-256 of the file. */
	readonly digest: string;
	readonly lines: number;
	/** The conversation when the archive was started. */
	readonly unchanged: Unchanged;
}

export interface ArchiveOptions {
	readonly conversation: ConversationId;
	/** The archive folder; created private if missing. */
	readonly directory: string;
}

/** Writes a conversation to a separate file and reads it back completely. Throws archive.failed, and leaves no partial file. */
export async function archiveConversation(
	store: Store,
	{ conversation, directory }: ArchiveOptions,
): Promise<Archive> {
	if (!/^[0-9A-Za-z_-]{1,128}$/.test(conversation))
		throw new KeryxError("argument.invalid", "conversation must be an id made by Keryx", {
			field: "conversation",
		});
	const { unchanged } = await store.retentionState({ scope: OPERATOR, conversation });
	const part = join(directory, `${conversation}.part`);
	try {
		await mkdir(directory, { recursive: true, mode: 0o700 });
		await rm(part, { force: true });
		const { digest, lines } = await write(store, conversation, part);
		await verify(part, digest, lines);
		const name = `${conversation}.${digest.slice(0, 16)}.jsonl`;
		const path = join(directory, name);
		await rename(part, path);
		await syncDirectory(directory);
		return { path, name, digest, lines, unchanged };
	} catch (cause) {
		// If it cannot be removed either, the next attempt overwrites it.
		await rm(part, { force: true }).catch(() => {});
		throw archiveError(conversation, cause);
	}
}

/** A store fault keeps its own error; anything else becomes archive.failed. */
function archiveError(conversation: ConversationId, cause: unknown): KeryxError {
	if (cause instanceof KeryxError && cause.code.startsWith("store.")) return cause;
	const why = cause instanceof Error ? cause.message : String(cause);
	return new KeryxError("archive.failed", `conversation ${conversation} could not be archived: ${why}`, {
		cause,
	});
}

const WRITE_SIZE = 256 * 1024;

interface Written {
	readonly digest: string;
	readonly lines: number;
}

async function write(store: Store, conversation: ConversationId, path: string): Promise<Written> {
	const file = await open(path, "wx", 0o600);
	try {
		const hash = createHash("sha256");
		let lines = 0;
		let gathered: string[] = [];
		let length = 0;
		const flush = async (): Promise<void> => {
			const bytes = Buffer.from(gathered.join(""));
			hash.update(bytes);
			await file.writeFile(bytes);
			gathered = [];
			length = 0;
		};
		const what = { kind: "conversation", id: conversation } as const;
		for await (const line of exportJsonl(store, { scope: OPERATOR, what })) {
			gathered.push(line);
			length += line.length;
			lines++;
			if (length >= WRITE_SIZE) await flush();
		}
		await flush();
		await file.sync();
		return { digest: hash.digest("hex"), lines };
	} finally {
		await file.close();
	}
}

/** Reads every byte again: same digest, same number of lines, each accepted by an import. */
async function verify(path: string, digest: string, lines: number): Promise<void> {
	const file = await open(path, "r");
	try {
		const hash = createHash("sha256");
		const order = new TransferOrder();
		let read = 0;
		for await (const line of linesOf(hashed(file, hash))) order.take(parseLine(line, ++read), read);
		order.finish(read);
		if (hash.digest("hex") !== digest || read !== lines)
			throw new KeryxError("archive.failed", "reading it back gives something else");
	} finally {
		await file.close();
	}
}

async function* hashed(
	file: FileHandle,
	hash: { update(bytes: Uint8Array): unknown },
): AsyncGenerator<Uint8Array> {
	for await (const chunk of file.createReadStream({ autoClose: false })) {
		hash.update(chunk as Uint8Array);
		yield chunk as Uint8Array;
	}
}

/** Syncs the file's name too, or a crash could leave the rows deleted and the archive nameless. */
async function syncDirectory(directory: string): Promise<void> {
	const handle = await open(directory, "r");
	try {
		await handle.sync();
	} finally {
		await handle.close();
	}
}

export interface PruneOptions extends ArchiveOptions {
	/** Whether a process or a confirmation still belongs to the conversation. */
	readonly held: boolean;
}

export type Pruned =
	| { readonly kind: "deleted"; readonly archive: Archive }
	| { readonly kind: "kept"; readonly reason: Held };

/**
 * Archives and deletes one conversation. A live session is ended first, and the conversation is kept until that end is finalised; it is
 * also kept if anything holds it or happens to it meanwhile. Call again later.
 */
export async function pruneConversation(store: Store, options: PruneOptions): Promise<Pruned> {
	const { conversation, directory, held } = options;
	if (held) return { kind: "kept", reason: "held" };
	const state = await store.retentionState({ scope: OPERATOR, conversation });
	if (state.held !== null) return { kind: "kept", reason: state.held };
	if (state.live !== null) {
		const { ended } = await store.retireConversation({ conversation, unchanged: state.unchanged });
		return { kind: "kept", reason: ended === null ? "changed" : "finalising" };
	}
	const archive = await archiveConversation(store, { conversation, directory });
	const { unchanged, name, digest } = archive;
	const result = await store.deleteConversation({ conversation, unchanged, held, archive: { name, digest } });
	if (result.kind === "deleted") return { kind: "deleted", archive };
	// Nothing was deleted, so this copy is incomplete.
	await rm(archive.path, { force: true });
	return result;
}
