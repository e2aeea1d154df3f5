// A store as the first version of the schema left it, made by hand: conversations that were answered once, every tenth with an answer that
// still waits to be sent.
import Database from "better-sqlite3";
import { migration } from "../../src/store/schema.ts";
import { NOON } from "../support/clock.ts";

/** So many rows each conversation has in these tables. */
export const ROWS_OF_ONE = {
	principals: 1,
	aliases: 1,
	conversations: 1,
	addresses: 1,
	sessions: 1,
	turns: 1,
	messages: 2,
	inbox: 1,
	deliveries: 1,
	events: 4,
	search: 2,
} as const;

const EVENTS = ["conversation.created", "message.accepted", "turn.started", "turn.completed"];
const WAITING = 10;
const AT_ONCE = 20_000;

export function waitingIn(conversations: number): number {
	return Math.ceil(conversations / WAITING);
}

export function makeOld(path: string, conversations: number): void {
	const db = new Database(path);
	db.exec(migration(0, "sqlite"));
	db.pragma("user_version = 1");
	db.pragma("synchronous = OFF");
	db.pragma("cache_size = -200000");
	// A larger piece of the search index at once; put back, because the setting stays in the file.
	const pieces = (bytes: number): unknown =>
		db.exec(`INSERT INTO search (search, rank) VALUES ('hashsize', ${bytes})`);
	pieces(64 * 1024 * 1024);
	const add = adder(db);
	const addMany = db.transaction((from: number, to: number) => {
		for (let n = from; n < to; n++) add(n);
	});
	for (let n = 0; n < conversations; n += AT_ONCE) addMany(n, Math.min(conversations, n + AT_ONCE));
	pieces(1024 * 1024);
	db.close();
}

function adder(db: Database.Database): (n: number) => void {
	const into = (table: string, columns: string, more = "") => {
		const marks = columns.replace(/\w+/g, "?");
		return db.prepare(
			more === ""
				? `INSERT INTO ${table} (${columns}) VALUES (${marks})`
				: `INSERT INTO ${table} (${columns}, ${more.replace(/ = [^,]+/g, "")}) VALUES (${marks}, ${more.replace(/\w+ = /g, "")})`,
		);
	};
	const principal = into("principals", "id", `created_at = ${NOON}`);
	const alias = into("aliases", "alias, principal", `platform = 'telegram', created_at = ${NOON}`);
	const conversation = into(
		"conversations",
		"id, key, principal, source_body",
		`platform = 'telegram', profile = '', chat_type = 'dm', shared = 0, token = 1, message_count = 2, created_at = ${NOON}, last_activity_at = ${NOON}, preview_body = '""'`,
	);
	const address = into(
		"addresses",
		"digest, conversation, chat, participant",
		"profile = '', platform = 'telegram', account = '', scope = '', chat_type = 'dm', thread = ''",
	);
	const session = into(
		"sessions",
		"key, id, conversation",
		`opened_by = 'message', started_at = ${NOON}, last_activity_at = ${NOON}, cap = 0, messages = 2, context_body = '"You are Keryx."'`,
	);
	const turn = into(
		"turns",
		"id, conversation, session, principal, destination",
		`epoch = 1, token = 1, state = 'completed', started_at = ${NOON}, ended_at = ${NOON}`,
	);
	const message = into(
		"messages",
		"id, session, seq, role, turn, turn_index, body",
		`counted = 1, created_at = ${NOON}`,
	);
	const search = into("search", "rowid, tags, text");
	const inbox = into(
		"inbox",
		"chat, platform_message, conversation, principal, turn, message",
		`kind = 'person', platform = 'telegram', account = '', accepted_at = ${NOON}, disposition = 'answered', disposed_at = ${NOON}`,
	);
	const delivery = into(
		"deliveries",
		"id, conversation, turn, destination, state, due_at, body",
		`kind = 'reply', platform = 'telegram', account = '', created_at = ${NOON}`,
	);
	const event = into("events", "type, conversation, subject", `at = ${NOON}`);
	return (n) => {
		const id = n.toString(16).padStart(32, "0");
		const chat = `chat ${n}`;
		const destination = JSON.stringify({ platform: "telegram", account: "", chatId: chat });
		const source = { platform: "telegram", chat_id: chat, chat_type: "dm", user_id: chat, user_name: "Ada" };
		principal.run(id);
		alias.run(chat, id);
		conversation.run(id, `agent:main:telegram:dm:${n}`, id, JSON.stringify(source));
		address.run(id, id, chat, chat);
		session.run(n + 1, `20260310_120000_${n.toString(16).padStart(8, "0")}`, id);
		turn.run(`t${id}`, id, n + 1, id, destination);
		for (const [seq, role, content] of [
			[1, "user", QUESTION],
			[2, "assistant", ANSWER],
		] as const) {
			message.run(
				2 * n + seq,
				n + 1,
				seq,
				role,
				`t${id}`,
				seq,
				JSON.stringify({ content: `${content} ${n}` }),
			);
			search.run(2 * n + seq, `c${id} r${role}`, `${content} ${n}`);
		}
		inbox.run(chat, "1", id, id, `t${id}`, 2 * n + 1);
		const isWaiting = n % WAITING === 0;
		const body = JSON.stringify({ text: `${ANSWER} ${n}`, plain: `${ANSWER} ${n}` });
		delivery.run(
			`t${id}:0`,
			id,
			`t${id}`,
			destination,
			isWaiting ? "pending" : "sent",
			isWaiting ? NOON : null,
			body,
		);
		for (const type of EVENTS) event.run(type, id, id);
	};
}

const QUESTION = "Could you look at the deployment that failed last night and tell me what went wrong?";
const ANSWER = "An index had the same name as another one. I renamed it, and the deployment went through.";
