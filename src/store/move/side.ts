// What a move needs from the store it reads and the store it fills, on any engine.
import type { Value } from "../query.ts";

export interface TableShape {
	readonly name: string;
	readonly columns: readonly string[];
	/** The columns of its key, in order. */
	readonly key: readonly string[];
}

/** The progress of a move: earlier tables are complete, and this one up to `after`. */
export interface MoveState {
	readonly from: string;
	readonly table: string;
	readonly after: readonly Value[] | null;
}

/** A store as seen by a move, opened exclusively. */
export interface MoveSide {
	/** All tables except an engine's internal ones, each after those it refers to. */
	tables(): Promise<readonly TableShape[]>;
	/** In key order, after that key. */
	rows(table: TableShape, after: readonly Value[] | null, limit: number): Promise<Value[][]>;
	count(table: TableShape): Promise<number>;
	/** Null: not the target of a move. */
	state(): Promise<MoveState | null>;
	/** Adds rows and records the progress, in one transaction. */
	add(table: TableShape, rows: readonly (readonly Value[])[], state: MoveState): Promise<void>;
	/** Updates one column of existing rows, for references to later rows of the same table. */
	refer(
		table: string,
		column: string,
		pairs: readonly (readonly [key: Value, value: Value])[],
	): Promise<void>;
	/** The highest numbers ever given, by table; numbers of deleted rows are not reused. */
	numbers(): Promise<Readonly<Record<string, number>>>;
	/** The remaining settings; afterwards it is an ordinary store. */
	finish(
		settings: readonly (readonly [name: string, value: string])[],
		numbers: Readonly<Record<string, number>>,
	): Promise<void>;
	close(): Promise<void>;
}
