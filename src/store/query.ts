// An operation is written once, as a generator that yields prepared queries. SQLite runs it to the end in one go,
// PostgreSQL awaits each yield; the operation cannot tell, and nothing above the store knows the engine.

import type { WitnessFound } from "./types.ts";

export type Value = string | number | null | Uint8Array;

declare const rowType: unique symbol;

export interface Statement<Row> {
	/** Position in the engine's table of prepared statements. */
	readonly index: number;
	readonly sql: string;
	/** The same in PostgreSQL's words, where those of SQLite are not understood there. */
	readonly postgres?: string | undefined;
	readonly [rowType]?: Row;
}

export interface Query {
	readonly statement: Statement<unknown>;
	readonly params: readonly Value[];
	/** Those of the statement in PostgreSQL's words, where they are others. */
	readonly postgres?: readonly Value[];
	/** later: as run, but the engine may put it off to the end of the transaction, keeping the order of those put off. */
	readonly mode: "run" | "get" | "all" | "later";
	/** What is asked for is a number of unused ids: an engine that draws them itself answers so, without the statement. */
	readonly reserve?: { readonly from: number; readonly count: number };
}

export type Op<Result> = Generator<Query, Result, unknown>;

/** The clock and the ids an operation may use. They are drawn by the caller, so that an operation is a function of its input. */
export interface Context {
	readonly now: number;
	/** Counts the owners of this store; a turn of an earlier epoch has lost its owner. */
	readonly epoch: number;
	readonly uuid: () => string;
	readonly sessionId: () => string;
	/** Made with it are the codes of the audit; null where the opener gave none, and then nothing is audited or confirmed. */
	readonly auditKey: Uint8Array | null;
	/** Of the audit, as it is outside the store at this moment. */
	readonly witness: () => WitnessFound;
}

let statements = 0;

/** Declares a statement, at module level and once: `?` for parameters, written so that SQLite and PostgreSQL both take it. */
export function sql<Row = never>(text: string, postgres?: string): Statement<Row> {
	return { index: statements++, sql: text, postgres };
}

export function* get<Row>(statement: Statement<Row>, ...params: Value[]): Op<Row | undefined> {
	return (yield { statement, params, mode: "get" }) as Row | undefined;
}

export function* all<Row>(statement: Statement<Row>, ...params: Value[]): Op<Row[]> {
	return (yield { statement, params, mode: "all" }) as Row[];
}

/** As `all`, with other parameters where the statement is asked in PostgreSQL's words. */
export function* allWith<Row>(
	statement: Statement<Row>,
	params: readonly Value[],
	postgres: readonly Value[],
): Op<Row[]> {
	return (yield { statement, params, postgres, mode: "all" }) as Row[];
}

/** Answers the number of rows changed. */
export function* run(statement: Statement<unknown>, ...params: Value[]): Op<number> {
	return (yield { statement, params, mode: "run" }) as number;
}

/** The last id in use below as many unused ones, all of them from `from` on; the statement reads the last one in use. */
export function* reserveIds(
	lastId: Statement<{ id: number | null }>,
	reserve: { readonly from: number; readonly count: number },
): Op<number> {
	const row = (yield { statement: lastId, params: [], mode: "get", reserve }) as
		| { id: number | null }
		| undefined;
	return row?.id ?? 0;
}

/** For what no operation reads back and is cheaper to write all at once: the search index. */
export function* later(statement: Statement<unknown>, ...params: Value[]): Op<void> {
	yield { statement, params, mode: "later" };
}
