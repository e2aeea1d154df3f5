// A store with many conversations, written by hand into the tables: a million messages through the gateway would take too long.
import Database from "better-sqlite3";
import {
	addressDigest,
	parseSource,
	readableKey,
	resolveAddress,
	toWireSource,
} from "../src/domain/index.ts";
import { inboundOf } from "./gateway-load.ts";

const AT = Date.UTC(2026, 0, 1);
const ROUTING = { groupSessionsPerUser: true, threadSessionsPerUser: false };

export function chatOf(n: number): string {
	return `chat ${n}`;
}

/** Adds people who have a live session each, in a store that Keryx made and has closed. */
export function addConversations(path: string, count: number): void {
	const db = new Database(path);
	db.pragma("synchronous = OFF");
	db.pragma("cache_size = -400000");
	const principal = db.prepare("INSERT INTO principals (id, created_at) VALUES (?, ?)");
	const alias = db.prepare(
		"INSERT INTO aliases (platform, alias, principal, created_at) VALUES (?, ?, ?, ?)",
	);
	const conversation = db.prepare(
		`INSERT INTO conversations (id, key, platform, profile, chat_type, principal, shared, created_at, last_activity_at,
			source_body, preview_body) VALUES (?, ?, ?, ?, 'dm', ?, 0, ?, ?, ?, '""')`,
	);
	const address = db.prepare(
		`INSERT INTO addresses (digest, conversation, profile, platform, account, scope, chat_type, chat, thread, participant)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
	);
	const session = db.prepare(
		`INSERT INTO sessions (id, conversation, opened_by, started_at, last_activity_at, cap, context_body)
		VALUES (?, ?, 'first', ?, ?, 200, '"You are Keryx."')`,
	);
	const add = (n: number): void => {
		const source = parseSource(inboundOf(chatOf(n)).source);
		const resolved = resolveAddress(source, ROUTING);
		const id = n.toString(16).padStart(32, "0");
		principal.run(id, AT);
		alias.run(source.platform, chatOf(n), id, AT);
		const { profile, platform, account, scope, chatType, chat, thread, participant } = resolved;
		const wire = JSON.stringify(toWireSource(source));
		conversation.run(id, readableKey(resolved), platform, profile, id, AT, AT, wire);
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
		session.run(`20260101_000000_${n.toString(16).padStart(8, "0")}`, id, AT, AT);
	};
	const addMany = db.transaction((from: number, to: number) => {
		for (let n = from; n < to; n++) add(n);
	});
	for (let n = 0; n < count; n += 10_000) addMany(n, Math.min(count, n + 10_000));
	db.pragma("wal_checkpoint(TRUNCATE)");
	db.close();
}
