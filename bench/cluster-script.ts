// What the store on PostgreSQL is measured against: the same rows in the same tables, written by hand with `pg`, on as many connections.
// Each connection serves its share of the lanes, with one commit for each step of all of them; writes are pipelined, reads are waited for.
// It knows what comes next, checks nothing and refuses nothing.
import { performance } from "node:perf_hooks";
import pg from "pg";
import { systemClock, systemIds } from "../src/store/index.ts";
import { chatOf, digestOf, PLATFORM, REPLY, sourceOf, TEXT } from "./store-data.ts";
import { LANES, type Pick } from "./store-rounds.ts";

const DAY_MS = 86_400_000;

interface Round {
	readonly n: number;
	readonly conversation: string;
	readonly principal: string;
	readonly inbox: number;
	turn: string;
	token: number;
	session: { key: number; id: string };
}

export class PgScriptRounds {
	readonly #connections: Connection[];

	private constructor(connections: Connection[]) {
		this.#connections = connections;
	}

	static async open(url: string, connections: number): Promise<PgScriptRounds> {
		return new PgScriptRounds(
			await Promise.all(Array.from({ length: connections }, (_, n) => Connection.open(url, n))),
		);
	}

	/** Rounds a second, over so many milliseconds. */
	async rate(pick: Pick, ms: number): Promise<number> {
		const began = performance.now();
		let rounds = 0;
		const share = LANES / this.#connections.length;
		await Promise.all(
			this.#connections.map(async (connection, at) => {
				while (performance.now() - began < ms) {
					await connection.rounds(Array.from({ length: share }, (_, lane) => pick(at * share + lane)));
					rounds += share;
				}
			}),
		);
		return (rounds / (performance.now() - began)) * 1000;
	}

	async close(): Promise<void> {
		await Promise.all(this.#connections.map((connection) => connection.close()));
	}
}

class Connection {
	readonly #client: pg.Client;
	readonly #at: number;
	readonly #ids = systemIds(systemClock);
	#pending: Promise<unknown>[] = [];
	#events: unknown[][] = [];
	#said = 0;
	#lastId = 0;

	private constructor(client: pg.Client, at: number) {
		this.#client = client;
		this.#at = at;
	}

	static async open(url: string, at: number): Promise<Connection> {
		const client = new pg.Client({ connectionString: url, pipeline: true });
		await client.connect();
		await client.query("SET search_path = keryx");
		return new Connection(client, at);
	}

	close(): Promise<void> {
		return this.#client.end();
	}

	async rounds(conversations: readonly number[]): Promise<void> {
		const accepted = await this.#together(conversations, (n, now) => this.#accept(n, now));
		const begun = await this.#together(accepted, (one, now) => this.#begin(one, now));
		const due = await this.#together(begun, (one, now) => this.#end(one, now));
		const claim = this.#ids.uuid();
		await this.#together(due, async (id, now) => this.#write("claim", CLAIM, [claim, now + 60_000, id]));
		await this.#together(due, async (id, now) => {
			this.#write("settle", SETTLE, [id, now, id]);
			this.#event(now, "delivery.sent", null, null, id.split(":")[0] as string, ":1", null);
		});
	}

	/** One transaction; its events last, all at once, in the order of the commits. */
	async #together<In, Out>(
		items: readonly In[],
		work: (item: In, now: number) => Promise<Out>,
	): Promise<Out[]> {
		const now = Date.now();
		this.#pending.push(this.#client.query("BEGIN"));
		const results: Out[] = [];
		for (const item of items) results.push(await work(item, now));
		if (this.#events.length > 0) {
			this.#pending.push(this.#client.query("SELECT pg_advisory_xact_lock(1)"));
			this.#write("events", EVENTS, [JSON.stringify(this.#events.splice(0))]);
		}
		this.#pending.push(this.#client.query("COMMIT"));
		await Promise.all(this.#pending.splice(0));
		return results;
	}

	async #accept(n: number, now: number): Promise<Round> {
		const source = JSON.stringify(sourceOf(n));
		const [alias, address] = await Promise.all([
			this.#read<{ principal: string }>(
				"alias",
				"SELECT principal FROM aliases WHERE platform = $1 AND alias = $2",
				[PLATFORM, chatOf(n)],
			),
			this.#read<{ conversation: string }>(
				"address",
				"SELECT conversation FROM addresses WHERE digest = $1",
				[digestOf(n)],
			),
		]);
		const { conversation } = address;
		const { principal } = alias;
		const { id } = await this.#read<{ id: string }>("inbox", INSERT_INBOX, [
			PLATFORM,
			chatOf(n),
			`${process.pid} script ${this.#at} ${++this.#said}`,
			conversation,
			principal,
			now,
			JSON.stringify({ source: sourceOf(n), content: TEXT }),
			now,
		]);
		this.#write("source", "UPDATE conversations SET source_body = $1 WHERE id = $2", [source, conversation]);
		this.#event(now, "inbound.accepted", conversation, null, null, String(id), null);
		return { n, conversation, principal, inbox: Number(id), turn: "", token: 0, session: { key: 0, id: "" } };
	}

	async #begin(round: Round, now: number): Promise<Round> {
		const { conversation, principal, inbox } = round;
		const [item, { token }, session] = await Promise.all([
			this.#read<{ accepted_at: string; body: string }>(
				"item",
				"SELECT accepted_at, body FROM inbox WHERE id = $1",
				[inbox],
			),
			this.#read<{ token: string }>("token", "SELECT token FROM conversations WHERE id = $1", [conversation]),
			this.#read<{ key: number; id: string }>(
				"live",
				"SELECT key, id FROM sessions WHERE conversation = $1 AND ended_at IS NULL",
				[conversation],
			),
		]);
		round.turn = this.#ids.uuid();
		round.token = Number(token) + 1;
		round.session = session;
		this.#write("setToken", "UPDATE conversations SET token = $1 WHERE id = $2", [round.token, conversation]);
		this.#write("turn", INSERT_TURN, [
			round.turn,
			conversation,
			session.key,
			principal,
			round.token,
			destinationOf(round.n),
			now,
			now + DAY_MS,
		]);
		this.#event(now, "turn.begun", conversation, session.id, round.turn, null, null);
		const message = await this.#append(
			round,
			"user",
			0,
			(JSON.parse(item.body) as { content: string }).content,
			now,
		);
		this.#write(
			"take",
			"UPDATE inbox SET turn = $1, message = $2, body = NULL, due_at = NULL WHERE id = $3",
			[round.turn, message, inbox],
		);
		this.#touch(round, Number(item.accepted_at));
		return round;
	}

	async #end(round: Round, now: number): Promise<string> {
		const { conversation, turn } = round;
		const { token } = await this.#read<{ token: string }>(
			"held",
			"SELECT token FROM turns WHERE id = $1 AND state = 'running'",
			[turn],
		);
		if (Number(token) !== round.token) throw new Error(`turn ${turn} is not held`);
		await this.#append(round, "assistant", 1, REPLY, now);
		const id = `${turn}:1`;
		const body = JSON.stringify({ text: REPLY });
		this.#write("delivery", INSERT_DELIVERY, [
			id,
			conversation,
			turn,
			PLATFORM,
			destinationOf(round.n),
			now,
			body,
			now,
		]);
		this.#event(now, "delivery.pending", conversation, null, turn, ":1", null);
		this.#write(
			"endTurn",
			"UPDATE turns SET state = 'completed', ended_at = $1, due_at = NULL WHERE id = $2",
			[now, turn],
		);
		this.#write("dispose", "UPDATE inbox SET disposition = 'answered', disposed_at = $1 WHERE turn = $2", [
			now,
			turn,
		]);
		this.#event(now, "turn.ended", conversation, null, turn, null, null);
		this.#touch(round, now);
		return id;
	}

	async #append(
		round: Round,
		role: "user" | "assistant",
		index: number,
		text: string,
		now: number,
	): Promise<number> {
		const { conversation, principal, session, turn } = round;
		const { seq: last } = await this.#read<{ seq: string | null }>(
			"seq",
			"SELECT max(seq) AS seq FROM messages WHERE session = $1",
			[session.key],
		);
		const seq = Number(last ?? 0) + 1;
		// Ids of this connection only.
		this.#lastId = Math.max(this.#lastId + 8, now * 1024 + this.#at);
		const id = this.#lastId;
		const author = role === "user" ? principal : null;
		this.#write("message", INSERT_MESSAGE, [
			id,
			session.key,
			seq,
			role,
			turn,
			index,
			author,
			now,
			JSON.stringify({ content: text }),
		]);
		this.#write("search", INSERT_SEARCH, [
			id,
			`c${conversation} o${principal} f p${PLATFORM} r${role}`,
			text,
		]);
		this.#event(
			now,
			"message.appended",
			conversation,
			session.id,
			turn,
			String(id),
			JSON.stringify({ seq, role }),
		);
		this.#write("count", "UPDATE sessions SET messages = messages + 1 WHERE key = $1", [session.key]);
		this.#write(
			"preview",
			"UPDATE conversations SET message_count = message_count + 1, preview_body = $1 WHERE id = $2",
			[JSON.stringify(text.slice(0, 120)), conversation],
		);
		return id;
	}

	#touch({ session, conversation }: Round, at: number): void {
		this.#write(
			"touch",
			"UPDATE sessions SET last_activity_at = $1, had_activity = 1, due_at = $2 WHERE key = $3",
			[at, at + DAY_MS, session.key],
		);
		this.#write("touched", "UPDATE conversations SET last_activity_at = $1 WHERE id = $2", [
			at,
			conversation,
		]);
	}

	#event(...event: unknown[]): void {
		this.#events.push(event);
	}

	#write(name: string, text: string, values: unknown[]): void {
		this.#pending.push(this.#client.query({ name, text, values }));
	}

	async #read<Row>(name: string, text: string, values: unknown[]): Promise<Row> {
		const { rows } = await this.#client.query({ name, text, values });
		return rows[0] as Row;
	}
}

function destinationOf(n: number): string {
	return JSON.stringify({ platform: PLATFORM, account: "", chatId: chatOf(n), userId: chatOf(n) });
}

const EVENTS = `INSERT INTO events (at, type, conversation, session, turn, subject, facts)
	SELECT (v ->> 0)::bigint, v ->> 1, v ->> 2, v ->> 3, v ->> 4, v ->> 5, v ->> 6 FROM json_array_elements($1::json) AS e (v)`;
const INSERT_INBOX = `INSERT INTO inbox (kind, platform, account, chat, platform_message, conversation, principal, accepted_at, body, due_at)
	VALUES ('person', $1, '', $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING id`;
const INSERT_TURN = `INSERT INTO turns (id, conversation, session, principal, epoch, token, state, destination, started_at, due_at)
	VALUES ($1, $2, $3, $4, 1, $5, 'running', $6, $7, $8)`;
const INSERT_DELIVERY = `INSERT INTO deliveries (id, conversation, turn, kind, state, platform, account, destination, created_at, body, due_at)
	VALUES ($1, $2, $3, 'reply', 'pending', $4, '', $5, $6, $7, $8)`;
const INSERT_MESSAGE = `INSERT INTO messages (id, session, seq, role, turn, turn_index, counted, author, created_at, body)
	VALUES ($1, $2, $3, $4, $5, $6, 1, $7, $8, $9)`;
const INSERT_SEARCH = `INSERT INTO search (rowid, tags, words, tokens)
	SELECT $1::bigint, $2::text, w.words, search_tokens(w.words, $2) FROM search_words($3) AS w (words)`;
const CLAIM =
	"UPDATE deliveries SET state = 'sending', claim = $1, attempts = attempts + 1, due_at = $2 WHERE id = $3";
const SETTLE =
	"UPDATE deliveries SET state = 'sent', receipt = $1, due_at = NULL, settled_at = $2, claim = NULL WHERE id = $3";
