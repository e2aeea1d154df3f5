// What the store's benches write, and a store of many conversations, made by hand: a million of them through Keryx would take
// too long.
import Database from "better-sqlite3";
import {
	addressDigest,
	parseSource,
	readableKey,
	resolveAddress,
	type Source,
	toWireSource,
} from "../src/domain/index.ts";
import { searchTags } from "../src/store/search-text.ts";

export const TEXT =
	"Could you look at the deployment that failed last night and tell me what went wrong with the database migration?";
export const REPLY =
	"The migration stopped at step three because the index name was taken already. I renamed the index, ran it again on a copy, and it went through in eleven seconds.";

export const PLATFORM = "telegram";
export const ROUTING = { groupSessionsPerUser: true, threadSessionsPerUser: false, profile: null };
/** So many rows has the transcript of the first conversation; every other one has a single row. */
export const LONG = 1000;

const IDS_PER_MS = 1024;
const AT_ONCE = 20_000;

export function chatOf(n: number): string {
	return `chat ${n}`;
}

export function sourceOf(n: number): Record<string, unknown> {
	const chat = chatOf(n);
	return { platform: PLATFORM, chat_id: chat, chat_type: "dm", user_id: chat, user_name: "Alice" };
}

export function sessionOf(n: number): string {
	return `20260101_000000_${n.toString(16).padStart(8, "0")}`;
}

/** The key of the addresses table. */
export function digestOf(n: number): string {
	return addressDigest(resolveAddress(parsed(n), ROUTING));
}

function parsed(n: number): Source {
	return parseSource(sourceOf(n));
}

/** Adds the conversations from one number to another, each with a person, an address, a live session and a message. */
export function addConversations(path: string, from: number, to: number): void {
	const db = new Database(path);
	db.pragma("synchronous = OFF");
	db.pragma("cache_size = -400000");
	const add = adder(db);
	const addMany = db.transaction((first: number, end: number) => {
		for (let n = first; n < end; n++) add(n);
	});
	indexInPieces(db, () => {
		for (let n = from; n < to; n += AT_ONCE) {
			progress(`preparing ${to.toLocaleString("en")} conversations: ${Math.floor((n / to) * 100)} %`);
			addMany(n, Math.min(to, n + AT_ONCE));
		}
	});
	progress(`prepared ${to.toLocaleString("en")} conversations`);
	db.pragma("wal_checkpoint(TRUNCATE)");
	db.close();
}

/** With a search index written in larger pieces than it would be by itself. The setting is kept in the file, so it is put back. */
export function indexInPieces(db: Database.Database, add: () => void): void {
	const pieces = (bytes: number): unknown =>
		db.exec(`INSERT INTO search (search, rank) VALUES ('hashsize', ${bytes})`);
	pieces(64 * 1024 * 1024);
	add();
	pieces(1024 * 1024);
}

export function progress(what: string): void {
	process.stderr.write(process.stderr.isTTY ? `\r\u001b[K${what}` : `${what}\n`);
}

function adder(db: Database.Database): (n: number) => void {
	const principal = db.prepare("INSERT INTO principals (id, created_at) VALUES (?, ?)");
	const alias = db.prepare(
		"INSERT INTO aliases (platform, alias, principal, created_at) VALUES (?, ?, ?, ?)",
	);
	const conversation = db.prepare(
		`INSERT INTO conversations (id, key, platform, profile, chat_type, principal, shared, message_count, created_at,
			last_activity_at, source_body, preview_body) VALUES (?, ?, ?, ?, 'dm', ?, 0, ?, ?, ?, ?, ?)`,
	);
	const address = db.prepare(
		`INSERT INTO addresses (digest, conversation, profile, platform, account, scope, chat_type, chat, thread, participant)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
	);
	const session = db.prepare(
		`INSERT INTO sessions (key, id, conversation, opened_by, started_at, last_activity_at, had_activity, cap, messages,
			context_body, due_at) VALUES (?, ?, ?, 'first', ?, ?, 1, 0, ?, '"You are Keryx."', ?)`,
	);
	const message = db.prepare(
		"INSERT INTO messages (id, session, seq, role, counted, created_at, body) VALUES (?, ?, ?, 'user', 1, ?, ?)",
	);
	const search = db.prepare("INSERT INTO search (rowid, tags, text) VALUES (?, ?, ?)");
	// An hour ago at most, so that no session has become idle.
	const now = Date.now();
	return (n) => {
		const at = now - 3_600_000 + Math.floor(n * 3);
		const source = parsed(n);
		const resolved = resolveAddress(source, ROUTING);
		const { profile, platform, account, scope, chatType, chat, thread, participant } = resolved;
		const id = n.toString(16).padStart(32, "0");
		const rows = n === 0 ? LONG : 1;
		principal.run(id, at);
		alias.run(platform, chatOf(n), id, at);
		const wire = JSON.stringify(toWireSource(source));
		conversation.run(
			id,
			readableKey(resolved),
			platform,
			profile,
			id,
			rows,
			at,
			at,
			wire,
			JSON.stringify(TEXT),
		);
		address.run(
			addressDigest(resolved),
			id,
			profile,
			platform,
			account,
			scope,
			chatType,
			chat,
			thread,
			participant,
		);
		session.run(n + 1, sessionOf(n), id, at, at, rows, now + 86_400_000);
		const tags = searchTags({ conversation: id, principal: id, profile, platform, role: "user" });
		for (let seq = 1; seq <= rows; seq++) {
			const messageId = at * IDS_PER_MS + (n === 0 ? seq - LONG : 0);
			message.run(messageId, n + 1, seq, at, JSON.stringify({ content: `${TEXT} ${n}` }));
			search.run(messageId, tags, `${TEXT} ${n}`);
		}
	};
}
