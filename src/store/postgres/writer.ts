// A node's writer: one connection that commits groups of operations. One transaction of the store writes at a time, across all nodes:
// what an operation has read holds until its commit, and events are numbered in commit order. Results are certain: an acknowledged
// operation is in the database, a refused one is not. If the connection is lost during a commit, the database is asked.
import { randomUUID } from "node:crypto";
import { KeryxError } from "../../errors.ts";
import type { Op } from "../query.ts";
import type { ServerSettings } from "./address.ts";
import { Connection } from "./connection.ts";
import { codeOf, isCollision, isLost, isRefusal, toKeryxError } from "./faults.ts";
import { endWriter, nodeLost, writerName } from "./nodes.ts";
import type { Predictions } from "./predictions.ts";
import { lockOf } from "./server.ts";
import { type DrawIds, Mistaken, type Reply, Spoilt, Transaction } from "./transaction.ts";

/** A longer statement of a writer is given up, and the database is asked about its outcome. */
const STATEMENT_MS = 30_000;
/** A transaction idle for this long is lost: every other node waits for it. */
const IDLE_MS = 3000;
/** How often a lost connection is reopened for the same operations before their callers get an error. */
export const RECONNECTS = 3;
/** How often a disturbed operation is retried. */
const TRIES = 4;

const SETTINGS = [
	`SET statement_timeout = ${STATEMENT_MS}`,
	`SET idle_in_transaction_session_timeout = ${IDLE_MS}`,
];

export interface WriterContext {
	readonly settings: ServerSettings;
	readonly epoch: number;
	readonly predictions: Predictions;
	readonly reconnects: number;
}

export interface Begin {
	/** New for each attempt: an operation is a function of its input. */
	readonly op: () => Op<unknown>;
	/** It must see the events of earlier operations in the same transaction. */
	readonly seesEvents: boolean;
}

export interface Committed {
	readonly replies: readonly Reply[];
	/** Whether anything was written. */
	readonly changed: boolean;
}

export class Writer {
	readonly #context: WriterContext;
	readonly #lock: string;
	#connection: Connection | null = null;

	constructor(context: WriterContext) {
		this.#context = context;
		this.#lock = `SELECT pg_advisory_xact_lock(${lockOf("write", context.settings.schema)})`;
	}

	/**
	 * All in one transaction; if that fails, each in its own. Throws if none was made. `take` is called once, when it is this node's turn to
	 * write: what has come while others wrote is committed together.
	 */
	async commit(take: () => readonly Begin[]): Promise<Committed> {
		let taken: readonly Begin[] | undefined;
		const group = () => (taken ??= take());
		const together = await this.#attempt(group, "group");
		if (together) return together;
		const replies: Reply[] = [];
		let changed = false;
		for (const begin of group()) {
			const one = await this.#alone(begin);
			replies.push(...one.replies);
			changed ||= one.changed;
		}
		return { replies, changed };
	}

	async close(): Promise<void> {
		await this.#connection?.close();
		this.#connection = null;
	}

	/** Until it is committed or refused. */
	async #alone(begin: Begin): Promise<Committed> {
		try {
			for (let n = 1; n <= TRIES; n++) {
				const done = await this.#attempt(() => [begin], n < TRIES ? "one" : "last");
				if (done) return done;
			}
			throw new KeryxError("store.locked", "other operations changed the same rows again and again");
		} catch (error) {
			return { replies: [{ ok: false, error: toKeryxError(error) }], changed: false };
		}
	}

	/**
	 * One transaction. Null: rolled back, may be retried. group: any refusal is a reason to run them one by one. one: a refusal by the
	 * tables is the operation's own, unless another transaction may be the cause. last: there was no other.
	 */
	async #attempt(group: () => readonly Begin[], how: "group" | "one" | "last"): Promise<Committed | null> {
		let as = how;
		let predicts = how !== "last";
		for (let lost = 0; ; ) {
			const id = randomUUID();
			let isCommitting = false;
			let replies: Reply[] = [];
			let connection: Connection | null = null;
			let begun: Promise<number> = Promise.resolve(0);
			try {
				connection = await this.#open();
				begun = this.#begin(connection, id);
				if (how === "group") await begun;
				const begins = group();
				if (how === "group" && begins.length === 1) as = "one";
				const transaction = new Transaction(
					connection,
					predicts ? this.#context.predictions : null,
					idsAfter(begun),
				);
				for (const { op, seesEvents } of begins) {
					if (seesEvents) await transaction.runLater();
					replies.push(await transaction.run(op()));
				}
				await begun;
				await transaction.settle();
				if (!transaction.hasWritten) {
					// Nothing was written, so nobody waits for the disk.
					await this.#takeBack(connection);
					return { replies, changed: false };
				}
				isCommitting = true;
				await transaction.commit();
				return { replies, changed: true };
			} catch (thrown) {
				// The first failure made the server ignore the rest.
				const error = await begun.then(
					() => thrown,
					(first: unknown) => first,
				);
				if (connection && !isLost(error) && !connection.isLost) {
					await this.#takeBack(connection);
					replies = [];
					if (!(error instanceof Mistaken)) return this.#judged(error, as);
					predicts = false;
					continue;
				}
				connection?.drop();
				this.#connection = null;
				if (isCommitting && (await this.#isCommitted(id))) return { replies, changed: true };
				replies = [];
				if (++lost > this.#context.reconnects) throw toKeryxError(error);
			}
		}
	}

	/** The meaning of a transaction error. Null: retry. */
	#judged(error: unknown, as: "group" | "one" | "last"): Committed | null {
		if (isCollision(error) && as !== "last") return null;
		if (as === "group" && (error instanceof Spoilt || isRefusal(error))) return null;
		if (error instanceof Spoilt) return { replies: [{ ok: false, error: error.cause }], changed: false };
		if (as !== "group" && (isRefusal(error) || !isStorageFault(error)))
			return { replies: [{ ok: false, error: toKeryxError(error) }], changed: false };
		if (as === "group" && !isStorageFault(error)) return null;
		throw toKeryxError(error);
	}

	async #open(): Promise<Connection> {
		if (this.#connection && !this.#connection.isLost) return this.#connection;
		this.#connection = await Connection.open(this.#context.settings, {
			name: writerName(this.#context.settings, this.#context.epoch),
			timeoutMs: STATEMENT_MS + 5000,
			settings: SETTINGS,
		});
		return this.#connection;
	}

	/**
	 * Waits for other transactions, and returns the last message id. This writer's row records its last commit; it stays locked until the
	 * transaction is over.
	 */
	#begin(connection: Connection, id: string): Promise<number> {
		// Each statement sees earlier commits; while the lock is held, all see the same.
		const begin = connection.exec("BEGIN ISOLATION LEVEL READ COMMITTED");
		const locked = connection.exec(this.#lock);
		const mark = connection.exec("UPDATE writers SET last = $1 WHERE epoch = $2", [id, this.#context.epoch]);
		const last = connection.exec("SELECT max(id) AS id FROM messages");
		const begun = Promise.all([begin, locked, mark, last]).then(([, , { count }, { rows }]) => {
			if (count !== 1) throw nodeLost();
			return (rows[0] as { id: number | null }).id ?? 0;
		});
		begun.catch(() => {});
		return begun;
	}

	async #takeBack(connection: Connection): Promise<void> {
		try {
			await connection.exec("ROLLBACK");
		} catch {
			connection.drop();
			this.#connection = null;
		}
	}

	/**
	 * Ends what is left of the lost connection on the server, waits for its transaction, and looks. The row was locked before the commit
	 * was sent, so holding the lock proves that nothing more follows.
	 */
	async #isCommitted(id: string): Promise<boolean> {
		let failure: unknown;
		for (let n = 0; n < this.#context.reconnects; n++) {
			try {
				const connection = await this.#open();
				await endWriter(connection, this.#context.settings, this.#context.epoch);
				await connection.exec("BEGIN ISOLATION LEVEL READ COMMITTED");
				const { rows } = await connection.exec("SELECT last FROM writers WHERE epoch = $1 FOR UPDATE", [
					this.#context.epoch,
				]);
				await connection.exec("ROLLBACK");
				const row = rows[0] as { readonly last: string } | undefined;
				if (!row) break;
				return row.last === id;
			} catch (error) {
				failure = error;
				this.#connection?.drop();
				this.#connection = null;
			}
		}
		const { code, message, hint } = failure ? toKeryxError(failure) : nodeLost();
		throw new KeryxError(code, message, { hint: `it may have been written; ${hint}`, cause: failure });
	}
}

/** Ids in transaction order, because transactions are serial. */
function idsAfter(last: Promise<number>): DrawIds {
	let drawn = 0;
	return async (from, count) => {
		const first = Math.max((await last) + 1, drawn + 1, from);
		drawn = first + count - 1;
		return first;
	};
}

/** Faults of the server or its disk affect a whole group: it is given up together, and may be retried. */
function isStorageFault(error: unknown): boolean {
	if (error instanceof KeryxError) return true;
	const code = codeOf(error);
	return /^(?:53|57|58|XX)/.test(code) || code === "25006";
}
