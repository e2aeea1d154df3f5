// An operation is written once, as a generator that yields prepared queries. SQLite runs it in one go, PostgreSQL awaits each yield; the
// operation cannot tell, and nothing above the store knows the engine.

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
	/** later: like run, but the engine may defer it to the end of the transaction, keeping the order of deferred ones. */
	readonly mode: "run" | "get" | "all" | "later";
	/** Requests unused ids: an engine that draws them itself answers without the statement. */
	readonly reserve?: { readonly from: number; readonly count: number };
}

export type Op<Result> = Generator<Query, Result, unknown>;

/** The clock and ids of an operation. The caller draws them, so that an operation is a function of its input. */
export interface Context {
	readonly now: number;
	/** Counts the owners of this store; a turn of an earlier epoch has lost its owner. */
	readonly epoch: number;
	readonly uuid: () => string;
	readonly sessionId: () => string;
	/** The key for audit codes; null if the opener gave none: then nothing is audited or confirmed. */
	readonly auditKey: Uint8Array | null;
	/** The audit's current witness outside the store. */
	readonly witness: () => WitnessFound;
}

let statements = 0;

/** Declares a statement, once, at module level: `?` for parameters, in SQL that both SQLite and PostgreSQL accept. */
export function sql<Row = never>(text: string, postgres?: string): Statement<Row> {
	return { index: statements++, sql: text, postgres };
}

export function* get<Row>(statement: Statement<Row>, ...params: Value[]): Op<Row | undefined> {
	return (yield { statement, params, mode: "get" }) as Row | undefined;
}

export function* all<Row>(statement: Statement<Row>, ...params: Value[]): Op<Row[]> {
	return (yield { statement, params, mode: "all" }) as Row[];
}

/** Like `all`, with other parameters for the PostgreSQL version. */
export function* allWith<Row>(
	statement: Statement<Row>,
	params: readonly Value[],
	postgres: readonly Value[],
): Op<Row[]> {
	return (yield { statement, params, postgres, mode: "all" }) as Row[];
}

/** Returns the number of changed rows. */
export function* run(statement: Statement<unknown>, ...params: Value[]): Op<number> {
	return (yield { statement, params, mode: "run" }) as number;
}

/** The last used id below a run of unused ones, all from `from` on; the statement reads the last one in use. */
export function* reserveIds(
	lastId: Statement<{ id: number | null }>,
	reserve: { readonly from: number; readonly count: number },
): Op<number> {
	const row = (yield { statement: lastId, params: [], mode: "get", reserve }) as
		| { id: number | null }
		| undefined;
	return row?.id ?? 0;
}

/** For writes that no operation reads back and that are cheaper together: the search index. */
export function* later(statement: Statement<unknown>, ...params: Value[]): Op<void> {
	yield { statement, params, mode: "later" };
}
