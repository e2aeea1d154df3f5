// Exports and imports as streams, above the operations: pages become lines, lines become batches. Memory holds at most a page, a batch or
// a blob, whatever the size of the store.
import type { ConversationId } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import type { ExportHead, ExportWhat, SessionHead } from "./operations/transfer/export.ts";
import type { NumberedLine } from "./operations/transfer/import.ts";
import type { ImportCounts, Origin } from "./operations/transfer/import-lookup.ts";
import type { Store } from "./store.ts";
import { FORMAT_VERSION } from "./transfer-format.ts";
import { HiddenBlobs } from "./transfer-hiding.ts";
import { toLine } from "./transfer-line.ts";
import { TransferOrder } from "./transfer-order.ts";
import { parseLine } from "./transfer-parse.ts";
import type { Scope } from "./types.ts";

export interface ExportOptions {
	readonly scope: Scope;
	readonly what: ExportWhat;
	/** Long text is in its message and not beside it, so that whoever passes the lines on can hide names of secrets in it (I12). */
	readonly longTextInline?: boolean;
}

const PAGE = 100;
/** Conversations and people; most are small. */
const MANY = 500;
/** Conversations read together. Other reads wait behind at most one group, which takes a few milliseconds. */
const GROUP = 100;
const READ_AHEAD = 3;

/** Everything requested, as lines that importJsonl accepts without loss. The same state gives the same bytes. */
export async function* exportJsonl(store: Store, options: ExportOptions): AsyncGenerator<string> {
	for await (const text of exportTexts(store, options))
		for (let from = 0; from < text.length; ) {
			const end = text.indexOf("\n", from) + 1;
			yield text.slice(from, end);
			from = end;
		}
}

/** The same in pieces of many lines each. The next piece is read while one is used. */
export async function* exportTexts(store: Store, options: ExportOptions): AsyncGenerator<string> {
	const texts = exportPieces(store, options);
	try {
		for (let next = texts.next(); ; ) {
			const { value, done } = await next;
			if (done) return;
			next = texts.next();
			// It fails for its reader, and for nobody if there is none any more.
			next.catch(() => {});
			yield value;
		}
	} finally {
		await texts.return(undefined);
	}
}

async function* exportPieces(store: Store, options: ExportOptions): AsyncGenerator<string> {
	const { scope, what } = options;
	let from: { merged: boolean; after: string } | null = { merged: false, after: "" };
	let page = await store.exportPrincipals({ scope, what, from, limit: MANY });
	yield toLine({ type: "keryx_export", version: FORMAT_VERSION, what });
	let principals = 0;
	for (;;) {
		if (page.lines.length > 0) yield page.lines.join("");
		principals += page.lines.length;
		from = page.next;
		if (from === null) break;
		page = await store.exportPrincipals({ scope, what, from, limit: MANY });
	}
	let conversations = 0;
	for await (const { ids, small } of groupsAhead(store, { scope, what }))
		for (let n = 0, found = await small; n < ids.length; found = await smallOf(store, scope, ids.slice(n))) {
			let together = "";
			for (const [at, id] of ids.slice(n, n + found.length).entries()) {
				const text = found[at] ?? null;
				if (text !== null && (text !== "" || what.kind === "everything")) {
					together += text;
					if (text !== "") conversations++;
					continue;
				}
				if (together !== "") yield together;
				together = "";
				let isThere = false;
				for await (const line of conversationLines(store, id, options)) {
					isThere = true;
					yield line;
				}
				if (isThere) conversations++;
			}
			if (together !== "") yield together;
			n += found.length;
			if (n === ids.length) break;
		}
	let jobs = 0;
	for (let after: number | null = what.kind === "everything" ? 0 : null; after !== null; ) {
		const { lines, last }: Awaited<ReturnType<Store["exportJobs"]>> = await store.exportJobs({
			scope,
			after,
			limit: MANY,
		});
		if (lines.length > 0) yield lines.join("");
		jobs += lines.length;
		after = last;
	}
	yield toLine({ type: "end", principals, conversations, ...(jobs > 0 && { jobs }) });
}

interface Group {
	readonly ids: readonly ConversationId[];
	/** The first of them, as far as one read came. */
	readonly small: Promise<readonly (string | null)[]>;
}

/** In order. The next groups are read while one is used, as many at once as the store has reader threads. */
async function* groupsAhead(store: Store, { scope, what }: ExportOptions): AsyncGenerator<Group> {
	const waiting: Group[] = [];
	for await (const ids of conversationPages(store, { scope, what }))
		for (let n = 0; n < ids.length; n += GROUP) {
			const group = ids.slice(n, n + GROUP);
			// A single session is less than its conversation.
			const small = what.kind === "session" ? Promise.resolve([null]) : smallOf(store, scope, group);
			// It fails for its reader, and for nobody if there is none any more.
			small.catch(() => {});
			waiting.push({ ids: group, small });
			if (waiting.length >= READ_AHEAD) yield waiting.shift() as Group;
		}
	yield* waiting;
}

async function smallOf(
	store: Store,
	scope: Scope,
	ids: readonly ConversationId[],
): Promise<readonly (string | null)[]> {
	return (await store.exportSmall({ scope, ids })).conversations;
}

export async function* conversationsOf(
	store: Store,
	{ scope, what }: ExportOptions,
): AsyncGenerator<ConversationId> {
	for await (const ids of conversationPages(store, { scope, what })) yield* ids;
}

async function* conversationPages(
	store: Store,
	{ scope, what }: ExportOptions,
): AsyncGenerator<readonly ConversationId[]> {
	let after = "";
	for (;;) {
		const ids = await store.exportConversations({ scope, what, after, limit: MANY });
		yield ids;
		if (what.kind !== "everything" || ids.length < MANY) return;
		after = ids.at(-1) ?? "";
	}
}

/** Null for a conversation deleted since the list was read, unless it was requested by name. */
export async function headOf(
	store: Store,
	conversation: ConversationId,
	{ scope, what }: ExportOptions,
): Promise<ExportHead | null> {
	const session = what.kind === "session" ? { session: what.id } : {};
	const head = await store.exportHead({ scope, conversation, ...session });
	if (!head && what.kind !== "everything")
		throw new KeryxError("store.not_found", `no ${what.kind} ${what.id}`, { field: "what" });
	return head;
}

async function* conversationLines(
	store: Store,
	conversation: ConversationId,
	{ scope, what, longTextInline = false }: ExportOptions,
): AsyncGenerator<string> {
	const head = await headOf(store, conversation, { scope, what });
	if (!head) return;
	yield head.conversation;
	for (let n = 0; n < head.sessions.length; n += PAGE)
		yield* await store.exportSessions({ scope, conversation, heads: head.sessions.slice(n, n + PAGE) });
	let turns = 0;
	for (const session of head.sessions) {
		for (let after: string | null = ""; after !== null; ) {
			const page = await store.exportTurns({
				scope,
				conversation,
				session: slim(session),
				after,
				limit: PAGE,
			});
			yield* page.lines;
			turns += page.lines.length;
			after = page.last;
		}
	}
	yield* head.hidden;
	const counts = { messages: 0, blobs: 0 };
	const written = new Set<string>();
	for (const session of head.sessions)
		yield* messageLines(store, { scope, conversation, longTextInline }, session, counts, written);
	yield toLine({
		type: "conversation_end",
		conversation,
		live: head.live,
		sessions: head.sessions.length,
		turns,
		hidden: head.hidden.length,
		...counts,
	});
}

async function* messageLines(
	store: Store,
	of: Pick<Parameters<Store["exportMessages"]>[0], "scope" | "conversation" | "longTextInline">,
	session: SessionHead,
	counts: { messages: number; blobs: number },
	written: Set<string>,
): AsyncGenerator<string> {
	for (let after = 0; after < session.upTo; ) {
		const page = { session: slim(session), after, limit: PAGE };
		const { messages, last } = await store.exportMessages({ ...of, ...page });
		if (last === null)
			throw new KeryxError("store.corrupt", `session ${session.line.id} lacks rows after seq ${after}`);
		for (const { line, blobs } of messages) {
			for (const digest of blobs) {
				if (written.has(digest)) continue;
				written.add(digest);
				let isThere = false;
				for await (const blobLine of blobLines(store, of.scope, of.conversation, digest)) {
					isThere = true;
					yield blobLine;
				}
				if (isThere) counts.blobs++;
			}
			yield line;
			counts.messages++;
		}
		after = last;
	}
}

/** Nothing for a missing blob: it must not prevent the rest from being exported. */
async function* blobLines(
	store: Store,
	scope: Scope,
	conversation: ConversationId,
	digest: string,
): AsyncGenerator<string> {
	for (let n = -1; ; n++) {
		const line = await store.exportBlob({ scope, conversation, digest, n });
		if (line === null) return;
		yield line;
	}
}

/** What the next pages need to know about a session. */
function slim({ key, upTo, line }: SessionHead): { key: number; upTo: number; line: { id: string } } {
	return { key, upTo, line: { id: line.id } };
}

/** At the end of a conversation a batch is sent at this many lines or characters; in the middle of one, at ten times that. */
const BATCH_LINES = 200;
const BATCH_CHARACTERS = 512 * 1024;
const MIDDLE = 10;

export interface ImportOptions {
	/** The export's origin in a word: `archive`, or the name of another system. */
	readonly origin: string;
}

/**
 * Imports an export, line by line. Repeating it, or importing into the original store, changes nothing; an interrupted import can be run
 * again. A conversation of usual size is one transaction. The first wrong line ends the import with its number: earlier conversations are
 * imported, or will be when it is run again.
 */
export async function importJsonl(
	store: Store,
	lines: AsyncIterable<string> | Iterable<string>,
	{ origin }: ImportOptions,
): Promise<ImportCounts> {
	if (!/^[\w.:-]{1,100}$/.test(origin))
		throw new KeryxError("argument.invalid", "origin must be 1 to 100 letters, digits and any of . : _ -", {
			field: "origin",
		});
	const order = new TransferOrder();
	const blobs = new HiddenBlobs(store.secrets);
	const counts = { conversations: 0, sessions: 0, messages: 0, blobs: 0, present: 0, leftOut: 0 };
	const origins = new Map<string, Origin>();
	let batch: NumberedLine[] = [];
	let characters = 0;
	const send = async (): Promise<void> => {
		const done = await store.importLines({ origin, lines: batch, origins: [...origins] });
		for (const name of Object.keys(counts) as (keyof ImportCounts)[]) counts[name] += done[name];
		for (const { line } of batch) rememberOrigin(origins, line);
		batch = [];
		characters = 0;
	};
	let number = 0;
	for await (const text of lines) {
		number++;
		if (text.trim() === "") continue;
		const line = parseLine(text, number);
		order.take(line, number);
		batch.push(...blobs.take({ number, line }));
		characters += text.length;
		const factor = order.isBetweenConversations ? 1 : MIDDLE;
		if (batch.length >= BATCH_LINES * factor || characters >= BATCH_CHARACTERS * factor) await send();
	}
	order.finish(number);
	batch.push(...blobs.end());
	await send();
	return counts;
}

/** Later batches resolve origins with this; it is dropped once the conversation is closed. */
function rememberOrigin(origins: Map<string, Origin>, line: NumberedLine["line"]): void {
	if (line.type === "conversation_end") origins.clear();
	if (line.type === "conversation" && line.origin) origins.set(line.id, line.origin);
	if (line.type === "session" && line.origin) origins.set(`${line.conversation}/${line.id}`, line.origin);
}

/** A longer line is not from an export: a blob's chunk is the longest, except for a huge message. */
const LONGEST_LINE = 256 * 1024 * 1024;

/** The lines of a file or request, without their ends. Only `\n` ends one. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<string> {
	const decoder = new TextDecoder("utf-8", { fatal: true });
	let rest: string[] = [];
	let length = 0;
	for await (const chunk of chunks) {
		const pieces = decoded(decoder, chunk).split("\n");
		const last = pieces.pop() as string;
		for (const piece of pieces) {
			yield rest.length === 0 ? piece : rest.join("") + piece;
			rest = [];
			length = 0;
		}
		rest.push(last);
		length += last.length;
		if (length > LONGEST_LINE)
			throw new KeryxError("import.invalid", `a line is longer than ${LONGEST_LINE} characters`);
	}
	const final = rest.join("") + decoded(decoder, undefined);
	if (final !== "") yield final;
}

function decoded(decoder: InstanceType<typeof TextDecoder>, chunk: Uint8Array | string | undefined): string {
	if (typeof chunk === "string") return chunk;
	try {
		return decoder.decode(chunk, { stream: chunk !== undefined });
	} catch (cause) {
		throw new KeryxError("import.invalid", "the export is not text in UTF-8", { cause });
	}
}
