// One connection to the store's database: its settings, prepared statements, and how it runs an operation.
import Database from "better-sqlite3";
import { KeryxError } from "../../errors.ts";
import { insertEvent } from "../operations/events.ts";
import { type Op, type Query, runToEnd, type Value } from "../query.ts";
import { SCHEMA_VERSION } from "../schema.ts";
import { migrate, type TellMigration, versionOf } from "./migrating.ts";

/** Pages that a connection keeps. The rest is in the system's cache, which answers in two microseconds and is released under pressure. */
const WRITER_CACHE_KIB = 8192;
const READER_CACHE_KIB = 4096;

/**
 * How many parts of the search index are joined at a time, little by little; SQLite's default is 4. Every word is written fewer times, and
 * a search looks at more parts, each for a few microseconds.
 */
const JOINED_PARTS = 8;
/** From so many on SQLite joins all parts in one commit, which takes seconds in a large index. Its default is 16. */
const TOO_MANY_PARTS = 256;

/** How long a statement waits for another program's brief lock. */
const LOCK_WAIT_MS = 5000;

/** Events per INSERT: one by one they cost half as much again. */
const EVENTS_AT_ONCE = 16;
const INSERT_EVENTS = insertEvent.sql + ", (?, ?, ?, ?, ?, ?, ?)".repeat(EVENTS_AT_ONCE - 1);

/** The settings that durability depends on, as the connection sees them. */
export interface ConnectionSettings {
	readonly journalMode: string;
	/** 2 is FULL. */
	readonly synchronous: number;
	readonly foreignKeys: boolean;
}

/** For the log, in pages: its size, and how many are already in the database. */
export interface LogState {
	readonly frames: number;
	readonly folded: number;
}

/** An in-memory database with the schema and no rows. */
let emptyStore: Buffer | undefined;

export class Connection {
	readonly db: Database.Database;
	readonly #prepared: Database.Statement[] = [];
	/** Whether the statement at that index writes: asking better-sqlite3 each time costs as much as a small query. */
	readonly #writes: boolean[] = [];
	readonly #control = new Map<string, Database.Statement>();
	#later: Query[] = [];
	#wrote = false;
	#changes: Database.Statement | undefined;
	#log: Database.Statement | undefined;
	#manyEvents: Database.Statement | undefined;

	private constructor(db: Database.Database) {
		this.db = db;
	}

	/** Counts rows changed by this connection since it was opened. */
	changes(): number {
		this.#changes ??= this.db.prepare("SELECT total_changes()").pluck();
		return this.#changes.get() as number;
	}

	/** SQLite's count across all programs. */
	log(): LogState {
		this.#log ??= this.db.prepare("PRAGMA wal_checkpoint(NOOP)");
		const { log, checkpointed } = this.#log.get() as { log: number; checkpointed: number };
		return { frames: log, folded: checkpointed };
	}

	/** The log size that SQLite's count implies: a header, and one before each page. */
	logBytes(): number {
		const { frames } = this.log();
		return frames === 0 ? 0 : 32 + frames * (24 + (this.db.pragma("page_size", { simple: true }) as number));
	}

	/** Changes after each commit of another connection. */
	commitsOfOthers(): number {
		return this.db.pragma("data_version", { simple: true }) as number;
	}

	/** Writes the log into the database, as far as readers allow, without waiting for them. */
	fold(mode: "PASSIVE" | "TRUNCATE"): void {
		this.db.pragma("busy_timeout = 0");
		try {
			this.db.pragma(`wal_checkpoint(${mode})`);
		} finally {
			this.db.pragma(`busy_timeout = ${LOCK_WAIT_MS}`);
		}
	}

	/** To an empty file. The source is only read, but SQLite refuses this to a query-only connection. */
	copyTo(path: string): void {
		this.db.pragma("query_only = OFF");
		try {
			this.db.prepare("VACUUM INTO ?").run(path);
		} finally {
			this.db.pragma("query_only = ON");
		}
	}

	/** For the owner: migrates the schema. */
	static writer(path: string, tell: TellMigration = () => {}): Connection {
		return Connection.#owned(path, path, tell);
	}

	/** In memory, only for this connection. The first one creates the schema; later ones start with a copy of it, 20 times as fast. */
	static inMemory(): Connection {
		if (emptyStore) return Connection.#owned(":memory:", emptyStore);
		const connection = Connection.#owned(":memory:", ":memory:");
		emptyStore = connection.db.serialize();
		return connection;
	}

	static #owned(path: string, source: string | Buffer, tell: TellMigration = () => {}): Connection {
		return Connection.#opened(new Database(source, { timeout: LOCK_WAIT_MS }), (connection) => {
			connection.#assertOurs();
			const { db } = connection;
			const mode = db.pragma("journal_mode = WAL", { simple: true });
			if (mode !== "wal" && !db.memory)
				throw new KeryxError("store.unreachable", `the disk with ${path} does not support a shared log`, {
					hint: "put Keryx's home on a local disk",
				});
			// WAL alone would be NORMAL here, which may lose acknowledged commits when the machine dies.
			db.pragma("synchronous = FULL");
			db.pragma("foreign_keys = ON");
			db.pragma(`cache_size = -${WRITER_CACHE_KIB}`);
			migrate(db, path, tell);
			connection.#setUpIndex();
			// From here on the owner checkpoints the log itself, so it knows of every write into the database file.
			db.pragma("wal_autocheckpoint = 0");
		});
	}

	static reader(path: string): Connection {
		const options = { readonly: true, fileMustExist: true, timeout: LOCK_WAIT_MS };
		return Connection.#opened(new Database(path, options), (connection) => {
			connection.#assertOurs();
			if (connection.#version() < SCHEMA_VERSION)
				throw new KeryxError(
					"store.older",
					`the store ${path} has version ${connection.#version()}; this Keryx reads version ${SCHEMA_VERSION}`,
				);
			connection.db.pragma("query_only = ON");
			connection.db.pragma(`cache_size = -${READER_CACHE_KIB}`);
		});
	}

	static #opened(db: Database.Database, prepare: (connection: Connection) => void): Connection {
		try {
			const connection = new Connection(db);
			prepare(connection);
			return connection;
		} catch (error) {
			db.close();
			throw error;
		}
	}

	settings(): ConnectionSettings {
		const read = (name: string): unknown => this.db.pragma(name, { simple: true });
		return {
			journalMode: String(read("journal_mode")),
			synchronous: Number(read("synchronous")),
			foreignKeys: read("foreign_keys") === 1,
		};
	}

	/** BEGIN, COMMIT, ROLLBACK, prepared once. */
	control(
		words:
			| "BEGIN"
			| "BEGIN IMMEDIATE"
			| "COMMIT"
			| "ROLLBACK"
			| "SAVEPOINT operation"
			| "RELEASE operation"
			| "ROLLBACK TO operation",
	): void {
		let statement = this.#control.get(words);
		if (!statement) {
			statement = this.db.prepare(words);
			this.#control.set(words, statement);
		}
		statement.run();
	}

	/** Rolls back what is open. A failing disk may fail this too; SQLite has then rolled back by itself. */
	takeBack(): void {
		try {
			if (this.db.inTransaction) this.control("ROLLBACK");
		} catch (error) {
			if (this.db.inTransaction) throw error;
		}
	}

	/** Runs an operation. If it fails, its deferred statements are dropped. */
	run<Result>(op: Op<Result>): Result {
		const before = this.#later.length;
		this.#wrote = false;
		try {
			return runToEnd(op, this.#answer);
		} catch (error) {
			this.#later.length = before;
			throw error;
		}
	}

	/** Whether the last operation reached a statement that writes. */
	get wrote(): boolean {
		return this.#wrote;
	}

	/** Runs what was deferred so far: events in their order, and the rest in theirs. */
	runLater(): void {
		const later = this.#later;
		this.#later = [];
		const events: Query[] = [];
		for (const query of later)
			if (query.statement === insertEvent) events.push(query);
			else this.#prepare(query.statement).run(...query.params);
		this.#insertEvents(events);
	}

	#insertEvents(events: readonly Query[]): void {
		let next = 0;
		for (; next + EVENTS_AT_ONCE <= events.length; next += EVENTS_AT_ONCE) {
			this.#manyEvents ??= this.db.prepare(INSERT_EVENTS);
			const values: Value[] = [];
			for (let n = next; n < next + EVENTS_AT_ONCE; n++) values.push(...(events[n] as Query).params);
			this.#manyEvents.run(...values);
		}
		for (const { params } of events.slice(next)) this.#prepare(insertEvent).run(...params);
	}

	forgetLater(): void {
		this.#later = [];
	}

	readonly #answer = (query: Query): unknown => {
		if (query.mode === "later") {
			this.#later.push(query);
			return undefined;
		}
		const prepared = this.#prepare(query.statement);
		if (this.#writes[query.statement.index]) this.#wrote = true;
		if (query.numbers) return { id: prepared.run(...query.params).lastInsertRowid };
		if (query.mode === "get") return prepared.get(...query.params);
		if (query.mode === "all") return prepared.all(...query.params);
		return prepared.run(...query.params).changes;
	};

	#prepare(statement: Query["statement"]): Database.Statement {
		let prepared = this.#prepared[statement.index];
		if (prepared === undefined) {
			prepared = this.db.prepare(planned(statement.sql));
			this.#prepared[statement.index] = prepared;
			this.#writes[statement.index] = !prepared.readonly;
		}
		return prepared;
	}

	/** Settings of the index, kept in the file. Every version of Keryx can read and write such an index. */
	#setUpIndex(): void {
		const found = this.db.prepare("SELECT v FROM search_config WHERE k = ?").pluck();
		for (const [name, value] of [
			["automerge", JOINED_PARTS],
			["crisismerge", TOO_MANY_PARTS],
		] as const)
			if (found.get(name) !== value)
				this.db.exec(`INSERT INTO search (search, rank) VALUES ('${name}', ${value})`);
	}

	/** Before anything is changed: a foreign database, or one of a newer Keryx, is left alone. */
	#assertOurs(): void {
		const version = this.#version();
		if (version > SCHEMA_VERSION)
			throw new KeryxError(
				"store.newer",
				`the store has version ${version}; this Keryx knows versions up to ${SCHEMA_VERSION}`,
			);
		const { tables, ours } = this.db
			.prepare(
				"SELECT count(*) AS tables, count(*) FILTER (WHERE name = 'settings') AS ours FROM sqlite_schema",
			)
			.get() as { tables: number; ours: number };
		if (ours !== (version > 0 ? 1 : 0) || (version === 0 && tables > 0))
			throw new KeryxError(
				"store.corrupt",
				"the store's file is not a Keryx store: it contains other tables",
				{
					hint: "give the path of a store, or of a file that does not exist yet",
				},
			);
	}

	#version(): number {
		return versionOf(this.db);
	}
}

/**
 * SQLite looks at the value of a bare `LIMIT ?` and plans the statement again at each call: 6 to 60 microseconds, while running it takes
 * 1 to 5. It does not look through a cast.
 */
export function planned(sql: string): string {
	return sql.replaceAll("LIMIT ?", "LIMIT CAST(? AS INTEGER)");
}
