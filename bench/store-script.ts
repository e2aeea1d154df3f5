// What Keryx is measured against: the same rows in the same tables, written by hand with better-sqlite3 in one thread, for as
// many conversations at once, with one commit for each step of all of them. It knows what comes next, checks nothing and
// refuses nothing.
import { performance } from "node:perf_hooks";
import Database from "better-sqlite3";
import { systemClock, systemIds } from "../src/store/index.ts";
import { chatOf, digestOf, PLATFORM, REPLY, sourceOf, TEXT } from "./store-data.ts";
import { LANES, type Pick } from "./store-rounds.ts";

const DAY_MS = 86_400_000;

interface Accepted {
	readonly n: number;
	readonly conversation: string;
	readonly principal: string;
	readonly inbox: number;
}

interface Begun extends Accepted {
	readonly turn: string;
	readonly token: number;
	readonly session: { readonly key: number; readonly id: string };
}

interface Due {
	readonly n: number;
	readonly id: string;
	readonly conversation: string;
	readonly turn: string;
}

export class ScriptRounds {
	readonly #db: Database.Database;
	readonly #sql: Statements;
	/** Time-ordered, as Keryx's are: random ones would be dearer in every index. */
	readonly #ids = systemIds(systemClock);
	readonly #searchable: [id: number, tags: string, text: string][] = [];
	#said = 0;

	constructor(path: string) {
		this.#db = new Database(path);
		this.#db.pragma("journal_mode = WAL");
		this.#db.pragma("synchronous = FULL");
		this.#db.pragma("foreign_keys = ON");
		this.#db.pragma("cache_size = -65536");
		this.#sql = statements(this.#db);
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
		const accepted = this.#together(conversations, (n, now) => this.#accept(n, now));
		const begun = this.#together(accepted, (one, now) => this.#begin(one, now));
		this.#together(begun, (one, now) => this.#end(one, now));
		const [claimed = []] = this.#together([LANES], (limit, now) => this.#claim(limit, now));
		this.#together(claimed, (one, now) => this.#settle(one, now));
	}

	#together<In, Out>(items: readonly In[], work: (item: In, now: number) => Out): Out[] {
		const now = Date.now();
		this.#sql.begin.run();
		const results = items.map((item) => work(item, now));
		// Last, and all at once: FTS5 writes out what it has gathered at every statement that needs a savepoint.
		for (const row of this.#searchable.splice(0)) this.#sql.insertSearch.run(...row);
		this.#sql.commit.run();
		return results;
	}

	#accept(n: number, now: number): Accepted {
		const sql = this.#sql;
		const source = sourceOf(n);
		const principal = sql.principal.get(PLATFORM, chatOf(n)) as string;
		const conversation = sql.address.get(digestOf(n)) as string;
		const { lastInsertRowid } = sql.insertInbox.run(
			PLATFORM,
			chatOf(n),
			`${process.pid} script ${++this.#said}`,
			conversation,
			principal,
			now,
			JSON.stringify({ source, content: TEXT }),
			now,
		);
		sql.source.run(JSON.stringify(source), conversation);
		sql.event.run(now, "inbound.accepted", conversation, null, null, String(lastInsertRowid), null);
		return { n, conversation, principal, inbox: Number(lastInsertRowid) };
	}

	#begin(accepted: Accepted, now: number): Begun {
		const { conversation, principal, inbox } = accepted;
		const sql = this.#sql;
		const item = sql.inbox.get(inbox) as { accepted_at: number; body: string };
		const { content } = JSON.parse(item.body) as { content: string };
		const token = (sql.token.get(conversation) as number) + 1;
		const session = sql.liveSession.get(conversation) as Begun["session"];
		const turn = this.#ids.uuid();
		sql.setToken.run(token, conversation);
		sql.insertTurn.run(
			turn,
			conversation,
			session.key,
			principal,
			token,
			destinationOf(accepted.n),
			now,
			now + DAY_MS,
		);
		sql.event.run(now, "turn.begun", conversation, session.id, turn, null, null);
		const begun = { ...accepted, turn, token, session };
		sql.takeInbox.run(turn, this.#append(begun, "user", 0, content, now), inbox);
		this.#touch(begun, item.accepted_at);
		return begun;
	}

	#end(begun: Begun, now: number): void {
		const { conversation, turn } = begun;
		const sql = this.#sql;
		if (sql.turnToken.get(turn) !== begun.token) throw new Error(`turn ${turn} is not held`);
		this.#append(begun, "assistant", 1, REPLY, now);
		const id = `${turn}:1`;
		const body = JSON.stringify({ text: REPLY });
		sql.insertDelivery.run(id, conversation, turn, PLATFORM, destinationOf(begun.n), now, body, now);
		sql.event.run(now, "delivery.pending", conversation, null, turn, ":1", null);
		sql.endTurn.run(now, turn);
		sql.dispose.run(now, turn);
		sql.event.run(now, "turn.ended", conversation, null, turn, null, null);
		this.#touch(begun, now);
	}

	#claim(limit: number, now: number): Due[] {
		const claim = this.#ids.uuid();
		const due = this.#sql.due.all(now, limit) as Due[];
		for (const { n } of due) this.#sql.claim.run(claim, now + 60_000, n);
		return due;
	}

	#settle({ n, conversation, turn }: Due, now: number): void {
		this.#sql.settle.run(`r${n}`, now, n);
		this.#sql.event.run(now, "delivery.sent", conversation, null, turn, ":1", null);
	}

	#append(begun: Begun, role: "user" | "assistant", index: number, text: string, now: number): number {
		const { conversation, principal, session, turn } = begun;
		const sql = this.#sql;
		const id = Math.max((sql.lastId.get() as number) + 1, now * 1024);
		const seq = (sql.lastSeq.get(session.key) as number) + 1;
		const author = role === "user" ? principal : null;
		sql.insertMessage.run(
			id,
			session.key,
			seq,
			role,
			turn,
			index,
			author,
			now,
			JSON.stringify({ content: text }),
		);
		this.#searchable.push([id, `c${conversation} o${principal} f p${PLATFORM} r${role}`, text]);
		sql.event.run(
			now,
			"message.appended",
			conversation,
			session.id,
			turn,
			String(id),
			JSON.stringify({ seq, role }),
		);
		sql.countInSession.run(session.key);
		sql.countInConversation.run(JSON.stringify(text.slice(0, 120)), conversation);
		return id;
	}

	#touch({ session, conversation }: Begun, at: number): void {
		this.#sql.touchSession.run(at, at + DAY_MS, session.key);
		this.#sql.touchConversation.run(at, conversation);
	}
}

function destinationOf(n: number): string {
	return JSON.stringify({ platform: PLATFORM, account: "", chatId: chatOf(n), userId: chatOf(n) });
}

type Statements = ReturnType<typeof statements>;

function statements(db: Database.Database) {
	const write = (sql: string): Database.Statement => db.prepare(sql);
	const value = (sql: string): Database.Statement => db.prepare(sql).pluck();
	return {
		begin: write("BEGIN IMMEDIATE"),
		commit: write("COMMIT"),
		event: write(
			"INSERT INTO events (at, type, conversation, session, turn, subject, facts) VALUES (?, ?, ?, ?, ?, ?, ?)",
		),
		principal: value("SELECT principal FROM aliases WHERE platform = ? AND alias = ?"),
		address: value("SELECT conversation FROM addresses WHERE digest = ?"),
		insertInbox: write(
			`INSERT INTO inbox (kind, platform, account, chat, platform_message, conversation, principal, accepted_at, body, due_at)
			VALUES ('person', ?, '', ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		),
		source: write("UPDATE conversations SET source_body = ? WHERE id = ?"),
		inbox: write("SELECT accepted_at, body FROM inbox WHERE id = ?"),
		token: value("SELECT token FROM conversations WHERE id = ?"),
		setToken: write("UPDATE conversations SET token = ? WHERE id = ?"),
		liveSession: write("SELECT key, id FROM sessions WHERE conversation = ? AND ended_at IS NULL"),
		insertTurn: write(
			`INSERT INTO turns (id, conversation, session, principal, epoch, token, state, destination, started_at, due_at)
			VALUES (?, ?, ?, ?, 1, ?, 'running', ?, ?, ?)`,
		),
		takeInbox: write("UPDATE inbox SET turn = ?, message = ?, body = NULL, due_at = NULL WHERE id = ?"),
		lastId: value("SELECT max(id) FROM messages"),
		lastSeq: value("SELECT max(seq) FROM messages WHERE session = ?"),
		insertMessage: write(
			`INSERT INTO messages (id, session, seq, role, turn, turn_index, counted, author, created_at, body)
			VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, ?)`,
		),
		insertSearch: write("INSERT INTO search (rowid, tags, text) VALUES (?, ?, ?)"),
		countInSession: write("UPDATE sessions SET messages = messages + 1 WHERE key = ?"),
		countInConversation: write(
			"UPDATE conversations SET message_count = message_count + 1, preview_body = ? WHERE id = ?",
		),
		touchSession: write(
			"UPDATE sessions SET last_activity_at = ?, had_activity = 1, due_at = ? WHERE key = ?",
		),
		touchConversation: write("UPDATE conversations SET last_activity_at = ? WHERE id = ?"),
		turnToken: value("SELECT token FROM turns WHERE id = ? AND state = 'running'"),
		insertDelivery: write(
			`INSERT INTO deliveries (id, conversation, turn, kind, state, platform, account, destination, created_at, body, due_at)
			VALUES (?, ?, ?, 'reply', 'pending', ?, '', ?, ?, ?, ?)`,
		),
		endTurn: write("UPDATE turns SET state = 'completed', ended_at = ?, due_at = NULL WHERE id = ?"),
		dispose: write("UPDATE inbox SET disposition = 'answered', disposed_at = ? WHERE turn = ?"),
		due: write(
			"SELECT n, id, conversation, turn, destination, body FROM deliveries WHERE due_at <= ? AND state = 'pending' ORDER BY due_at, n LIMIT ?",
		),
		claim: write(
			"UPDATE deliveries SET state = 'sending', claim = ?, attempts = attempts + 1, due_at = ? WHERE n = ?",
		),
		settle: write(
			"UPDATE deliveries SET state = 'sent', receipt = ?, due_at = NULL, settled_at = ?, claim = NULL WHERE n = ?",
		),
	};
}
