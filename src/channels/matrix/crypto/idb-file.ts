// The SQLite file behind IndexedDB. What a transaction wrote is on the disk before anyone hears that it is complete. One process has the
// file open: the lock ends with the process, however it ends.
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { deserialize, serialize } from "node:v8";
import Database from "better-sqlite3";
import { encodeKey, keyAt } from "./idb-keys.ts";

const SCHEMA = `
CREATE TABLE IF NOT EXISTS databases (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, version INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS stores (
	id INTEGER PRIMARY KEY,
	database INTEGER NOT NULL REFERENCES databases,
	name TEXT NOT NULL,
	key_path TEXT NOT NULL,
	next_key INTEGER,
	UNIQUE (database, name)
) STRICT;
CREATE TABLE IF NOT EXISTS indexes (
	id INTEGER PRIMARY KEY,
	store INTEGER NOT NULL REFERENCES stores ON DELETE CASCADE,
	name TEXT NOT NULL,
	key_path TEXT NOT NULL,
	is_unique INTEGER NOT NULL,
	UNIQUE (store, name)
) STRICT;
CREATE TABLE IF NOT EXISTS records (
	store INTEGER NOT NULL REFERENCES stores ON DELETE CASCADE,
	key BLOB NOT NULL,
	given BLOB NOT NULL,
	value BLOB NOT NULL,
	PRIMARY KEY (store, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS entries (
	"index" INTEGER NOT NULL REFERENCES indexes ON DELETE CASCADE,
	key BLOB NOT NULL,
	record BLOB NOT NULL,
	given BLOB NOT NULL,
	store INTEGER NOT NULL,
	PRIMARY KEY ("index", key, record)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS entries_record ON entries (store, record);
CREATE TABLE IF NOT EXISTS waiting (
	room TEXT NOT NULL,
	event TEXT NOT NULL,
	body TEXT NOT NULL,
	since INTEGER NOT NULL,
	PRIMARY KEY (room, event)
) STRICT, WITHOUT ROWID;
`;

export interface StoreFacts {
	readonly id: number;
	readonly name: string;
	readonly keyPath: string | readonly string[] | null;
	readonly autoIncrement: boolean;
}

export interface IndexFacts {
	readonly id: number;
	readonly name: string;
	readonly keyPath: string | readonly string[];
	readonly unique: boolean;
}

/** Bounds in encoded form; null: none. */
export interface Bounds {
	readonly lower: Buffer | null;
	readonly upper: Buffer | null;
	readonly lowerOpen: boolean;
	readonly upperOpen: boolean;
}

export interface Row {
	/** In the order of the store or index. */
	readonly key: Buffer;
	/** The record's key. */
	readonly record: Buffer;
	readonly given: unknown;
	readonly primary: unknown;
	readonly value: unknown;
}

interface RawRow {
	readonly key: Buffer;
	readonly record: Buffer;
	readonly given: Buffer;
	readonly primary: Buffer;
	readonly value: Buffer;
}

/** Another process has the file open. */
export class FileTaken extends Error {}

export class IdbFile {
	readonly #db: Database.Database;
	readonly #statements = new Map<string, Database.Statement>();

	constructor(path: string) {
		mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
		// Only its owner can read it; SQLite's other files take the mode from it.
		closeSync(openSync(path, "a", 0o600));
		this.#db = new Database(path, { timeout: 0 });
		try {
			this.#db.pragma("locking_mode = EXCLUSIVE");
			this.#db.pragma("journal_mode = WAL");
			this.#db.pragma("synchronous = FULL");
			this.#db.pragma("foreign_keys = ON");
			this.#db.exec("BEGIN IMMEDIATE");
			this.#db.exec(SCHEMA);
			this.#db.exec("COMMIT");
		} catch (error) {
			this.#db.close();
			if ((error as { readonly code?: unknown }).code === "SQLITE_BUSY")
				throw new FileTaken("another process has the keys of this account open");
			throw error;
		}
	}

	begin(): void {
		this.#db.exec("BEGIN IMMEDIATE");
	}

	/** On the disk when it returns. */
	commit(): void {
		this.#db.exec("COMMIT");
	}

	rollback(): void {
		if (this.#db.inTransaction) this.#db.exec("ROLLBACK");
	}

	close(): void {
		this.#db.close();
	}

	versionOf(name: string): number {
		return Number(this.#get("SELECT version FROM databases WHERE name = ?", name)?.version ?? 0);
	}

	setVersion(name: string, version: number): void {
		this.#run(
			"INSERT INTO databases (name, version) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET version = excluded.version",
			name,
			version,
		);
	}

	storesOf(database: string): readonly StoreFacts[] {
		const sql =
			"SELECT id, name, key_path, next_key FROM stores WHERE database = (SELECT id FROM databases WHERE name = ?) ORDER BY name";
		return this.#all(sql, database).map((row) => ({
			id: Number(row.id),
			name: String(row.name),
			keyPath: JSON.parse(String(row.key_path)) as StoreFacts["keyPath"],
			autoIncrement: row.next_key !== null,
		}));
	}

	indexesOf(store: number): readonly IndexFacts[] {
		return this.#all(
			"SELECT id, name, key_path, is_unique FROM indexes WHERE store = ? ORDER BY name",
			store,
		).map((row) => ({
			id: Number(row.id),
			name: String(row.name),
			keyPath: JSON.parse(String(row.key_path)) as IndexFacts["keyPath"],
			unique: row.is_unique === 1,
		}));
	}

	createStore(
		database: string,
		name: string,
		{ keyPath, autoIncrement }: Pick<StoreFacts, "keyPath" | "autoIncrement">,
	): void {
		this.#run(
			"INSERT INTO stores (database, name, key_path, next_key) VALUES ((SELECT id FROM databases WHERE name = ?), ?, ?, ?)",
			database,
			name,
			JSON.stringify(keyPath),
			autoIncrement ? 1 : null,
		);
	}

	deleteStore(database: string, name: string): void {
		this.#run(
			"DELETE FROM stores WHERE name = ? AND database = (SELECT id FROM databases WHERE name = ?)",
			name,
			database,
		);
	}

	createIndex(store: number, name: string, keyPath: IndexFacts["keyPath"], unique: boolean): void {
		const sql = "INSERT INTO indexes (store, name, key_path, is_unique) VALUES (?, ?, ?, ?)";
		this.#run(sql, store, name, JSON.stringify(keyPath), unique ? 1 : 0);
		const index = this.indexesOf(store).find((one) => one.name === name);
		for (const row of this.rows(store, null, EVERYTHING, { count: null, isBackwards: false }))
			if (index) {
				this.#refuseSecond(index, row.record, row.value);
				this.#enter(store, index, row.record, row.value);
			}
	}

	/** Returns the record's key. */
	put(store: StoreFacts, value: unknown, key: unknown, isNew: boolean): unknown {
		const given = this.#keyOf(store, value, key);
		const encoded = encodeKey(given);
		const found = this.#get("SELECT 1 AS found FROM records WHERE store = ? AND key = ?", store.id, encoded);
		if (found && isNew) throw new DOMException("there is a record with this key", "ConstraintError");
		const indexes = this.indexesOf(store.id);
		for (const index of indexes) this.#refuseSecond(index, encoded, value);
		if (found) this.#run("DELETE FROM entries WHERE store = ? AND record = ?", store.id, encoded);
		this.#run(
			"INSERT INTO records (store, key, given, value) VALUES (?, ?, ?, ?) ON CONFLICT (store, key) DO UPDATE SET value = excluded.value",
			store.id,
			encoded,
			serialize(given),
			serialize(value),
		);
		for (const index of indexes) this.#enter(store.id, index, encoded, value);
		return given;
	}

	delete(store: number, bounds: Bounds): void {
		const keys = this.rows(store, null, bounds, { count: null, isBackwards: false }).map(({ key }) => key);
		for (const key of keys) {
			this.#run("DELETE FROM entries WHERE store = ? AND record = ?", store, key);
			this.#run("DELETE FROM records WHERE store = ? AND key = ?", store, key);
		}
	}

	clear(store: number): void {
		this.#run("DELETE FROM entries WHERE store = ?", store);
		this.#run("DELETE FROM records WHERE store = ?", store);
	}

	count(store: number, index: number | null, bounds: Bounds): number {
		const { where, values } = whereOf(bounds);
		const from = index === null ? "records WHERE store = ?" : 'entries WHERE "index" = ?';
		return Number(this.#get(`SELECT count(*) AS n FROM ${from}${where}`, index ?? store, ...values)?.n);
	}

	rows(
		store: number,
		index: number | null,
		bounds: Bounds,
		{
			count,
			isBackwards,
			after,
		}: { readonly count: number | null; readonly isBackwards: boolean; readonly after?: Row },
	): readonly Row[] {
		const { where, values } = whereOf(bounds);
		const way = isBackwards ? "DESC" : "ASC";
		const sign = isBackwards ? "<" : ">";
		const past =
			after === undefined ? "" : index === null ? ` AND key ${sign} ?` : ` AND (key, record) ${sign} (?, ?)`;
		const from = after === undefined ? [] : index === null ? [after.key] : [after.key, after.record];
		const sql =
			index === null
				? `SELECT key, key AS record, given, given AS "primary", value FROM records WHERE store = ?${where}${past} ORDER BY key ${way}`
				: `SELECT e.key, e.record, e.given, r.given AS "primary", r.value FROM (SELECT * FROM entries WHERE "index" = ?${where}${past}) e
					JOIN records r ON r.store = e.store AND r.key = e.record ORDER BY e.key ${way}, e.record ${way}`;
		const limit = count === null ? "" : " LIMIT ?";
		const rows = this.#all(
			`${sql}${limit}`,
			index ?? store,
			...values,
			...from,
			...(count === null ? [] : [count]),
		);
		return (rows as unknown as readonly RawRow[]).map(({ key, record, given, primary, value }) => ({
			key,
			record,
			given: deserialize(given),
			primary: deserialize(primary),
			value: deserialize(value),
		}));
	}

	/** Encrypted events whose key has not come. */
	keepWaiting(room: string, event: string, body: string, since: number): void {
		this.#run(
			"INSERT OR IGNORE INTO waiting (room, event, body, since) VALUES (?, ?, ?, ?)",
			room,
			event,
			body,
			since,
		);
	}

	forgetWaiting(room: string, event: string): void {
		this.#run("DELETE FROM waiting WHERE room = ? AND event = ?", room, event);
	}

	/** Oldest first; older ones than `since` are given up. */
	waiting(since: number): readonly { readonly room: string; readonly body: string }[] {
		this.#run("DELETE FROM waiting WHERE since < ?", since);
		return this.#all("SELECT room, body FROM waiting ORDER BY since, event").map((row) => ({
			room: String(row.room),
			body: String(row.body),
		}));
	}

	#keyOf(store: StoreFacts, value: unknown, key: unknown): unknown {
		const given = store.keyPath === null ? key : keyAt(value, store.keyPath);
		if (given !== undefined) return given;
		if (!store.autoIncrement) throw new DOMException("the record has no key", "DataError");
		const row = this.#get(
			"UPDATE stores SET next_key = next_key + 1 WHERE id = ? RETURNING next_key - 1 AS n",
			store.id,
		);
		return Number(row?.n);
	}

	#enter(store: number, { id, keyPath }: IndexFacts, record: Buffer, value: unknown): void {
		const given = keyAt(value, keyPath);
		// A record without the field is not in the index.
		if (given === undefined) return;
		const sql = 'INSERT INTO entries ("index", key, record, given, store) VALUES (?, ?, ?, ?, ?)';
		this.#run(sql, id, encodeKey(given), record, serialize(given), store);
	}

	#refuseSecond({ id, keyPath, unique }: IndexFacts, record: Buffer, value: unknown): void {
		const given = unique ? keyAt(value, keyPath) : undefined;
		if (given === undefined) return;
		const sql = 'SELECT 1 AS found FROM entries WHERE "index" = ? AND key = ? AND record <> ?';
		if (this.#get(sql, id, encodeKey(given), record))
			throw new DOMException("there is a record with this key in the index", "ConstraintError");
	}

	#prepare(sql: string): Database.Statement {
		const known = this.#statements.get(sql) ?? this.#db.prepare(sql);
		this.#statements.set(sql, known);
		return known;
	}

	#run(sql: string, ...values: readonly unknown[]): void {
		this.#prepare(sql).run(...values);
	}

	#get(sql: string, ...values: readonly unknown[]): Readonly<Record<string, unknown>> | undefined {
		return this.#prepare(sql).get(...values) as Record<string, unknown> | undefined;
	}

	#all(sql: string, ...values: readonly unknown[]): readonly Readonly<Record<string, unknown>>[] {
		return this.#prepare(sql).all(...values) as Record<string, unknown>[];
	}
}

export const EVERYTHING: Bounds = { lower: null, upper: null, lowerOpen: false, upperOpen: false };

function whereOf({ lower, upper, lowerOpen, upperOpen }: Bounds): {
	readonly where: string;
	readonly values: readonly Buffer[];
} {
	const parts = [
		...(lower === null ? [] : [` AND key ${lowerOpen ? ">" : ">="} ?`]),
		...(upper === null ? [] : [` AND key ${upperOpen ? "<" : "<="} ?`]),
	];
	return { where: parts.join(""), values: [lower, upper].filter((bound) => bound !== null) };
}
