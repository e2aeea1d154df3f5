// The store's operations on a real PostgreSQL: each yield is awaited inside a transaction. It proves that nothing above
// the engine knows which one it is; it is no engine to run a gateway on.
import type { PGlite, Transaction } from "@electric-sql/pglite";
import { KeryxError } from "../../src/errors.ts";
import {
	type Drawn,
	type Engine,
	type ReadName,
	readOp,
	type WriteName,
	writeOp,
} from "../../src/store/engine.ts";
import type { Op, Query } from "../../src/store/query.ts";
import { migration, SCHEMA_VERSION } from "../../src/store/schema.ts";

const INT8 = 20;
const options = { parsers: { [INT8]: Number } };

/** Takes the database over as its next owner. The schema is made where there is none. */
export async function openPglite(db: PGlite, auditKey: Uint8Array | null = null): Promise<Engine> {
	const { rows } = await db.query<{ found: string | null }>("SELECT to_regclass('settings')::text AS found");
	if (!rows[0]?.found)
		for (let version = 0; version < SCHEMA_VERSION; version++) await db.exec(migration(version, "postgres"));
	return new PgliteEngine(db, await nextEpoch(db), auditKey);
}

async function nextEpoch(db: PGlite): Promise<number> {
	const { rows } = await db.query<{ value: string }>(
		`INSERT INTO settings (name, value) VALUES ('epoch', '1')
		ON CONFLICT (name) DO UPDATE SET value = (settings.value::bigint + 1)::text RETURNING value`,
	);
	return Number(rows[0]?.value);
}

class PgliteEngine implements Engine {
	readonly epoch: number;
	readonly #db: PGlite;
	readonly #auditKey: Uint8Array | null;
	readonly #listeners = new Set<() => void>();
	#closed = false;

	constructor(db: PGlite, epoch: number, auditKey: Uint8Array | null) {
		this.#db = db;
		this.epoch = epoch;
		this.#auditKey = auditKey;
	}

	async write(name: WriteName, args: unknown, drawn: Drawn): Promise<unknown> {
		const outcome = await this.#transaction(async (transaction) => {
			await transaction.exec("SAVEPOINT operation");
			try {
				const value = await runOp(
					transaction,
					writeOp(name, copied(args), drawn, { epoch: this.epoch, auditKey: this.#auditKey }),
				);
				await transaction.exec("RELEASE operation");
				return { ok: true as const, value };
			} catch (error) {
				await transaction.exec("ROLLBACK TO operation");
				return { ok: false as const, error: toKeryxError(error) };
			}
		});
		for (const listener of this.#listeners) listener();
		if (!outcome.ok) throw outcome.error;
		return copied(outcome.value);
	}

	async read(name: ReadName, args: unknown): Promise<unknown> {
		return await this.#transaction(async (transaction) => {
			await transaction.exec("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
			try {
				return copied(await runOp(transaction, readOp(name, copied(args), { auditKey: this.#auditKey })));
			} catch (error) {
				throw toKeryxError(error);
			}
		});
	}

	onCommit(listener: () => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	/** The database stays with its opener: a later owner takes it over. */
	async close(): Promise<void> {
		this.#closed = true;
	}

	#transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
		if (this.#closed) throw new KeryxError("store.closed", "the store is closed");
		return this.#db.transaction(work) as Promise<Result>;
	}
}

async function runOp<Result>(transaction: Transaction, op: Op<Result>): Promise<Result> {
	let step = op.next();
	while (!step.done) step = op.next(await answerTo(transaction, step.value));
	return step.value;
}

async function answerTo(
	transaction: Transaction,
	{ statement, params, postgres = params, mode }: Query,
): Promise<unknown> {
	const text = numbered(statement.postgres ?? statement.sql);
	const { rows, affectedRows } = await transaction.query(text, [...postgres], options);
	if (mode === "all") return rows;
	return mode === "get" ? rows[0] : affectedRows;
}

const texts = new Map<string, string>();

/** `?` becomes `$1`, `$2`, ...; one inside a quoted word stays. */
function numbered(sql: string): string {
	let text = texts.get(sql);
	if (text === undefined) {
		let n = 0;
		text = sql.replace(/'[^']*'|\?/g, (found) => (found === "?" ? `$${++n}` : found));
		texts.set(sql, text);
	}
	return text;
}

/** What an operation takes and answers crosses threads elsewhere: here too it must be plain data. */
function copied<Value>(value: Value): Value {
	return structuredClone(value);
}

function toKeryxError(error: unknown): KeryxError {
	if (error instanceof KeryxError) return error;
	const { code = "", message } = error as { readonly code?: string; readonly message: string };
	const refused = code.startsWith("23") || code === RAISED;
	return new KeryxError(refused ? "store.conflict" : "store.failed", `${code}: ${message}`, { cause: error });
}

/** What a trigger raises. */
const RAISED = "P0001";
