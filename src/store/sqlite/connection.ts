// One connection to the store's database: its settings, its prepared statements, how it runs an operation.
import Database from "better-sqlite3";
import { KeryxError } from "../../errors.ts";
import { runToEnd } from "../engine.ts";
import type { Op, Query } from "../query.ts";
import { migration, SCHEMA_VERSION } from "../schema.ts";

/** How long a statement waits for a lock that another program holds for a moment. */
const LOCK_WAIT_MS = 5000;

export class Connection {
	readonly db: Database.Database;
	readonly #prepared: Database.Statement[] = [];

	private constructor(db: Database.Database) {
		this.db = db;
	}

	static writer(path: string): Connection {
		const db = new Database(path, { timeout: LOCK_WAIT_MS });
		db.pragma("journal_mode = WAL");
		// WAL alone would be NORMAL here, which may lose acknowledged commits when the machine dies.
		db.pragma("synchronous = FULL");
		db.pragma("foreign_keys = ON");
		db.pragma("cache_size = -65536");
		return new Connection(db);
	}

	static reader(path: string): Connection {
		const db = new Database(path, { readonly: true, fileMustExist: true, timeout: LOCK_WAIT_MS });
		db.pragma("query_only = ON");
		return new Connection(db);
	}

	run<Result>(op: Op<Result>): Result {
		return runToEnd(op, this.#answer);
	}

	readonly #answer = ({ statement, params, mode }: Query): unknown => {
		let prepared = this.#prepared[statement.index];
		if (prepared === undefined) {
			prepared = this.db.prepare(statement.sql);
			this.#prepared[statement.index] = prepared;
		}
		if (mode === "get") return prepared.get(...params);
		if (mode === "all") return prepared.all(...params);
		return prepared.run(...params).changes;
	};

	/** Brings the schema up to date, each step in a transaction of its own, after a copy of a store that has data. */
	migrate(path: string): void {
		let version = this.version();
		if (version > SCHEMA_VERSION)
			throw new KeryxError(
				"store.newer",
				`the store is of version ${version}; this Keryx knows up to ${SCHEMA_VERSION}`,
			);
		if (version > 0 && version < SCHEMA_VERSION)
			this.db.prepare("VACUUM INTO ?").run(`${path}.before-v${SCHEMA_VERSION}`);
		for (; version < SCHEMA_VERSION; version++) {
			const from = version;
			this.db.transaction(() => {
				this.db.exec(migration(from, "sqlite"));
				this.db.pragma(`user_version = ${from + 1}`);
			})();
		}
	}

	version(): number {
		return this.db.pragma("user_version", { simple: true }) as number;
	}
}
