// The second limit: what a careful hand would write for the same promises with tables of its own. Integer keys, no text that is repeated,
// as few statements and indexes as the promises need: durable before it is acknowledged, one platform message once, one running turn with
// a token, usage, due sessions, events, search with prefixes. Five commits for the rounds of all lanes, as the other two.
import { performance } from "node:perf_hooks";
import Database from "better-sqlite3";
import { chatOf, indexInPieces, PLATFORM, REPLY, TEXT } from "./store-data.ts";
import { LANES, type Pick } from "./store-rounds.ts";

const DAY_MS = 86_400_000;
const AT_ONCE = 20_000;

const TABLES = `
CREATE TABLE conversation (id INTEGER PRIMARY KEY, address TEXT UNIQUE, token INTEGER DEFAULT 0, messages INTEGER DEFAULT 0,
	active_at INTEGER, preview TEXT, session INTEGER) STRICT;
CREATE TABLE session (id INTEGER PRIMARY KEY, conversation INTEGER, messages INTEGER DEFAULT 0, input INTEGER DEFAULT 0,
	output INTEGER DEFAULT 0, active_at INTEGER, due_at INTEGER) STRICT;
CREATE INDEX session_due ON session (due_at) WHERE due_at IS NOT NULL;
CREATE TABLE inbox (id INTEGER PRIMARY KEY, conversation INTEGER, platform_message TEXT, at INTEGER, body TEXT, due_at INTEGER,
	turn INTEGER, disposition TEXT) STRICT;
CREATE UNIQUE INDEX inbox_once ON inbox (conversation, platform_message);
CREATE INDEX inbox_due ON inbox (due_at) WHERE due_at IS NOT NULL;
CREATE TABLE turn (id INTEGER PRIMARY KEY, conversation INTEGER, token INTEGER, state TEXT, at INTEGER) STRICT;
CREATE UNIQUE INDEX one_turn ON turn (conversation) WHERE state = 'running';
CREATE TABLE message (id INTEGER PRIMARY KEY, conversation INTEGER, session INTEGER, seq INTEGER, role TEXT, turn INTEGER,
	at INTEGER, body TEXT) STRICT;
CREATE UNIQUE INDEX message_place ON message (session, seq);
CREATE TABLE delivery (id INTEGER PRIMARY KEY, conversation INTEGER, turn INTEGER, state TEXT, destination TEXT, body TEXT,
	due_at INTEGER, receipt TEXT) STRICT;
CREATE INDEX delivery_due ON delivery (due_at) WHERE due_at IS NOT NULL;
CREATE TABLE event (id INTEGER PRIMARY KEY, at INTEGER, type TEXT, conversation INTEGER, subject INTEGER) STRICT;
CREATE INDEX event_conversation ON event (conversation, id);
CREATE TABLE model_call (turn INTEGER, n INTEGER, model TEXT, input INTEGER, output INTEGER, at INTEGER, PRIMARY KEY (turn, n))
	STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE search USING fts5 (tags, text, content='', contentless_delete=1, prefix='1 2 3',
	tokenize="unicode61 remove_diacritics 2 categories 'L* N* M* Co So'");
`;

interface Round {
	readonly conversation: number;
	readonly inbox: number;
	token: number;
	session: number;
	seq: number;
	turn: number;
}

interface Due {
	readonly id: number;
	readonly conversation: number;
}

export class LeanRounds {
	readonly #db: Database.Database;
	readonly #sql: Statements;
	readonly #searchable: [id: number, tags: string, text: string][] = [];
	#said = 0;

	/** A new file with so many conversations, each with one message, as in the store that Keryx is given. */
	constructor(path: string, conversations: number) {
		this.#db = new Database(path);
		this.#db.pragma("journal_mode = WAL");
		this.#db.pragma("synchronous = FULL");
		this.#db.pragma("cache_size = -65536");
		this.#db.exec(TABLES);
		this.#sql = statements(this.#db);
		const now = Date.now();
		const add = this.#db.transaction((from: number, to: number) => {
			for (let n = from; n < to; n++) {
				this.#sql.addConversation.run(n, addressOf(n), now, n);
				this.#sql.addSession.run(n, n, now, now + DAY_MS);
				const text = `${TEXT} ${n}`;
				const body = JSON.stringify({ content: text });
				const { lastInsertRowid: id } = this.#sql.addMessage.run(n, n, 0, "user", null, now, body);
				this.#sql.addSearch.run(id, `c${n} ruser`, text);
			}
		});
		indexInPieces(this.#db, () => {
			for (let n = 0; n < conversations; n += AT_ONCE) add(n, Math.min(conversations, n + AT_ONCE));
		});
		this.#db.pragma("wal_checkpoint(TRUNCATE)");
	}

	/** Rounds a second, over so many milliseconds. */
	rate(pick: Pick, ms: number): number {
		const began = performance.now();
		let rounds = 0;
		for (; performance.now() - began < ms; rounds += LANES)
			this.#rounds(Array.from({ length: LANES }, (_, lane) => pick(lane)));
		return (rounds / (performance.now() - began)) * 1000;
	}

	close(): void {
		this.#db.close();
	}

	#rounds(conversations: readonly number[]): void {
		const rounds = this.#together(conversations, (n, now) => this.#accept(n, now));
		this.#together(rounds, (round, now) => this.#begin(round, now));
		this.#together(rounds, (round, now) => this.#end(round, now));
		const [due = []] = this.#together([LANES], (limit, now) => this.#claim(limit, now));
		this.#together(due, (one, now) => this.#settle(one, now));
	}

	#together<In, Out>(items: readonly In[], work: (item: In, now: number) => Out): Out[] {
		const now = Date.now();
		this.#sql.begin.run();
		const results = items.map((item) => work(item, now));
		for (const row of this.#searchable.splice(0)) this.#sql.addSearch.run(...row);
		this.#sql.commit.run();
		return results;
	}

	#accept(n: number, now: number): Round {
		const sql = this.#sql;
		const conversation = sql.conversation.get(addressOf(n)) as number;
		const source = { platform: PLATFORM, chat_id: chatOf(n), user_id: chatOf(n), user_name: "Alice" };
		const body = JSON.stringify({ source, content: TEXT });
		const inbox = Number(sql.addInbox.run(conversation, `m${++this.#said}`, now, body, now).lastInsertRowid);
		sql.addEvent.run(now, "inbound.accepted", conversation, inbox);
		return { conversation, inbox, token: 0, session: 0, seq: 0, turn: 0 };
	}

	#begin(round: Round, now: number): void {
		const { conversation, inbox } = round;
		const sql = this.#sql;
		const { content } = JSON.parse(sql.body.get(inbox) as string) as { content: string };
		const row = sql.take.get(now, REPLY.slice(0, 120), conversation) as Record<
			"token" | "messages" | "session",
			number
		>;
		round.token = row.token;
		round.session = row.session;
		round.seq = row.messages;
		round.turn = Number(sql.addTurn.run(conversation, row.token, now).lastInsertRowid);
		sql.addEvent.run(now, "turn.begun", conversation, round.turn);
		this.#append(round, round.seq - 1, "user", content, now);
		sql.takeInbox.run(round.turn, inbox);
	}

	#end(round: Round, now: number): void {
		const { conversation, turn } = round;
		const sql = this.#sql;
		this.#append(round, round.seq, "assistant", REPLY, now);
		if (sql.endTurn.run(turn, round.token).changes !== 1) throw new Error(`turn ${turn} is not held`);
		sql.dispose.run(round.inbox);
		sql.count.run(now, now + DAY_MS, round.session);
		sql.addCall.run(turn, now);
		sql.addDelivery.run(
			conversation,
			turn,
			`${PLATFORM} ${conversation}`,
			JSON.stringify({ text: REPLY }),
			now,
		);
		sql.addEvent.run(now, "turn.ended", conversation, turn);
	}

	#append(
		{ conversation, session, turn }: Round,
		seq: number,
		role: string,
		text: string,
		now: number,
	): void {
		const body = JSON.stringify({ content: text });
		const id = Number(
			this.#sql.addMessage.run(conversation, session, seq, role, turn, now, body).lastInsertRowid,
		);
		this.#searchable.push([id, `c${conversation} r${role}`, text]);
		this.#sql.addEvent.run(now, "message.appended", conversation, id);
	}

	#claim(limit: number, now: number): Due[] {
		const due = this.#sql.due.all(now, limit) as Due[];
		for (const { id } of due) this.#sql.claim.run(now + 60_000, id);
		return due;
	}

	#settle({ id, conversation }: Due, now: number): void {
		this.#sql.settle.run(`r${id}`, id);
		this.#sql.addEvent.run(now, "delivery.sent", conversation, id);
	}
}

function addressOf(n: number): string {
	return `${PLATFORM}::dm:${chatOf(n)}`;
}

type Statements = ReturnType<typeof statements>;

function statements(db: Database.Database) {
	const write = (sql: string): Database.Statement => db.prepare(sql);
	const value = (sql: string): Database.Statement => db.prepare(sql).pluck();
	return {
		begin: write("BEGIN IMMEDIATE"),
		commit: write("COMMIT"),
		addConversation: write(
			"INSERT INTO conversation (id, address, messages, active_at, session) VALUES (?, ?, 1, ?, ?)",
		),
		addSession: write("INSERT INTO session (id, conversation, active_at, due_at) VALUES (?, ?, ?, ?)"),
		conversation: value("SELECT id FROM conversation WHERE address = ?"),
		addInbox: write(
			"INSERT INTO inbox (conversation, platform_message, at, body, due_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
		),
		body: value("SELECT body FROM inbox WHERE id = ?"),
		take: write(
			`UPDATE conversation SET token = token + 1, messages = messages + 2, active_at = ?, preview = ? WHERE id = ?
			RETURNING token, messages, session`,
		),
		addTurn: write("INSERT INTO turn (conversation, token, state, at) VALUES (?, ?, 'running', ?)"),
		addMessage: write(
			"INSERT INTO message (conversation, session, seq, role, turn, at, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
		),
		addSearch: write("INSERT INTO search (rowid, tags, text) VALUES (?, ?, ?)"),
		takeInbox: write("UPDATE inbox SET turn = ?, due_at = NULL, body = NULL WHERE id = ?"),
		endTurn: write("UPDATE turn SET state = 'done' WHERE id = ? AND token = ? AND state = 'running'"),
		dispose: write("UPDATE inbox SET disposition = 'answered' WHERE id = ?"),
		count: write(
			"UPDATE session SET messages = messages + 2, input = input + 900, output = output + 60, active_at = ?, due_at = ? WHERE id = ?",
		),
		addCall: write(
			"INSERT INTO model_call (turn, n, model, input, output, at) VALUES (?, 1, 'm', 900, 60, ?)",
		),
		addDelivery: write(
			"INSERT INTO delivery (conversation, turn, state, destination, body, due_at) VALUES (?, ?, 'pending', ?, ?, ?)",
		),
		due: write(
			"SELECT id, conversation, destination, body FROM delivery WHERE due_at <= ? ORDER BY due_at LIMIT ?",
		),
		claim: write("UPDATE delivery SET state = 'sending', due_at = ? WHERE id = ?"),
		settle: write("UPDATE delivery SET state = 'sent', due_at = NULL, receipt = ? WHERE id = ?"),
		addEvent: write("INSERT INTO event (at, type, conversation, subject) VALUES (?, ?, ?, ?)"),
	};
}
