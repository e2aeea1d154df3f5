// Who owns the store, and has owned it. That an owner is dead is a fact in its row, written by whoever has the proof: unfinished work is
// taken from dead owners only.
import { KeryxError } from "../../errors.ts";
import { get, type Op, run, sql } from "../query.ts";

const endOthers = sql("UPDATE nodes SET ended_at = ? WHERE ended_at IS NULL");
const insert = sql("INSERT INTO nodes (epoch, name, started_at) VALUES (?, ?, ?)");

const moving = sql<{ value: string }>("SELECT value FROM settings WHERE name = 'moving'");

/** A store that is the target of an unfinished move has some of its rows only. */
export function* assertMoved(): Op<void> {
	if (yield* get(moving))
		throw new KeryxError("store.moving", "a store is being moved here, and the move is not finished");
}

/** Condition on the row of a node: it lives. */
export const NODE_LIVES = "n.ended_at IS NULL";

/** For an engine whose caller holds the one lock of the store: every owner before it is dead. */
export function* beginNode(node: {
	readonly epoch: number;
	readonly name: string;
	readonly now: number;
}): Op<void> {
	yield* run(endOthers, node.now);
	yield* run(insert, node.epoch, node.name, node.now);
}
