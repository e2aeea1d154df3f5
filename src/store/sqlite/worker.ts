// The threads. The writer owns the store: it runs the operations that wait as one group, each in a savepoint of its own, and
// acknowledges none before their one commit is on the disk. A reader runs read operations, each on one snapshot.
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { KeryxError } from "../../errors.ts";
import { type Drawn, type ReadName, readOp, type WriteName, writeOp } from "../engine.ts";
import { get, type Op, run, sql } from "../query.ts";
import { Connection } from "./connection.ts";
import { isStorageFault, openingFault, toKeryxError, toWireError, type WireError } from "./faults.ts";
import { assertFile, createPrivately, followLinks } from "./files.ts";
import { type Ownership, takeOwnership } from "./ownership.ts";

export interface WorkerSettings {
	readonly role: "writer" | "reader";
	readonly path: string;
	readonly startedAt: number;
	/** Reads run here too: an in-memory database has one connection. */
	readonly alone: boolean;
	readonly auditKey: Uint8Array | null;
}

export type Request =
	| {
			readonly id: number;
			readonly kind: "write";
			readonly name: WriteName;
			readonly args: unknown;
			readonly drawn: Drawn;
	  }
	| { readonly id: number; readonly kind: "read"; readonly name: ReadName; readonly args: unknown }
	| { readonly id: number; readonly kind: "settings" | "close" };

export type Reply =
	| { readonly id: number; readonly ok: true; readonly value: unknown }
	| { readonly id: number; readonly ok: false; readonly error: WireError };

/** The replies of one group. */
export interface Replies {
	readonly replies: readonly Reply[];
	/** Whether a commit among them changed anything. */
	readonly changed: boolean;
}

/** First message of a worker: ready, or why not. */
export type Ready =
	| { readonly ready: true; readonly epoch: number }
	| { readonly ready: false; readonly error: WireError };

/** A longer group would make the first in it wait for too much. */
const GROUP = 256;

const readEpoch = sql<{ value: string }>("SELECT value FROM settings WHERE name = 'epoch'");
const writeEpoch = sql(
	"INSERT INTO settings (name, value) VALUES ('epoch', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
);

const port = parentPort as MessagePort;
const settings = workerData as WorkerSettings;
let ownership: Ownership | undefined;
let closed = false;

try {
	const connection = settings.role === "writer" ? openWriter() : openReader();
	const epoch = settings.role === "writer" ? takeEpoch(connection) : 0;
	port.on("message", (first: Request[]) => serve(connection, epoch, first));
	port.postMessage({ ready: true, epoch } satisfies Ready);
} catch (error) {
	ownership?.release();
	port.postMessage({
		ready: false,
		error: toWireError(openingFault(error, settings.path)),
	} satisfies Ready);
	port.close();
}

function openWriter(): Connection {
	if (settings.alone) return Connection.writer(settings.path);
	const path = followLinks(settings.path);
	ownership = takeOwnership(path, settings.startedAt);
	createPrivately(path);
	return Connection.writer(path);
}

function openReader(): Connection {
	assertFile(settings.path);
	return Connection.reader(settings.path);
}

function takeEpoch(connection: Connection): number {
	try {
		return connection.run(nextEpoch());
	} catch (error) {
		connection.db.close();
		throw error;
	}
}

function* nextEpoch(): Op<number> {
	const epoch = Number((yield* get(readEpoch))?.value ?? 0) + 1;
	yield* run(writeEpoch, String(epoch));
	return epoch;
}

function around(epoch: number) {
	return { epoch, auditKey: settings.auditKey };
}

/** Takes everything that has arrived by now: what waited while the last commit was under way shares the next one. */
function serve(connection: Connection, epoch: number, first: Request[]): void {
	// What comes after the close is answered by the end of the thread.
	if (closed) return;
	const waiting = [...first];
	for (;;) {
		for (let more = receiveMessageOnPort(port); more; more = receiveMessageOnPort(port))
			waiting.push(...(more.message as Request[]));
		if (waiting.length === 0) return;
		const before = connection.changes();
		const replies = serveGroup(connection, epoch, waiting.splice(0, GROUP));
		port.postMessage({ replies, changed: !closed && connection.changes() > before } satisfies Replies);
		if (closed) {
			port.close();
			return;
		}
	}
}

function serveGroup(connection: Connection, epoch: number, group: readonly Request[]): Reply[] {
	const replies: Reply[] = [];
	const writes = group.filter((request) => request.kind === "write");
	if (writes.length > 0) replies.push(...commitGroup(connection, epoch, writes));
	for (const request of group) {
		if (request.kind === "read") replies.push(readOne(connection, request));
		if (request.kind === "settings") replies.push({ id: request.id, ok: true, value: connection.settings() });
		if (request.kind === "close") replies.push(close(connection, request.id));
	}
	return replies;
}

type Write = Extract<Request, { kind: "write" }>;

/**
 * Savepoints cost a sixth of everything, and an operation that is refused has mostly written nothing yet. So the group runs
 * without; where one was refused half-way, all of it is taken back and runs again, each in a savepoint of its own. That gives
 * the same rows: an operation is a function of what came with it and of the store.
 */
function commitGroup(connection: Connection, epoch: number, writes: readonly Write[]): Reply[] {
	try {
		return commitWith(writeOne, connection, epoch, writes) ?? commitAgain(connection, epoch, writes);
	} catch (error) {
		// No transaction is open any more, or the commit failed: nothing of the group is there, so none is acknowledged.
		connection.forgetLater();
		takeBack(connection);
		const wire = toWireError(lostGroup(error));
		return writes.map(({ id }) => ({ id, ok: false, error: wire }));
	}
}

function commitAgain(connection: Connection, epoch: number, writes: readonly Write[]): Reply[] {
	connection.forgetLater();
	takeBack(connection);
	return commitWith(writeInSavepoint, connection, epoch, writes) as Reply[];
}

type WriteOne = (connection: Connection, epoch: number, write: Write) => Reply | undefined;

/** Answers nothing where an operation could not be refused alone; then the transaction is still open. */
function commitWith(
	run: WriteOne,
	connection: Connection,
	epoch: number,
	writes: readonly Write[],
): Reply[] | undefined {
	const replies: Reply[] = [];
	connection.control("BEGIN IMMEDIATE");
	for (const write of writes) {
		const reply = run(connection, epoch, write);
		if (!reply) return undefined;
		replies.push(reply);
	}
	connection.runLater();
	connection.control("COMMIT");
	return replies;
}

/** Refused alone, as long as it has written nothing. Where the whole transaction is gone, throws. */
function writeOne(
	connection: Connection,
	epoch: number,
	{ id, name, args, drawn }: Write,
): Reply | undefined {
	try {
		return { id, ok: true, value: connection.run(writeOp(name, args, drawn, around(epoch))) };
	} catch (error) {
		if (!connection.db.inTransaction || isStorageFault(error)) throw error;
		return connection.wrote ? undefined : { id, ok: false, error: toWireError(error) };
	}
}

/** Refused alone: its savepoint takes back what it wrote. Where the whole transaction is gone, throws. */
function writeInSavepoint(connection: Connection, epoch: number, write: Write): Reply {
	connection.control("SAVEPOINT operation");
	try {
		const value = connection.run(writeOp(write.name, write.args, write.drawn, around(epoch)));
		connection.control("RELEASE operation");
		return { id: write.id, ok: true, value };
	} catch (error) {
		if (!connection.db.inTransaction || isStorageFault(error)) throw error;
		connection.control("ROLLBACK TO operation");
		connection.control("RELEASE operation");
		return { id: write.id, ok: false, error: toWireError(error) };
	}
}

/** A disk that fails may fail this too; SQLite has then given the transaction up by itself. */
function takeBack(connection: Connection): void {
	try {
		if (connection.db.inTransaction) connection.control("ROLLBACK");
	} catch (error) {
		if (connection.db.inTransaction) throw error;
	}
}

function lostGroup(error: unknown): KeryxError {
	const { code, message, hint } = toKeryxError(error);
	return new KeryxError(code, message, { hint: `nothing was written; ${hint}`, cause: error });
}

function readOne(connection: Connection, { id, name, args }: Extract<Request, { kind: "read" }>): Reply {
	try {
		connection.control("BEGIN");
		return { id, ok: true, value: connection.run(readOp(name, args, settings)) };
	} catch (error) {
		return { id, ok: false, error: toWireError(error) };
	} finally {
		takeBack(connection);
	}
}

function close(connection: Connection, id: number): Reply {
	connection.db.close();
	ownership?.release();
	closed = true;
	return { id, ok: true, value: undefined };
}
