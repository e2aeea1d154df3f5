// What a move asks of the store that it reads and of the one that it fills, whatever engine they are on.
import type { Value } from "../query.ts";

export interface TableShape {
	readonly name: string;
	readonly columns: readonly string[];
	/** The columns of its key, in order. */
	readonly key: readonly string[];
}

/** How far a move has come: rows of earlier tables are there, and of this one those up to `after`. */
export interface MoveState {
	readonly from: string;
	readonly table: string;
	readonly after: readonly Value[] | null;
}

/** A store as the move sees it. Opened by nobody else. */
export interface MoveSide {
	/** Every table but those that an engine keeps for itself, each after those that it refers to. */
	tables(): Promise<readonly TableShape[]>;
	/** In the order of the key, after that one. */
	rows(table: TableShape, after: readonly Value[] | null, limit: number): Promise<Value[][]>;
	count(table: TableShape): Promise<number>;
	/** Null: it is no target of a move. */
	state(): Promise<MoveState | null>;
	/** Adds rows and notes how far it has come, in one transaction. */
	add(table: TableShape, rows: readonly (readonly Value[])[], state: MoveState): Promise<void>;
	/** Changes one column of rows that are there: what refers to a later row of its own table. */
	refer(
		table: string,
		column: string,
		pairs: readonly (readonly [key: Value, value: Value])[],
	): Promise<void>;
	/** The highest numbers that were ever given, by table; numbers of deleted rows are not given again. */
	numbers(): Promise<Readonly<Record<string, number>>>;
	/** The rest of the settings; then it is a store like any other. */
	finish(
		settings: readonly (readonly [name: string, value: string])[],
		numbers: Readonly<Record<string, number>>,
	): Promise<void>;
	close(): Promise<void>;
}
