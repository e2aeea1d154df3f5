// One connection to a PostgreSQL server: how it is opened, and how statements are sent. Statements are pipelined; the server answers in
// order.
import pg from "pg";
import type { Query, Statement, Value } from "../query.ts";
import type { ServerSettings } from "./address.ts";

export interface ConnectionOptions {
	/** Shown in pg_stat_activity. */
	readonly name: string;
	/** A statement without an answer for this long ends the connection; 0: never. */
	readonly timeoutMs: number;
	/** Runs once, right after connecting. */
	readonly settings?: readonly string[];
}

export interface Answer {
	readonly rows: readonly unknown[];
	readonly count: number;
	/** The server's command tag: COMMIT, ROLLBACK, SELECT. */
	readonly command: string;
}

const CONNECT_MS = 10_000;
const INT8 = 20;

/** Integers are returned as numbers: all integers in the store are exact. */
const types = {
	getTypeParser: ((oid: number, format?: "text" | "binary") =>
		oid === INT8 ? Number : pg.types.getTypeParser(oid, format as "text")) as typeof pg.types.getTypeParser,
};

export class Connection {
	readonly #client: pg.Client;
	readonly #losing = new Set<() => void>();
	#lost: Error | undefined;

	private constructor(client: pg.Client) {
		this.#client = client;
		client.on("error", (error) => this.#lose(error));
		client.on("end", () => this.#lose(new Error("the connection was closed")));
	}

	static async open({ url, schema }: ServerSettings, options: ConnectionOptions): Promise<Connection> {
		const client = new pg.Client({
			connectionString: url,
			application_name: options.name,
			connectionTimeoutMillis: CONNECT_MS,
			query_timeout: options.timeoutMs,
			keepAlive: true,
			keepAliveInitialDelayMillis: 10_000,
			pipeline: true,
			types,
		});
		const connection = new Connection(client);
		await client.connect();
		try {
			await Promise.all(
				[...ALWAYS, `SET search_path = ${quoted(schema)}`, ...(options.settings ?? [])].map((text) =>
					client.query(text),
				),
			);
			return connection;
		} catch (error) {
			await connection.close();
			throw error;
		}
	}

	/** Whether it is no longer usable. */
	get isLost(): boolean {
		return this.#lost !== undefined;
	}

	/** Called at once when it is lost or closed. */
	onLost(listener: () => void): void {
		this.#losing.add(listener);
	}

	/** The server's process id of this connection. */
	get pid(): number {
		return (this.#client as unknown as { readonly processID: number }).processID;
	}

	async exec(text: string, values: readonly Value[] = []): Promise<Answer> {
		const { rows, rowCount, command } = await this.#client.query(text, values.map(plain));
		return { rows, count: rowCount ?? 0, command };
	}

	/** A declared statement, parsed once per connection. */
	async ask({ statement, params, postgres = params }: Query): Promise<Answer> {
		const { rows, rowCount, command } = await this.#client.query({
			name: `k${statement.index}`,
			text: textOf(statement),
			values: postgres.map(plain),
		});
		return { rows, count: rowCount ?? 0, command };
	}

	/** A notification on a channel this connection listens to. */
	onNotification(listener: (payload: string) => void): void {
		this.#client.on("notification", ({ payload }) => listener(payload ?? ""));
	}

	async close(): Promise<void> {
		if (this.isLost) return;
		await this.#client.end().catch(() => {});
	}

	/** Without waiting for running statements. */
	drop(): void {
		this.#lose(new Error("the connection was dropped"));
		(
			this.#client as unknown as { readonly connection: { readonly stream: { destroy(): void } } }
		).connection.stream.destroy();
	}

	#lose(error: Error): void {
		if (this.#lost) return;
		this.#lost = error;
		for (const listener of this.#losing) listener();
	}
}

const ALWAYS = [
	"SET synchronous_commit = on",
	"SET client_encoding = 'UTF8'",
	"SET standard_conforming_strings = on",
	"SET jit = off",
];

export function quoted(name: string): string {
	return `"${name.replaceAll('"', '""')}"`;
}

/** PostgreSQL accepts neither NUL nor lone surrogates in text; both become the replacement character. */
export function plain(value: Value): Value {
	if (typeof value !== "string") return value;
	const text = value.isWellFormed() ? value : value.toWellFormed();
	return text.includes("\0") ? text.replaceAll("\0", "\ufffd") : text;
}

const texts: string[] = [];

/** `?` becomes `$1`, `$2`, ...; one inside a quoted word stays. */
function textOf({ index, sql, postgres }: Statement<unknown>): string {
	let text = texts[index];
	if (text === undefined) {
		let n = 0;
		text = (postgres ?? sql).replace(/'[^']*'|\?/g, (found) => (found === "?" ? `$${++n}` : found));
		texts[index] = text;
	}
	return text;
}
