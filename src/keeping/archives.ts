// The archives that retention made: files in a folder per month. Lists, reads and restores them.
import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type ConversationId, contentText, conversationId } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import { type ExportLine, importJsonl, linesOf, parseLine, type Store } from "../store/index.ts";

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

/** Why the file cannot be read, instead of what is in it. */
interface DamagedArchive extends ArchiveFile {
	readonly problem: string;
}

/** Newest month first; within a month by name. `after`: the last name of the previous page. */
export async function listArchives(
	folder: string,
	{ limit, after }: { readonly limit: number; readonly after?: string | undefined },
): Promise<readonly (ArchiveSummary | DamagedArchive)[]> {
	const [from, last = ""] = after?.split("/") ?? [];
	const found: (ArchiveSummary | DamagedArchive)[] = [];
	for (const month of await monthsIn(folder)) {
		if (from !== undefined && month > from) continue;
		const names = await readdir(join(folder, month));
		for (const name of firstAfter(names, month === from ? last : "", limit - found.length))
			found.push(await listed(folder, await fileAt(folder, `${month}/${name}`)));
		if (found.length === limit) break;
	}
	return found;
}

/** One damaged file must not hide the others. */
async function listed(folder: string, file: ArchiveFile): Promise<ArchiveSummary | DamagedArchive> {
	try {
		return await summaryOf(folder, file);
	} catch (error) {
		if (!(error instanceof KeryxError)) throw error;
		return { ...file, problem: error.message };
	}
}

/** By its conversation's id or its name; the newest. Throws store.not_found. */
async function findArchive(folder: string, ref: string): Promise<ArchiveFile> {
	for (const month of await monthsIn(folder)) {
		const names = (await readdir(join(folder, month))).filter(
			(name) => (name.startsWith(`${ref}.`) || `${month}/${name}` === ref) && NAME.test(name),
		);
		const files = await Promise.all(names.map((name) => fileAt(folder, `${month}/${name}`)));
		const [newest] = files.sort((a, b) => b.archivedAt - a.archivedAt);
		if (newest !== undefined) return newest;
	}
	throw new KeryxError("store.not_found", `there is no archive of ${ref}`, { field: "archive" });
}

async function monthsIn(folder: string): Promise<readonly string[]> {
	const months = existsSync(folder) ? (await readdir(folder)).filter((name) => MONTH.test(name)) : [];
	return months.sort().reverse();
}

/** The first names after one, in order. A month may hold 100,000: sorting them all would stop everything else for a moment. */
function firstAfter(names: readonly string[], after: string, count: number): readonly string[] {
	const found: string[] = [];
	for (const name of names) {
		const last = found.length === count ? found.at(-1) : undefined;
		if (name <= after || (last !== undefined && name >= last) || !NAME.test(name)) continue;
		if (last !== undefined) found.pop();
		const position = found.findIndex((other) => other > name);
		found.splice(position === -1 ? found.length : position, 0, name);
	}
	return found;
}

async function fileAt(folder: string, name: string): Promise<ArchiveFile> {
	const [, conversation = ""] = NAME.exec(name.split("/").at(-1) ?? "") ?? [];
	const { size, mtimeMs } = await stat(join(folder, name));
	return {
		name,
		conversation: conversationId(conversation),
		bytes: size,
		archivedAt: Math.round(mtimeMs),
	};
}

async function summaryOf(folder: string, file: ArchiveFile): Promise<ArchiveSummary> {
	for await (const head of rowsOf(folder, file)) {
		if (head.type !== "conversation") continue;
		const title = head.title ?? head.preview ?? "";
		return { ...file, key: head.key, title, lastActivityAt: head.lastActivityAt };
	}
	throw new KeryxError("archive.failed", `${file.name} holds no conversation`);
}

/** Throws archive.failed if it cannot be read. */
async function* rowsOf(folder: string, { name }: ArchiveFile): AsyncGenerator<ExportLine> {
	let number = 0;
	try {
		for await (const line of linesOf(createReadStream(join(folder, name)))) yield parseLine(line, ++number);
	} catch (cause) {
		throw unreadable(name, cause);
	}
}

function unreadable(name: string, cause: unknown): KeryxError {
	return new KeryxError("archive.failed", `${name} is damaged: ${(cause as Error).message}`, {
		hint: "use a copy of it, if there is one",
		cause,
	});
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
	const file = await findArchive(folder, ref);
	const messages: ArchivedMessage[] = [];
	let more = false;
	for await (const row of rowsOf(folder, file)) {
		if (row.type !== "message" || (row.role !== "user" && row.role !== "assistant")) continue;
		more = messages.length === limit;
		if (more) break;
		const { content } = row.body as { readonly content: Parameters<typeof contentText>[0] | object };
		const isHere = typeof content === "string" || Array.isArray(content);
		// A very long text is stored separately from its message, like a file.
		const text = isHere ? contentText(content) : "(a long text: restore the conversation to read it)";
		messages.push({ at: row.createdAt, role: row.role, text });
	}
	return { archive: await summaryOf(folder, file), messages, more };
}

/** Restores it unchanged. The file stays. Restoring it twice changes nothing. */
export async function restoreArchive(
	store: Store,
	folder: string,
	ref: string,
): Promise<{ readonly conversation: ConversationId; readonly messages: number }> {
	const file = await findArchive(folder, ref);
	const path = join(folder, file.name);
	await assertUnaltered(path, file.name);
	const { messages } = await importJsonl(store, linesOf(createReadStream(path)), { origin: "archive" });
	await store.touchConversation({ conversation: file.conversation });
	return { conversation: file.conversation, messages };
}

async function assertUnaltered(path: string, name: string): Promise<void> {
	const hash = createHash("sha256");
	try {
		for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
	} catch (cause) {
		throw unreadable(name, cause);
	}
	if (!name.includes(`.${hash.digest("hex").slice(0, 16)}.`))
		throw new KeryxError("archive.failed", `the archive ${name} was altered: its checksum does not match`);
}
