// What the store asks of an engine, and how an operation is run by one that answers at once.
import { KeryxError } from "../errors.ts";
import { reads, writes } from "./operations/index.ts";
import type { Context, Op, Query } from "./query.ts";
import type { WitnessFound } from "./types.ts";

export type WriteName = keyof typeof writes;
export type ReadName = keyof typeof reads;

/** The clock and the ids of one write, as they travel to the thread that runs it. */
export interface Drawn {
	readonly now: number;
	readonly uuids?: readonly string[];
	readonly sessions?: readonly string[];
}

/** What a store's file holds. */
export interface StoreFacts {
	/** The version of its tables. */
	readonly schema: number;
	readonly conversations: number;
	readonly sessions: number;
	readonly messages: number;
	/** The number of the last event; 0: none. */
	readonly lastEvent: number;
}

/** The other gateways on the same store, seen from one of them. */
export interface Cluster {
	/** False: the lease may have run out, and somebody else may have taken over. Nothing may be sent and no tool called. */
	readonly holdsLease: boolean;
	/** Something was committed by another node. Also called from time to time, where a hint may have been lost. */
	onCommitElsewhere(listener: () => void): () => void;
	/** A node has died: its unfinished work is for the others. */
	onNodeDead(listener: () => void): () => void;
	/** The lease may have run out (false), or is good again (true). */
	onLease(listener: (holds: boolean) => void): () => void;
}

export interface Engine {
	readonly epoch: number;
	/** Left out: this engine has no other. */
	readonly cluster?: Cluster | undefined;
	write(name: WriteName, args: unknown, drawn: Drawn): Promise<unknown>;
	read(name: ReadName, args: unknown): Promise<unknown>;
	/** Writes the whole store, as it is at one instant, to a new file. Writes go on meanwhile. Left out: this engine cannot. */
	copyTo?(path: string): Promise<StoreFacts>;
	/** Called after each commit that changed something. */
	onCommit(listener: () => void): () => void;
	close(): Promise<void>;
}

/** What an engine knows beyond an operation's own arguments. */
export interface OwnerContext {
	readonly epoch: number;
	readonly auditKey: Uint8Array | null;
	/** Left out: none is kept. */
	readonly witness?: () => WitnessFound;
}

const UNKEPT = (): WitnessFound => ({ kind: "unkept" });

export function writeOp(name: WriteName, args: unknown, drawn: Drawn, owner: OwnerContext): Op<unknown> {
	const operation = writes[name] as (context: Context, args: unknown) => Op<unknown>;
	return operation(contextOf(drawn, owner), args);
}

export function readOp(
	name: ReadName,
	args: unknown,
	{ auditKey, witness = UNKEPT }: Pick<OwnerContext, "auditKey" | "witness">,
): Op<unknown> {
	const operation = reads[name] as (
		args: unknown,
		auditKey: Uint8Array | null,
		witness: () => WitnessFound,
	) => Op<unknown>;
	return operation(args, auditKey, witness);
}

function contextOf(drawn: Drawn, { epoch, auditKey, witness = UNKEPT }: OwnerContext): Context {
	let uuids = 0;
	let sessions = 0;
	return {
		now: drawn.now,
		epoch,
		auditKey,
		witness,
		uuid: () => drawnAt(drawn.uuids, uuids++),
		sessionId: () => drawnAt(drawn.sessions, sessions++),
	};
}

function drawnAt(drawn: readonly string[] | undefined, index: number): string {
	const id = drawn?.[index];
	if (id === undefined)
		throw new KeryxError("store.exhausted", "the ids that came with the operation are used up");
	return id;
}

/** Runs an operation to its end, with an engine that answers each query at once. */
export function runToEnd<Result>(op: Op<Result>, answer: (query: Query) => unknown): Result {
	let step = op.next();
	while (!step.done) step = op.next(answer(step.value));
	return step.value;
}
