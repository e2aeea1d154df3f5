// The archives that retention made: files in a folder per month. Lists, reads and restores them.
import { createHash } from "node:crypto";
import { createReadStream, existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type ConversationId, contentText, conversationId } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import { importJsonl, linesOf, type Store } from "../store/index.ts";

const MONTH = /^\d{4}-\d{2}$/;
/** How archives are named: the conversation, and the start of the file's digest (I10). */
const NAME = /^([0-9A-Za-z_-]{1,128})\.([0-9a-f]{16})\.jsonl$/;

interface ArchiveFile {
	/** The folder of its month, and its name. */
	readonly name: string;
	readonly conversation: ConversationId;
	readonly bytes: number;
	readonly archivedAt: number;
}

interface ArchiveSummary extends ArchiveFile {
	readonly key: string;
	readonly title: string;
	readonly lastActivityAt: number;
}

/** Newest month first; within a month by name. */
function* filesIn(folder: string): Generator<ArchiveFile> {
	const months = existsSync(folder) ? readdirSync(folder).filter((name) => MONTH.test(name)) : [];
	for (const month of months.sort().reverse())
		for (const file of readdirSync(join(folder, month)).sort()) {
			const [, conversation] = NAME.exec(file) ?? [];
			if (conversation === undefined) continue;
			const { size, mtimeMs } = statSync(join(folder, month, file));
			const name = `${month}/${file}`;
			yield {
				name,
				conversation: conversationId(conversation),
				bytes: size,
				archivedAt: Math.round(mtimeMs),
			};
		}
}

/** `after`: the last name of the previous page. */
export async function listArchives(
	folder: string,
	{ limit, after }: { readonly limit: number; readonly after?: string | undefined },
): Promise<readonly ArchiveSummary[]> {
	const found: ArchiveSummary[] = [];
	let isAfter = after === undefined;
	for (const file of filesIn(folder)) {
		if (isAfter) found.push(await summaryOf(folder, file));
		if (file.name === after) isAfter = true;
		if (found.length === limit) break;
	}
	return found;
}

/** By its conversation's id or its name; the newest. Throws store.not_found. */
function findArchive(folder: string, ref: string): ArchiveFile {
	for (const file of filesIn(folder)) if (file.conversation === ref || file.name === ref) return file;
	throw new KeryxError("store.not_found", `there is no archive of ${ref}`, { field: "archive" });
}

async function summaryOf(folder: string, file: ArchiveFile): Promise<ArchiveSummary> {
	for await (const line of linesOf(createReadStream(join(folder, file.name)))) {
		const head = JSON.parse(line) as Readonly<Record<string, unknown>>;
		if (head.type !== "conversation") continue;
		const title = String(head.title ?? head.preview ?? "");
		return { ...file, key: String(head.key), title, lastActivityAt: Number(head.lastActivityAt) };
	}
	throw new KeryxError("archive.failed", `${file.name} holds no conversation`);
}

interface ArchivedMessage {
	readonly at: number;
	readonly role: string;
	readonly text: string;
}

/** The messages in order, up to a limit. */
export async function readArchive(
	folder: string,
	ref: string,
	limit: number,
): Promise<{
	readonly archive: ArchiveSummary;
	readonly messages: readonly ArchivedMessage[];
	readonly more: boolean;
}> {
	const file = findArchive(folder, ref);
	const messages: ArchivedMessage[] = [];
	let more = false;
	for await (const line of linesOf(createReadStream(join(folder, file.name)))) {
		const row = JSON.parse(line) as Readonly<Record<string, unknown>>;
		if (row.type !== "message" || (row.role !== "user" && row.role !== "assistant")) continue;
		more = messages.length === limit;
		if (more) break;
		const { content } = row.body as { readonly content: Parameters<typeof contentText>[0] | object };
		const isHere = typeof content === "string" || Array.isArray(content);
		// A very long text is stored separately from its message, like a file.
		const text = isHere ? contentText(content) : "(a long text: restore the conversation to read it)";
		messages.push({ at: Number(row.createdAt), role: row.role, text });
	}
	return { archive: await summaryOf(folder, file), messages, more };
}

/** Restores it unchanged. The file stays. Restoring it twice changes nothing. */
export async function restoreArchive(
	store: Store,
	folder: string,
	ref: string,
): Promise<{ readonly conversation: ConversationId; readonly messages: number }> {
	const file = findArchive(folder, ref);
	const path = join(folder, file.name);
	await assertUnaltered(path, file.name);
	const { messages } = await importJsonl(store, linesOf(createReadStream(path)), { origin: "archive" });
	await store.touchConversation({ conversation: file.conversation });
	return { conversation: file.conversation, messages };
}

async function assertUnaltered(path: string, name: string): Promise<void> {
	const hash = createHash("sha256");
	for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
	if (!name.includes(`.${hash.digest("hex").slice(0, 16)}.`))
		throw new KeryxError("archive.failed", `the archive ${name} was altered: its checksum does not match`);
}
