// Checks the invariants on the rows themselves. Reads everything: for `keryx doctor` and for tests that killed a store, never while
// handling a message. Reports, and repairs nothing.
import type { SessionId } from "../../domain/index.ts";
import { unseal } from "../codec.ts";
import { all, get, type Op, type Statement, sql } from "../query.ts";
import type { OperatorScope, Role } from "../types.ts";
import { isCounted } from "./transcript/append.ts";
import { blobsOf, type MessageBody } from "./transcript/content.ts";
import { type Hidden, hiddenIn, isHidden } from "./transcript/rows.ts";
import { CLAIM } from "./transfer/import-lookup.ts";

interface Problem {
	readonly problem: string;
}

/** How many of one kind are reported; one defect is often everywhere. */
const NAMED = 20;
const PAGE = 500;
/** The count of a session that is still being imported need not be right. */
const COMPLETE = `coalesce(s.claim, '') <> '${CLAIM}'`;
const LATEST = Number.MAX_SAFE_INTEGER;
const HIDDEN = `EXISTS (SELECT 1 FROM hidden_ranges h WHERE h.session = m.session AND h.undone_at IS NULL
	AND m.seq BETWEEN h.from_seq AND h.to_seq)`;

/** Each returns one row per problem, in words. */
const CHECKS: readonly Statement<Problem>[] = [
	check(`SELECT 'I2: conversation ' || conversation || ' has ' || count(*) || ' live sessions' AS problem
		FROM sessions WHERE ended_at IS NULL GROUP BY conversation HAVING count(*) > 1`),
	check(`SELECT 'I5: conversation ' || conversation || ' has ' || count(*) || ' open turns' AS problem
		FROM turns WHERE state IN ('running', 'interrupted') GROUP BY conversation HAVING count(*) > 1`),
	check(`SELECT 'seq of session ' || s.id || ' is not dense: ' || count(*) || ' rows up to seq ' || max(m.seq) AS problem
		FROM messages m JOIN sessions s ON s.key = m.session GROUP BY s.id HAVING count(*) <> max(m.seq) OR min(m.seq) <> 1`),

	check(`SELECT 'I3: inbound message ' || id || ' is ' || disposition || ' and still waits' AS problem
		FROM inbox WHERE disposition IS NOT NULL AND due_at IS NOT NULL AND NOT (disposition = 'command' AND body IS NOT NULL)`),
	check(`SELECT 'I3: inbound message ' || id || ' neither waits, nor is in a turn, nor has a disposition' AS problem
		FROM inbox WHERE disposition IS NULL AND due_at IS NULL AND turn IS NULL`),
	check(`SELECT 'I3: inbound message ' || i.id || ' has no disposition, and its turn is ' || t.state AS problem
		FROM inbox i JOIN turns t ON t.id = i.turn
		WHERE i.disposition IS NULL AND t.state NOT IN ('running', 'interrupted')`),
	check(`SELECT 'I3: inbound message ' || i.id || ' is ' || i.disposition || ', and its turn is ' || coalesce(t.state, 'missing') AS problem
		FROM inbox i LEFT JOIN turns t ON t.id = i.turn
		WHERE (i.disposition IN ('answered', 'merged') AND coalesce(t.state, '') <> 'completed')
			OR (i.disposition = 'stopped' AND coalesce(t.state, '') <> 'stopped')
			OR (i.disposition IN ('failed', 'expired') AND t.state IS NOT NULL AND t.state <> i.disposition)`),
	check(`SELECT 'I3: the text of inbound message ' || id || ' is gone, and no message has it' AS problem
		FROM inbox WHERE body IS NULL AND message IS NULL AND (disposition IS NULL OR disposition IN ('answered', 'merged'))`),
	check(`SELECT 'inbound message ' || i.id || ' names message ' || i.message || ', which is not there' AS problem
		FROM inbox i WHERE i.message IS NOT NULL AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.id = i.message)`),
	check(`SELECT 'refused inbound message ' || id || ' has kept a text or made a conversation' AS problem
		FROM inbox WHERE disposition = 'refused' AND (body IS NOT NULL OR conversation IS NOT NULL)`),

	check(`SELECT 'turn ' || t.id || ' has token ' || t.token || ', its conversation is at ' || c.token AS problem
		FROM turns t JOIN conversations c ON c.id = t.conversation WHERE t.token > c.token`),
	check(`SELECT 'turn ' || id || ' is ' || state || ', and its end or its due time says otherwise' AS problem
		FROM turns WHERE (state IN ('running', 'interrupted')) <> (due_at IS NOT NULL)
			OR (state IN ('running', 'interrupted')) <> (ended_at IS NULL)`),
	check(`SELECT 'turn ' || t.id || ' is of another conversation than its session ' || s.id AS problem
		FROM turns t JOIN sessions s ON s.key = t.session WHERE t.conversation <> s.conversation`),
	check(`SELECT 'message ' || m.id || ' is in another session than its turn ' || t.id AS problem
		FROM messages m JOIN turns t ON t.id = m.turn WHERE m.session <> t.session`),

	check(`SELECT 'I7: delivery ' || id || ' is ' || state || ', and its due time says otherwise' AS problem
		FROM deliveries WHERE (state IN ('pending', 'sending') AND due_at IS NULL)
			OR (state NOT IN ('pending', 'sending', 'unknown') AND due_at IS NOT NULL)`),
	check(`SELECT 'I19: delivery ' || min(id) || ' waits, and of its destination ' || count(first_at) || ' are said to be first' AS problem
		FROM deliveries WHERE due_at IS NOT NULL OR first_at IS NOT NULL GROUP BY lane HAVING count(first_at) <> 1`),
	check(`SELECT 'I19: delivery ' || d.id || ' is said to be first, and another one of its destination is before it' AS problem
		FROM deliveries d WHERE d.first_at IS NOT NULL AND (d.due_at IS NULL OR d.due_at <> d.first_at OR d.state = 'pending'
			AND EXISTS (SELECT 1 FROM deliveries e WHERE e.lane = d.lane AND e.due_at IS NOT NULL AND e.n < d.n))`),
	check(`SELECT 'I7: delivery ' || d.id || ' is open, and its turn is ' || coalesce(t.state, 'missing') AS problem
		FROM deliveries d LEFT JOIN turns t ON t.id = d.turn
		WHERE d.state = 'open' AND coalesce(t.state, '') NOT IN ('running', 'interrupted')`),

	check(`SELECT 'inbound message ' || i.id || ' is of conversation ' || i.conversation || ', which is not there' AS problem
		FROM inbox i WHERE i.conversation IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = i.conversation)`),
	check(`SELECT 'delivery ' || d.id || ' is of conversation ' || d.conversation || ', which is not there' AS problem
		FROM deliveries d WHERE d.conversation NOT LIKE '@%'
			AND NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = d.conversation)`),

	check(`SELECT 'I14: confirmation ' || id || ' is ' || status || ', and its due time says otherwise' AS problem
		FROM confirmations WHERE (status = 'pending' OR (status IN ('approved', 'auto_approved') AND use_by IS NOT NULL))
			<> (due_at IS NOT NULL)`),

	check(`SELECT 'session ' || id || ' has ended and waits for no finalising' AS problem
		FROM sessions WHERE ended_at IS NOT NULL AND finalised = 0 AND due_at IS NULL`),
	check(`SELECT 'session ' || id || ' has not been imported to its end: run the import again' AS problem
		FROM sessions WHERE claim = '${CLAIM}'`),
	check(`SELECT 'session ' || s.id || ' goes on from seq ' || s.base_seq || ' of session ' || b.id || ', which it may not' AS problem
		FROM sessions s JOIN sessions b ON b.key = s.base_session
		WHERE b.conversation <> s.conversation OR b.key >= s.key
			OR s.base_seq > (SELECT coalesce(max(m.seq), 0) FROM messages m WHERE m.session = b.key)`),
	check(`SELECT 'a hidden range of session ' || s.id || ' is ' || h.from_seq || ' to ' || h.to_seq || ', outside its rows' AS problem
		FROM hidden_ranges h JOIN sessions s ON s.key = h.session
		WHERE h.from_seq < 1 OR h.to_seq < h.from_seq
			OR h.to_seq > (SELECT coalesce(max(m.seq), 0) FROM messages m WHERE m.session = h.session)`),
	check(`SELECT 'a hidden range of session ' || s.id || ' was made in session ' || l.id || ' of another conversation' AS problem
		FROM hidden_ranges h JOIN sessions s ON s.key = h.session JOIN sessions l ON l.key = h.live
		WHERE l.conversation <> s.conversation`),

	// A live session counts what it shows. An ended one keeps its count, even if rows it continues were hidden since.
	check(`WITH RECURSIVE chain (owner, session, up_to) AS (
			SELECT key, key, CAST(${LATEST} AS BIGINT) FROM sessions
			UNION ALL
			SELECT c.owner, s.base_session, s.base_seq FROM chain c JOIN sessions s ON s.key = c.session WHERE s.base_session < s.key
		), counts (owner, counted, shown) AS (
			SELECT c.owner, count(*), sum(CASE WHEN ${HIDDEN} THEN 0 ELSE 1 END)
			FROM chain c JOIN messages m ON m.session = c.session AND m.seq <= c.up_to WHERE m.counted = 1 GROUP BY c.owner
		)
		SELECT 'session ' || s.id || ' counts ' || s.messages || ' messages, its rows make ' || coalesce(n.shown, 0) AS problem
		FROM sessions s LEFT JOIN counts n ON n.owner = s.key
		WHERE ${COMPLETE} AND (s.messages < 0 OR s.messages > coalesce(n.counted, 0)
			OR s.ended_at IS NULL AND s.messages <> coalesce(n.shown, 0))`),
	check(`SELECT 'session ' || s.id || ' counts ' || s.tool_errors || ' tool errors, its rows say otherwise' AS problem
		FROM sessions s WHERE ${COMPLETE} AND s.tool_errors <>
			(SELECT count(*) FROM messages m WHERE m.session = s.key AND m.role = 'tool' AND m.is_error = 1)`),
	check(`SELECT 'conversation ' || c.id || ' counts ' || c.message_count || ' messages, its rows say otherwise' AS problem
		FROM conversations c WHERE c.message_count <> (SELECT count(*) FROM sessions s JOIN messages m ON m.session = s.key
			WHERE s.conversation = c.id AND m.counted = 1 AND NOT ${HIDDEN})`),

	check(`SELECT 'blob ' || b.id || ' is said to be complete and lacks some of its ' || b.size || ' bytes' AS problem
		FROM blobs b WHERE b.complete = 1 AND b.size <>
			(SELECT coalesce(sum(length(k.body)), 0) FROM blob_chunks k WHERE k.blob = b.id)`),
	check(`SELECT 'alias ' || a.alias || ' of ' || a.platform || ' names principal ' || p.id || ', which is merged into another' AS problem
		FROM aliases a JOIN principals p ON p.id = a.principal WHERE p.merged_into IS NOT NULL`),
	check(`SELECT 'event ' || e.id || ' is there and said to be pruned' AS problem
		FROM events e JOIN settings s ON s.name = 'events_pruned_to' WHERE e.id <= CAST(s.value AS BIGINT)`),
];

function check(text: string): Statement<Problem> {
	return sql<Problem>(`${text} LIMIT ${NAMED}`);
}

const bodiesAfter = sql<BodyRow>(
	`SELECT m.id, m.session, m.seq, m.role, m.counted, m.body, m.body_key, s.id AS session_id, s.conversation, s.claim, s.tool_calls,
		c.state
	FROM messages m JOIN sessions s ON s.key = m.session LEFT JOIN conversations c ON c.id = s.conversation
	WHERE (m.session, m.seq) > (?, ?) ORDER BY m.session, m.seq LIMIT ${PAGE}`,
);
const blobThere = sql<{ complete: number }>(
	"SELECT complete FROM blobs WHERE conversation = ? AND digest = ?",
);
const callsWithoutRows = sql<{ id: string; tool_calls: number }>(
	`SELECT s.id, s.tool_calls FROM sessions s WHERE s.tool_calls <> 0 AND ${COMPLETE}
		AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.session = s.key) LIMIT ${NAMED}`,
);
const titled = sql<{ n: number }>(
	`SELECT count(*) AS n FROM sessions s JOIN conversations c ON c.id = s.conversation
	WHERE s.title_body IS NOT NULL AND c.state <> 'deleted'`,
);
const indexed = sql<{ n: number }>("SELECT count(*) AS n FROM search");

interface BodyRow {
	readonly id: number;
	readonly session: number;
	readonly seq: number;
	readonly role: Role;
	readonly counted: number;
	readonly body: string;
	readonly body_key: number | null;
	readonly session_id: SessionId;
	readonly conversation: string;
	readonly claim: string | null;
	readonly tool_calls: number;
	/** A deleted conversation is not searched. */
	readonly state: string | null;
}

/** All invariants that rows can show, and the violations; empty if all is well. */
export function* checkIntegrity(_: { readonly scope: OperatorScope }): Op<{ problems: readonly string[] }> {
	const problems: string[] = [];
	for (const statement of CHECKS) for (const { problem } of yield* all(statement)) problems.push(problem);
	const searchable = yield* checkBodies(problems);
	for (const row of yield* all(callsWithoutRows)) problems.push(wrongCalls(row.id, row.tool_calls, 0));
	const expected = searchable + (yield* countOf(titled));
	const found = yield* countOf(indexed);
	if (found !== expected)
		problems.push(`the search index has ${found} rows, the messages and titles make ${expected}`);
	return { problems };
}

function* countOf(statement: Statement<{ n: number }>): Op<number> {
	return Number((yield* get(statement))?.n ?? 0);
}

/** Reads each body once, in pages; returns how many messages the search index must contain. */
function* checkBodies(problems: string[]): Op<number> {
	const limit = problems.length + NAMED;
	const say = (problem: string): void => {
		if (problems.length < limit) problems.push(problem);
	};
	let searchable = 0;
	let last: BodyRow | undefined;
	let hidden: Hidden = [];
	let calls = 0;
	for (;;) {
		const page = yield* all(bodiesAfter, last?.session ?? 0, last?.seq ?? 0);
		for (const row of page) {
			if (row.session !== last?.session) {
				if (last && isWrong(last, calls)) say(wrongCalls(last.session_id, last.tool_calls, calls));
				hidden = yield* hiddenIn(row.session);
				calls = 0;
			}
			last = row;
			const body = readBody(row);
			if (!body) {
				say(`I8: the body of message ${row.id} is not readable`);
				continue;
			}
			calls += body.toolCalls?.length ?? 0;
			if (isCounted({ role: row.role, observed: body.observed }) !== (row.counted === 1))
				say(`message ${row.id} is ${row.counted === 1 ? "" : "not "}counted, and should be the other way`);
			for (const digest of blobsOf(body))
				if ((yield* get(blobThere, row.conversation, digest))?.complete !== 1)
					say(`I8: message ${row.id} refers to blob ${digest}, which is not there`);
			if (row.state !== "deleted" && isSearchable(row.role, body) && !isHidden(hidden, row.seq)) searchable++;
		}
		if (page.length < PAGE) break;
	}
	if (last && isWrong(last, calls)) say(wrongCalls(last.session_id, last.tool_calls, calls));
	return searchable;
}

function isWrong({ tool_calls, claim }: BodyRow, calls: number): boolean {
	return tool_calls !== calls && claim !== CLAIM;
}

function wrongCalls(session: string, says: number, rows: number): string {
	return `session ${session} counts ${says} tool calls, its rows make ${rows}`;
}

function readBody(row: BodyRow): MessageBody | null {
	try {
		return unseal<MessageBody>(row.body, row.body_key);
	} catch {
		return null;
	}
}

/** The rows indexMessage indexes: with an author and some text. */
function isSearchable(role: Role, { content }: MessageBody): boolean {
	if (role === "meta" || role === "system") return false;
	if (typeof content === "string") return content !== "";
	if ("digest" in content) return true;
	return content.length > 1 || content.some((part) => part.type === "text_blob" || wordsOf(part) !== "");
}

function wordsOf(part: { readonly type: string; readonly text?: string; readonly name?: string }): string {
	return (part.type === "text" ? part.text : part.name) ?? "";
}
