// Imports an export (transfer-format.ts): principals, conversations, sessions. Rows are in import-rows.ts. Every line is looked up before
// it is written: by origin (origin, origin_id), or by a kept Keryx id. So importing twice, or into the original store, changes nothing,
// and an interrupted import can be run again. Until a conversation's closing line arrives, its sessions are claimed by the import and
// none is live.
import {
	addressDigest,
	type ConversationId,
	cleanTitle,
	conversationId,
	isSessionId,
	isShared,
	newSessionId,
	parseSource,
	profileName,
	type SessionId,
	sanitizeModelOverride,
	successorTitle,
	toWireSource,
} from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { seal } from "../../codec.ts";
import { type Context, get, type Op, run, sql } from "../../query.ts";
import type {
	ClosingLine,
	ConversationLine,
	ExportLine,
	PrincipalLine,
	SessionLine,
} from "../../transfer-format.ts";
import { invalidLine } from "../../transfer-line.ts";
import { emit } from "../events.ts";
import { addressColumns } from "../inbox/routing.ts";
import { indexTitle } from "../search/index-rows.ts";
import { titleDigest } from "../sessions/titles.ts";
import {
	CLAIM,
	conversationOf,
	derivedId,
	digestOf,
	type Import,
	type ImportCounts,
	isOwnId,
	knownConversation,
	knownSession,
	type Origin,
	sessionOf,
	wrote,
} from "./import-lookup.ts";
import { importBlob, importChunk, importHidden, importMessage, importTurn } from "./import-rows.ts";
import { importJob } from "./jobs.ts";

/** A line of an export with its number in the file. */
export interface NumberedLine {
	readonly number: number;
	readonly line: ExportLine;
}

export interface ImportArgs {
	/** The export's origin: together with its ids, it identifies rows when imported again. */
	readonly origin: string;
	readonly lines: readonly NumberedLine[];
	/** Origins from earlier lines of a conversation that is not closed yet. */
	readonly origins?: readonly (readonly [name: string, origin: Origin])[];
}

const countRows = sql("UPDATE conversations SET message_count = message_count + ? WHERE id = ?");

/** Writes some lines, in order and together: all, or none and the error of the first wrong one. */
export function* importLines(context: Context, args: ImportArgs): Op<ImportCounts> {
	const work: Import = {
		context,
		origin: args.origin,
		origins: new Map(args.origins),
		conversations: new Map(),
		sessions: new Map(),
		counts: { conversations: 0, sessions: 0, messages: 0, blobs: 0, present: 0, leftOut: 0 },
		progress: new Map(),
		hidden: new Map(),
		shown: new Map(),
		written: new Map(),
	};
	for (const { number, line } of args.lines) yield* importLine(work, number, line);
	for (const [conversation, rows] of work.shown) yield* run(countRows, rows, conversation);
	for (const [conversation, rows] of work.written)
		yield* emit(context, "conversation.imported", { conversation }, { rows });
	return work.counts;
}

function* importLine(work: Import, number: number, line: ExportLine): Op<void> {
	switch (line.type) {
		case "principal":
			return yield* importPrincipal(line, number);
		case "conversation":
			return yield* importConversation(work, line, number);
		case "session":
			return yield* importSession(work, line, number);
		case "turn":
			return yield* importTurn(work, line, number);
		case "hidden":
			return yield* importHidden(work, line, number);
		case "blob":
			return yield* importBlob(work, line, number);
		case "blob_chunk":
			return yield* importChunk(work, line, number);
		case "message":
			return yield* importMessage(work, line, number);
		case "conversation_end":
			return yield* closeConversation(work, line, number);
		case "job":
			return yield* importJob(work, line, number);
		case "keryx_export":
		case "end":
			return;
	}
}

const principalById = sql<{ merged_into: string | null }>("SELECT merged_into FROM principals WHERE id = ?");
const aliasOwner = sql<{ principal: string }>(
	"SELECT principal FROM aliases WHERE platform = ? AND alias = ?",
);
const addPrincipal = sql("INSERT INTO principals (id, created_at, merged_into) VALUES (?, ?, ?)");
const addAlias = sql("INSERT INTO aliases (platform, alias, principal, created_at) VALUES (?, ?, ?, ?)");

/** A person known here by one of the same ids stays; the exported one is merged into them. */
function* importPrincipal(line: PrincipalLine, number: number): Op<void> {
	const aliases = line.aliases.filter((one) => !isTokens(one));
	const there = yield* get(principalById, line.id);
	let root = there?.merged_into ?? line.id;
	if (!there) {
		let into = line.mergedInto;
		if (into !== null && !(yield* get(principalById, into)))
			throw invalidLine(number, `mergedInto names ${into}, which no line before describes`, {
				field: "mergedInto",
			});
		for (const { platform, alias } of aliases)
			into ??= (yield* get(aliasOwner, platform, alias))?.principal ?? null;
		if (into !== null) into = (yield* get(principalById, into))?.merged_into ?? into;
		yield* run(addPrincipal, line.id, line.createdAt, into);
		root = into ?? line.id;
	}
	// A file cannot merge people known here: only the operator links people (`keryx link`).
	if (root !== line.id || there) return;
	for (const { platform, alias, createdAt } of aliases)
		if (!(yield* get(aliasOwner, platform, alias))) yield* run(addAlias, platform, alias, root, createdAt);
}

/** A token's name means only a token of this Keryx. */
function isTokens({ platform, alias }: PrincipalLine["aliases"][number]): boolean {
	return platform === "api_server" && alias.startsWith("token:");
}

const keyTaken = sql<{ id: string }>("SELECT id FROM conversations WHERE key = ?");
const addConversation = sql(
	`INSERT INTO conversations (id, key, platform, profile, chat_type, principal, shared, model_override, busy, tool_progress,
		created_at, last_activity_at, source_body, preview_body, origin, origin_id, title_source, title_body, state, state_at, pinned_at)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);
const addAddress = sql(
	`INSERT INTO addresses (digest, conversation, profile, platform, account, scope, chat_type, chat, thread, participant)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (digest) DO NOTHING`,
);

/** A key or address that another conversation has stays there: this one is then reached by its id or its person. */
function* importConversation(work: Import, line: ConversationLine, number: number): Op<void> {
	if (line.origin) work.origins.set(line.id, line.origin);
	if (yield* knownConversation(work, line.id)) return;
	const { source, override, profile } = readFacts(line, number);
	if (line.principal !== null && !(yield* get(principalById, line.principal)))
		throw invalidLine(number, `principal names ${line.principal}, which no line before describes`, {
			field: "principal",
		});
	for (const [index, address] of line.addresses.entries()) {
		const problem = contradiction(line, address, profile);
		if (problem) throw invalidLine(number, `addresses.${index} ${problem}`, { field: `addresses.${index}` });
	}
	const id = conversationId(isOwnId(line.id) ? line.id : derivedId(work.origin, line.id));
	let key = line.key;
	for (let n = 2; yield* get(keyTaken, key); n++) key = `${line.key}~${n}`;
	yield* run(
		addConversation,
		id,
		key,
		line.platform,
		profile,
		line.chatType,
		line.principal,
		line.shared ? 1 : 0,
		override,
		line.busy,
		line.toolProgress ?? null,
		line.createdAt,
		line.lastActivityAt,
		source,
		seal(line.preview),
		line.origin?.name ?? work.origin,
		line.origin?.id ?? line.id,
		...titleColumns(line),
		...stateColumns(line),
	);
	for (const address of line.addresses)
		yield* run(addAddress, addressDigest(address), id, ...addressColumns(address));
	work.conversations.set(line.id, { id, platform: line.platform, profile, principal: line.principal });
	work.counts.conversations++;
	wrote(work, id);
}

function titleColumns({ title, titleSource }: ConversationLine): [string | null, string | null] {
	const clean = cleanTitle(title ?? "");
	return clean === "" ? [null, null] : [titleSource ?? "user", seal(clean)];
}

/** A deleted one is imported as archived: its rows are searchable, and the importer wants to see it. */
function stateColumns(line: ConversationLine): [string, number | null, number | null] {
	const { state, stateAt = null, pinnedAt = null } = line;
	return state === undefined ? ["open", stateAt, pinnedAt] : ["archived", stateAt, null];
}

/** An address that could not have led to such a conversation. Ownership shows when someone writes from it. */
function contradiction(
	line: ConversationLine,
	address: ConversationLine["addresses"][number],
	profile: string,
): string | null {
	if (address.platform !== line.platform)
		return `is of the platform ${address.platform}, and the conversation of ${line.platform}`;
	if (isShared(address) !== line.shared)
		return line.shared
			? "is one person's, and the conversation is shared"
			: "is that of a shared chat, and the conversation is private";
	// Others read what is said in a group: no private chat continues there.
	if (address.chatType !== line.chatType)
		return `is of a chat of kind ${address.chatType}, and the conversation of kind ${line.chatType}`;
	if (address.profile !== profile)
		return `is of the profile ${JSON.stringify(address.profile)}, and the conversation of ${JSON.stringify(profile)}`;
	return null;
}

/** Data the domain must be able to read, as stored. */
function readFacts(
	line: ConversationLine,
	number: number,
): { source: string; override: string | null; profile: string } {
	try {
		const override = line.modelOverride === null ? null : sanitizeModelOverride(line.modelOverride);
		return {
			source: seal(toWireSource(parseSource(line.source))),
			// A file does not choose the server that reads the conversation.
			override: override === null || override.base_url !== undefined ? null : JSON.stringify(override),
			profile: profileName(line.profile),
		};
	} catch (cause) {
		if (!(cause instanceof KeryxError)) throw cause;
		throw invalidLine(number, cause.message, { field: cause.field, cause });
	}
}

const sessionTaken = sql<{ key: number }>("SELECT key FROM sessions WHERE id = ?");
const titleTaken = sql<{ key: number }>(
	"SELECT key FROM sessions WHERE conversation = ? AND title_digest = ?",
);
const addSession = sql<{ key: number }>(
	`INSERT INTO sessions (id, conversation, base_session, base_seq, base_kind, previous_session, opened_by, started_at,
		last_activity_at, had_activity, ended_at, end_reason, suspended_at, resume_pending_since, notice_pending, finalised, cap,
		messages, tool_calls, tool_errors, input_tokens, output_tokens, last_prompt_tokens, cost_micros, cost_status,
		title_digest, title_source, title_body, context_body, claim, origin, origin_id)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '${CLAIM}', ?, ?) RETURNING key`,
);

/** Ended and finalised, because that happened elsewhere. The formerly live one becomes live when the import is complete. */
function* importSession(work: Import, line: SessionLine, number: number): Op<void> {
	if ((line.endedAt === null) !== (line.endReason === null))
		throw invalidLine(number, "endedAt and endReason go together", { field: "endReason" });
	const conversation = yield* conversationOf(work, line, number);
	if (line.origin) work.origins.set(`${line.conversation}/${line.id}`, line.origin);
	if (yield* knownSession(work, line.conversation, conversation.id, line.id)) return;
	const base = line.base && (yield* sessionOf(work, line, line.base.session, number, "base"));
	const previous =
		line.previous === null ? null : yield* sessionOf(work, line, line.previous, number, "previous");
	const id = yield* freeSessionId(work, line);
	const title = yield* freeTitle(conversation.id, line.title);
	const row = yield* get(
		addSession,
		id,
		conversation.id,
		base?.key ?? null,
		line.base?.seq ?? null,
		line.base?.kind ?? null,
		previous?.key ?? null,
		line.openedBy,
		line.startedAt,
		line.lastActivityAt,
		line.hadActivity ? 1 : 0,
		line.endedAt ?? line.lastActivityAt,
		line.endReason ?? "user_switch",
		line.suspendedAt,
		line.resumePendingSince,
		line.noticePending ? 1 : 0,
		line.cap,
		line.messages,
		line.toolCalls,
		line.toolErrors,
		line.inputTokens,
		line.outputTokens,
		line.lastPromptTokens,
		line.costMicros,
		line.costStatus,
		title === null ? null : titleDigest(title),
		title === null ? null : (line.titleSource ?? "derived"),
		title === null ? null : seal(title),
		seal(line.context),
		line.origin?.name ?? work.origin,
		line.origin?.id ?? `${line.conversation}/${line.id}`,
	);
	const { key } = row as { key: number };
	if (title !== null) yield* indexTitle(key, conversation, title);
	work.sessions.set(`${line.conversation}/${line.id}`, {
		key,
		id,
		conversation: conversation.id,
		claimed: true,
	});
	work.counts.sessions++;
	wrote(work, conversation.id);
}

/** Its own id if free, else another of the same time; deterministic per line. */
function* freeSessionId(work: Import, line: SessionLine): Op<SessionId> {
	if (isSessionId(line.id) && !(yield* get(sessionTaken, line.id))) return line.id;
	for (let n = 0; ; n++) {
		const bytes = digestOf(work.origin, line.conversation, line.id, String(n));
		const id = newSessionId(Math.min(line.startedAt, work.context.now), (length) =>
			bytes.subarray(0, length),
		);
		if (!(yield* get(sessionTaken, id))) return id;
	}
}

function* freeTitle(conversation: ConversationId, wanted: string | null): Op<string | null> {
	let title = wanted === null ? "" : cleanTitle(wanted);
	if (title === "") return null;
	while (yield* get(titleTaken, conversation, titleDigest(title))) title = successorTitle(title);
	return title;
}

const makeLive = sql(
	`UPDATE sessions SET ended_at = NULL, end_reason = NULL, finalised = 0,
		due_at = CASE WHEN suspended_at IS NULL THEN CAST(? AS BIGINT) END WHERE key = ? AND claim = '${CLAIM}'
	AND NOT EXISTS (SELECT 1 FROM sessions o WHERE o.conversation = sessions.conversation AND o.ended_at IS NULL)`,
);
const strayRange = sql<{ id: string }>(
	`SELECT s.id FROM sessions s JOIN hidden_ranges h ON h.session = s.key WHERE s.conversation = ? AND s.claim = '${CLAIM}'
		AND (h.from_seq > h.to_seq OR h.to_seq > (SELECT coalesce(max(m.seq), 0) FROM messages m WHERE m.session = s.key)) LIMIT 1`,
);
const strayBase = sql<{ id: string }>(
	`SELECT s.id FROM sessions s WHERE s.conversation = ? AND s.claim = '${CLAIM}' AND s.base_session IS NOT NULL
		AND s.base_seq > (SELECT coalesce(max(m.seq), 0) FROM messages m WHERE m.session = s.base_session) LIMIT 1`,
);
const release = sql(`UPDATE sessions SET claim = NULL WHERE conversation = ? AND claim = '${CLAIM}'`);

/** The conversation is complete. I2: if another session is live by now, the imported one stays ended. */
function* closeConversation(work: Import, line: ClosingLine, number: number): Op<void> {
	const conversation = yield* conversationOf(work, line, number);
	const range = yield* get(strayRange, conversation.id);
	if (range)
		throw invalidLine(number, `a hidden range of session ${range.id} lies outside its messages`, {
			field: "toSeq",
		});
	const base = yield* get(strayBase, conversation.id);
	if (base)
		throw invalidLine(number, `session ${base.id} goes on from a message that is not there`, {
			field: "base.seq",
		});
	if (line.live !== null) {
		const live = yield* sessionOf(work, line, line.live, number, "live");
		// The watcher checks it next, and computes from policy when it is due.
		if (live.claimed) yield* run(makeLive, work.context.now, live.key);
	}
	yield* run(release, conversation.id);
}
