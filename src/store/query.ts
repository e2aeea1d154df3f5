// An operation is written once, as a generator that yields prepared queries. SQLite runs it in one go, PostgreSQL awaits each yield; the
// operation cannot tell, and nothing above the store knows the engine.

import type { SessionId } from "../domain/index.ts";
import type { WitnessFound } from "./types.ts";

export type Value = string | number | null | Uint8Array;

declare const rowType: unique symbol;

export interface Statement<Row> {
	/** Position in the engine's table of prepared statements. */
	readonly index: number;
	readonly sql: string;
	/** The PostgreSQL version, if SQLite's does not work there. */
	readonly postgres?: string | undefined;
	readonly [rowType]?: Row;
}

export interface Query {
	readonly statement: Statement<unknown>;
	readonly params: readonly Value[];
	/** The parameters of the PostgreSQL version, if they differ. */
	readonly postgres?: readonly Value[];
	/** later: like run, but the engine may defer it, at most to the end of the transaction, keeping the order of deferred ones. */
	readonly mode: "run" | "get" | "all" | "later";
	/** Requests unused ids: an engine that draws them itself answers with its own `id`. */
	readonly reserve?: { readonly from: number; readonly count: number };
	/** Inserts one row and asks for its number: SQLite knows it without RETURNING, which costs half as much as the insert. */
	readonly numbers?: true;
}

export type Op<Result> = Generator<Query, Result, unknown>;

/** The clock and ids of an operation. The caller draws them, so that an operation is a function of its input. */
export interface Context {
	readonly now: number;
	/** Counts the owners of this store; a turn of an earlier epoch has lost its owner. */
	readonly epoch: number;
	readonly uuid: () => string;
	/** Another one at each call: an id may be taken. */
	readonly sessionId: () => SessionId;
	/** The key for audit codes; null if the opener gave none: then nothing is audited or confirmed. */
	readonly auditKey: Uint8Array | null;
	/** The audit's current witness outside the store. */
	readonly witness: () => WitnessFound;
	/** Absent if others write to the same store. */
	readonly slots?: SlotCount | undefined;
}

/** How many slots of confirmation requests can be in use: never too few, since it also counts those that were rolled back or ended. */
export interface SlotCount {
	atMost: number;
	/** Slots taken later than this are counted. */
	since: number;
}

let statements = 0;

/** Declares a statement, once, at module level: `?` for parameters, in SQL that both SQLite and PostgreSQL accept. */
export function sql<Row = never>(text: string, postgres?: string): Statement<Row> {
	return { index: statements++, sql: text, postgres };
}

/**
 * Answers a query at once, while a synchronous engine runs an operation. Otherwise a query travels up through every generator above it,
 * and its answer down again: half of what an operation costs in JavaScript.
 */
type Answer = (query: Query) => unknown;
let answerNow: Answer | null = null;

/** Runs an operation to its end on an engine that answers each query at once. */
export function runToEnd<Result>(op: Op<Result>, answer: Answer): Result {
	const outer = answerNow;
	answerNow = answer;
	try {
		// It yields only a query that was made before it ran.
		let step = op.next();
		while (!step.done) step = op.next(answer(step.value));
		return step.value;
	} finally {
		answerNow = outer;
	}
}

/** Every query is made by `yield*`, which takes the answer before anything else happens: one object is enough for all. */
class Answered {
	readonly #last: { done: true; value: unknown } = { done: true, value: undefined };

	with(value: unknown): this {
		this.#last.value = value;
		return this;
	}

	[Symbol.iterator](): this {
		return this;
	}

	next(): { done: true; value: unknown } {
		return this.#last;
	}
}
const answered = new Answered();

function ask<Result>(query: Query): Op<Result> {
	if (answerNow === null) return asked(query);
	return answered.with(answerNow(query)) as unknown as Op<Result>;
}

function* asked<Result>(query: Query): Op<Result> {
	return (yield query) as Result;
}

export function get<Row>(statement: Statement<Row>, ...params: Value[]): Op<Row | undefined> {
	return ask({ statement, params, mode: "get" });
}

export function all<Row>(statement: Statement<Row>, ...params: Value[]): Op<Row[]> {
	return ask({ statement, params, mode: "all" });
}

/** Like `all`, with other parameters for the PostgreSQL version. */
export function allWith<Row>(
	statement: Statement<Row>,
	params: readonly Value[],
	postgres: readonly Value[],
): Op<Row[]> {
	return ask({ statement, params, postgres, mode: "all" });
}

/** Returns the number of changed rows. */
export function run(statement: Statement<unknown>, ...params: Value[]): Op<number> {
	return ask({ statement, params, mode: "run" });
}

/** Inserts one row and returns its number. The PostgreSQL version returns it as `id`. */
export function* insert(statement: Statement<{ id: number }>, ...params: Value[]): Op<number> {
	return (yield* ask<{ id: number }>({ statement, params, mode: "get", numbers: true })).id;
}

/** Like `get`. The row's `id` is the last used one below a run of unused ones, all from `from` on. */
export function getReserving<Row extends { readonly id: number | null }>(
	statement: Statement<Row>,
	reserve: { readonly from: number; readonly count: number },
	...params: Value[]
): Op<Row | undefined> {
	return ask({ statement, params, mode: "get", reserve });
}

/**
 * For writes that are cheaper together: events and the search index. Other operations of the transaction do not read them back, unless
 * `WRITES` says so (`seesEvents`).
 */
export function later(statement: Statement<unknown>, ...params: Value[]): Op<void> {
	return ask({ statement, params, mode: "later" });
}
