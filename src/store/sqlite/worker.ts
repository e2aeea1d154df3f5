// The threads. The writer owns the store: it runs the operations that wait as one group, each in a savepoint of its own, and
// acknowledges none before their one commit is on the disk. A reader runs read operations, each on one snapshot.
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { KeryxError } from "../../errors.ts";
import { type Drawn, type ReadName, readOp, type WriteName, writeOp } from "../engine.ts";
import { get, type Op, run, sql } from "../query.ts";
import { Connection } from "./connection.ts";
import { toKeryxError, toWireError, type WireError } from "./faults.ts";
import { createPrivately } from "./files.ts";
import { type Ownership, takeOwnership } from "./ownership.ts";

export interface WorkerSettings {
	readonly role: "writer" | "reader";
	readonly path: string;
	readonly startedAt: number;
	/** Reads run here too: an in-memory database has one connection. */
	readonly alone: boolean;
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
	| { readonly id: number; readonly kind: "close" };

export type Reply =
	| { readonly id: number; readonly ok: true; readonly value: unknown }
	| { readonly id: number; readonly ok: false; readonly error: WireError };

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
	const connection = settings.role === "writer" ? openWriter() : Connection.reader(settings.path);
	const epoch = settings.role === "writer" ? connection.run(nextEpoch()) : 0;
	port.on("message", (first: Request[]) => serve(connection, epoch, first));
	port.postMessage({ ready: true, epoch } satisfies Ready);
} catch (error) {
	ownership?.release();
	port.postMessage({ ready: false, error: toWireError(error) } satisfies Ready);
	port.close();
}

function openWriter(): Connection {
	if (!settings.alone) {
		ownership = takeOwnership(settings.path, settings.startedAt);
		createPrivately(settings.path);
	}
	const connection = Connection.writer(settings.path);
	connection.migrate(settings.path);
	return connection;
}

function* nextEpoch(): Op<number> {
	const epoch = Number((yield* get(readEpoch))?.value ?? 0) + 1;
	yield* run(writeEpoch, String(epoch));
	return epoch;
}

/** Takes everything that has arrived by now: what waited while the last commit was under way shares the next one. */
function serve(connection: Connection, epoch: number, first: Request[]): void {
	const waiting = [...first];
	for (;;) {
		for (let more = receiveMessageOnPort(port); more; more = receiveMessageOnPort(port))
			waiting.push(...(more.message as Request[]));
		if (waiting.length === 0) return;
		const replies = serveGroup(connection, epoch, waiting.splice(0, GROUP));
		port.postMessage(replies);
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
		if (request.kind === "close") replies.push(close(connection, request.id));
	}
	return replies;
}

type Write = Extract<Request, { kind: "write" }>;

function commitGroup(connection: Connection, epoch: number, writes: readonly Write[]): Reply[] {
	const { db } = connection;
	const replies: Reply[] = [];
	try {
		db.exec("BEGIN IMMEDIATE");
		for (const write of writes) replies.push(writeOne(connection, epoch, write));
		db.exec("COMMIT");
		return replies;
	} catch (error) {
		// No transaction is open any more, or the commit failed: nothing of the group is there, so none is acknowledged.
		if (db.inTransaction) db.exec("ROLLBACK");
		const wire = toWireError(lostGroup(error));
		return writes.map(({ id }) => ({ id, ok: false, error: wire }));
	}
}

/** Refused alone: its savepoint takes back what it wrote. Where the whole transaction is gone, throws. */
function writeOne(connection: Connection, epoch: number, { id, name, args, drawn }: Write): Reply {
	const { db } = connection;
	db.exec("SAVEPOINT operation");
	try {
		const value = connection.run(writeOp(name, args, drawn, epoch));
		db.exec("RELEASE operation");
		return { id, ok: true, value };
	} catch (error) {
		if (!db.inTransaction || isStorageFault(error)) throw error;
		db.exec("ROLLBACK TO operation");
		db.exec("RELEASE operation");
		return { id, ok: false, error: toWireError(error) };
	}
}

/** Faults of the disk or the file are nobody's own: the group is given up as a whole, and may be tried again. */
function isStorageFault(error: unknown): boolean {
	const { code } = toKeryxError(error);
	return (
		code === "store.full" || code === "store.io" || code === "store.readonly" || code === "store.corrupt"
	);
}

function lostGroup(error: unknown): KeryxError {
	const { code, message, hint } = toKeryxError(error);
	return new KeryxError(code, message, { hint: `nothing was written; ${hint}`, cause: error });
}

function readOne(connection: Connection, { id, name, args }: Extract<Request, { kind: "read" }>): Reply {
	const { db } = connection;
	try {
		db.exec("BEGIN");
		const value = connection.run(readOp(name, args));
		return { id, ok: true, value };
	} catch (error) {
		return { id, ok: false, error: toWireError(error) };
	} finally {
		if (db.inTransaction) db.exec("COMMIT");
	}
}

function close(connection: Connection, id: number): Reply {
	connection.db.close();
	ownership?.release();
	closed = true;
	return { id, ok: true, value: undefined };
}
