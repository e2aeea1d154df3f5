// A writer: one connection that commits groups of operations. What it answers is known: an operation that was acknowledged is in the
// database, one that was refused is not. Where the connection is lost while a commit is under way, the database is asked.
import { randomUUID } from "node:crypto";
import { KeryxError } from "../../errors.ts";
import type { Op } from "../query.ts";
import type { ServerSettings } from "./address.ts";
import { Connection } from "./connection.ts";
import { codeOf, isCollision, isLost, isRefusal, isTaken, toKeryxError } from "./faults.ts";
import type { Foretelling } from "./foretelling.ts";
import type { Gate } from "./gate.ts";
import { ownerLost } from "./ownership.ts";
import { lockOf } from "./server.ts";
import { Mistaken, type Reply, Spoilt, Transaction } from "./transaction.ts";

/** A statement of a writer that takes longer is given up, and the database is asked what became of it. */
const STATEMENT_MS = 30_000;
/** How often a lost connection is made again for the same operations, before their callers are told. */
const RECONNECTS = 3;
const COLLISIONS = 3;

const SETTINGS = [
	`SET statement_timeout = ${STATEMENT_MS}`,
	`SET idle_in_transaction_session_timeout = ${STATEMENT_MS}`,
];

export interface WriterContext {
	readonly settings: ServerSettings;
	readonly epoch: number;
	/** Nobody else writes: there is no other transaction that could come between. */
	readonly isAlone: boolean;
	readonly foretelling: Foretelling;
	/** The first of so many unused ids of messages, all of them from `from` on. */
	readonly drawIds: (from: number, count: number) => number;
	/** What every transaction passes, beside others or alone. */
	readonly gate: Gate;
	/** Ids that somebody else has written are not drawn again. */
	readonly idsTaken: (connection: Connection) => Promise<void>;
}

/** A new one for each attempt: an operation is a function of what came with it. */
export type Begin = () => Op<unknown>;

export interface Committed {
	readonly replies: readonly Reply[];
	/** Whether anything was written. */
	readonly changed: boolean;
}

export class Writer {
	readonly #slot: number;
	readonly #context: WriterContext;
	readonly #ticket: string;
	#connection: Connection | null = null;

	constructor(slot: number, context: WriterContext) {
		this.#slot = slot;
		this.#context = context;
		this.#ticket = `SELECT pg_advisory_xact_lock(${lockOf("ticket", context.settings.schema)})`;
	}

	/** All of them in one transaction; where that does not do, each in its own. Throws where none of them was made. */
	async commit(group: readonly Begin[]): Promise<Committed> {
		const together = await this.#beside(group, group.length === 1 ? "one" : "group");
		if (together) return together;
		const replies: Reply[] = [];
		let changed = false;
		for (const begin of group) {
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

	/** Until it is committed or refused. Whoever has met others too often gets the store for itself. */
	async #alone(begin: Begin): Promise<Committed> {
		try {
			for (let n = 0; n < COLLISIONS; n++) {
				const done = await this.#beside([begin], "one");
				if (done) return done;
			}
			const done = await this.#context.gate.alone(() => this.#attempt([begin], "last"));
			if (done) return done;
			throw new KeryxError("store.locked", "other operations changed the same rows again and again");
		} catch (error) {
			return { replies: [{ ok: false, error: toKeryxError(error) }], changed: false };
		}
	}

	#beside(group: readonly Begin[], as: "group" | "one"): Promise<Committed | null> {
		return this.#context.gate.beside(() => this.#attempt(group, as));
	}

	/**
	 * One transaction. Null: it was taken back and may be run again. group: any refusal is a reason to run them one by one. one: a refusal
	 * by the tables is the operation's own, unless another transaction may have been the cause. last: there was no other.
	 */
	async #attempt(group: readonly Begin[], as: "group" | "one" | "last"): Promise<Committed | null> {
		let foretells = as !== "last";
		for (let lost = 0; ; ) {
			const id = randomUUID();
			let isCommitting = false;
			let replies: Reply[] = [];
			let connection: Connection | null = null;
			let begun: Promise<void> = Promise.resolve();
			try {
				connection = await this.#open();
				begun = this.#begin(connection, id);
				const transaction = new Transaction(
					connection,
					foretells ? this.#context.foretelling : null,
					this.#context.drawIds,
				);
				for (const begin of group) replies.push(await transaction.run(begin()));
				await begun;
				await transaction.settle();
				isCommitting = true;
				const { changed } = await transaction.commit(this.#ticket);
				return { replies, changed };
			} catch (thrown) {
				// What failed at the beginning is why all the rest was ignored.
				const error = await begun.then(
					() => thrown,
					(first: unknown) => first,
				);
				if (connection && !isLost(error) && !connection.isLost) {
					await this.#takeBack(connection);
					replies = [];
					if (!(error instanceof Mistaken)) return await this.#judged(error, connection, as);
					foretells = false;
					continue;
				}
				connection?.drop();
				this.#connection = null;
				if (isCommitting && (await this.#isCommitted(id))) return { replies, changed: true };
				replies = [];
				if (++lost > RECONNECTS) throw toKeryxError(error);
			}
		}
	}

	/** What an error of the transaction means. Null: run it again. */
	async #judged(
		error: unknown,
		connection: Connection,
		as: "group" | "one" | "last",
	): Promise<Committed | null> {
		if (isCollision(error)) return null;
		if (isTaken(error)) await this.#context.idsTaken(connection);
		if (as === "group" && (error instanceof Spoilt || isRefusal(error))) return null;
		if (as === "one" && isTaken(error)) return null;
		if (error instanceof Spoilt) return { replies: [{ ok: false, error: error.cause }], changed: false };
		if (as !== "group" && (isRefusal(error) || !isStorageFault(error)))
			return { replies: [{ ok: false, error: toKeryxError(error) }], changed: false };
		if (as === "group" && !isStorageFault(error)) return null;
		throw toKeryxError(error);
	}

	async #open(): Promise<Connection> {
		if (this.#connection && !this.#connection.isLost) return this.#connection;
		this.#connection = await Connection.open(this.#context.settings, {
			name: this.#name,
			timeoutMs: STATEMENT_MS + 5000,
			settings: SETTINGS,
		});
		return this.#connection;
	}

	get #name(): string {
		return `keryx writer ${this.#context.epoch}.${this.#slot}`;
	}

	/** The row of this writer says what it committed last; it is locked until the transaction is over. */
	#begin(connection: Connection, id: string): Promise<void> {
		const begin = connection.exec(
			this.#context.isAlone ? "BEGIN ISOLATION LEVEL REPEATABLE READ" : "BEGIN ISOLATION LEVEL SERIALIZABLE",
		);
		const mark = connection.exec("UPDATE writers SET last = $1 WHERE epoch = $2 AND slot = $3", [
			id,
			this.#context.epoch,
			this.#slot,
		]);
		const begun = Promise.all([begin, mark]).then(([, { count }]) => {
			if (count !== 1) throw ownerLost();
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
	 * Ends what is left of the lost connection on the server, waits for its transaction to be over, and looks. The row was locked before
	 * the commit was sent, so whoever gets the lock knows that there is no more to come.
	 */
	async #isCommitted(id: string): Promise<boolean> {
		let failure: unknown;
		for (let n = 0; n < RECONNECTS; n++) {
			try {
				const connection = await this.#open();
				await connection.exec(
					"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()",
					[this.#name],
				);
				await connection.exec("BEGIN ISOLATION LEVEL READ COMMITTED");
				const { rows } = await connection.exec(
					"SELECT last FROM writers WHERE epoch = $1 AND slot = $2 FOR UPDATE",
					[this.#context.epoch, this.#slot],
				);
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
		const { code, message, hint } = failure ? toKeryxError(failure) : ownerLost();
		throw new KeryxError(code, message, { hint: `it may have been written; ${hint}`, cause: failure });
	}
}

/** Faults of the server or its disk are nobody's own: a group that meets one is given up as a whole, and may be tried again. */
function isStorageFault(error: unknown): boolean {
	if (error instanceof KeryxError) return true;
	const code = codeOf(error);
	return /^(?:53|57|58|XX)/.test(code) || code === "25006";
}
