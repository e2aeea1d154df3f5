// One group of writes and its commit: each is refused alone, and none is acknowledged before the commit is on disk.
import { KeryxError } from "../../errors.ts";
import { WRITES } from "../operations/names.ts";
import { type OwnerContext, writeOp } from "../operations/run.ts";
import type { Connection } from "./connection.ts";
import { isStorageFault, toKeryxError, toWireError } from "./faults.ts";
import type { Guard } from "./guard.ts";
import type { Reply, Request } from "./messages.ts";
import type { WitnessKeeper } from "./witness.ts";

export type Write = Extract<Request, { kind: "write" }>;

export interface Committing {
	readonly connection: Connection;
	readonly owner: OwnerContext;
	readonly witness: WitnessKeeper | null;
	readonly guard: Guard | undefined;
}

/** Adds writes that have arrived meanwhile. */
type TakeMore = (writes: Write[]) => void;

/**
 * Savepoints cost a sixth of everything, and a refused operation has usually written nothing. So the group runs without them; if one was
 * refused half-way, everything is rolled back and runs again, each in a savepoint. The rows are the same: an operation is a function of
 * its input and the store.
 */
export function commitGroup(to: Committing, writes: Write[], more: TakeMore): Reply[] {
	let replies: Reply[];
	try {
		to.guard?.check();
		replies = commitWith(writeOne, to, writes, more) ?? commitAgain(to, writes);
	} catch (error) {
		// The transaction is gone, or the commit failed: nothing of the group is stored, so none is acknowledged.
		to.connection.forgetLater();
		to.connection.takeBack();
		return refuseAll(writes, error, "nothing was written");
	}
	try {
		to.guard?.check();
		to.witness?.committed(writes.some(({ name }, n) => name === "acceptAudit" && replies[n]?.ok));
		return replies;
	} catch (error) {
		// The file was lost during the commit: whether a restart finds the data depends on whether the file comes back.
		return refuseAll(writes, error, "it may have been written, and may be lost");
	}
}

function refuseAll(writes: readonly Write[], cause: unknown, became: string): Reply[] {
	const { code, message, hint } = toKeryxError(cause);
	const error = toWireError(new KeryxError(code, message, { hint: `${became}; ${hint}`, cause }));
	return writes.map(({ id }) => ({ id, ok: false, error }));
}

function commitAgain(to: Committing, writes: Write[]): Reply[] {
	to.connection.forgetLater();
	to.connection.takeBack();
	return commitWith(writeInSavepoint, to, writes) as Reply[];
}

type WriteOne = (to: Committing, write: Write) => Reply | undefined;

/** Returns nothing if an operation could not be refused alone; then the transaction is still open. */
function commitWith(run: WriteOne, to: Committing, writes: Write[], more?: TakeMore): Reply[] | undefined {
	const { connection, guard } = to;
	const replies: Reply[] = [];
	connection.control("BEGIN IMMEDIATE");
	guard?.checkEpoch();
	for (const write of writes) {
		// Outside its savepoint: they belong to earlier operations, and stay if this one is refused.
		if (WRITES[write.name].seesEvents) connection.runLater();
		const reply = run(to, write);
		if (!reply) return undefined;
		replies.push(reply);
		if (replies.length === writes.length) more?.(writes);
	}
	connection.runLater();
	connection.control("COMMIT");
	return replies;
}

/** Refused alone, as long as it has written nothing. Throws if the whole transaction is gone. */
function writeOne({ connection, owner }: Committing, { id, name, args, drawn }: Write): Reply | undefined {
	try {
		return { id, ok: true, value: connection.run(writeOp(name, args, drawn, owner)) };
	} catch (error) {
		if (!connection.db.inTransaction || isStorageFault(error)) throw error;
		return connection.wrote ? undefined : { id, ok: false, error: toWireError(error) };
	}
}

/** Refused alone: its savepoint rolls back its writes. Throws if the whole transaction is gone. */
function writeInSavepoint({ connection, owner }: Committing, write: Write): Reply {
	connection.control("SAVEPOINT operation");
	try {
		const value = connection.run(writeOp(write.name, write.args, write.drawn, owner));
		connection.control("RELEASE operation");
		return { id: write.id, ok: true, value };
	} catch (error) {
		if (!connection.db.inTransaction || isStorageFault(error)) throw error;
		connection.control("ROLLBACK TO operation");
		connection.control("RELEASE operation");
		return { id: write.id, ok: false, error: toWireError(error) };
	}
}
