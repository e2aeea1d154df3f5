// What a thread of the store does. The writer owns the store: it runs the operations that wait as one group, each in a savepoint of
// its own, and acknowledges none before their one commit is on the disk. A reader runs read operations, each on one snapshot.
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
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

/** The first message: ready, or why not. */
export type Ready =
	| { readonly ready: true; readonly epoch: number }
	| { readonly ready: false; readonly error: WireError };

/** A longer group would make the first in it wait for too much. */
const GROUP = 256;

const readEpoch = sql<{ value: string }>("SELECT value FROM settings WHERE name = 'epoch'");
const writeEpoch = sql(
	"INSERT INTO settings (name, value) VALUES ('epoch', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
);

interface Serving {
	readonly port: MessagePort;
	readonly connection: Connection;
	readonly around: { readonly epoch: number; readonly auditKey: Uint8Array | null };
	readonly ownership: Ownership | undefined;
	closed: boolean;
}

/** Answers the requests that come through the port, until it is told to close. */
export function serveStore(port: MessagePort, settings: WorkerSettings): void {
	let ownership: Ownership | undefined;
	try {
		if (settings.role === "writer" && !settings.alone)
			ownership = takeOwnership(followLinks(settings.path), settings.startedAt);
		const connection = settings.role === "writer" ? openWriter(settings) : openReader(settings);
		const epoch = settings.role === "writer" ? takeEpoch(connection) : 0;
		const around = { epoch, auditKey: settings.auditKey };
		const serving: Serving = { port, connection, around, ownership, closed: false };
		port.on("message", (first: Request[]) => serve(serving, first));
		port.postMessage({ ready: true, epoch } satisfies Ready);
	} catch (error) {
		ownership?.release();
		port.postMessage({
			ready: false,
			error: toWireError(openingFault(error, settings.path)),
		} satisfies Ready);
		port.close();
	}
}

function openWriter({ alone, path }: WorkerSettings): Connection {
	if (alone) return Connection.writer(path);
	const file = followLinks(path);
	createPrivately(file);
	return Connection.writer(file);
}

function openReader({ path }: WorkerSettings): Connection {
	assertFile(path);
	return Connection.reader(path);
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

/** Takes everything that has arrived by now: what waited while the last commit was under way shares the next one. */
function serve(serving: Serving, first: Request[]): void {
	const { port, connection } = serving;
	// What comes after the close is answered by the end of the thread.
	if (serving.closed) return;
	const waiting = [...first];
	for (;;) {
		for (let more = receiveMessageOnPort(port); more; more = receiveMessageOnPort(port))
			waiting.push(...(more.message as Request[]));
		if (waiting.length === 0) return;
		const before = connection.changes();
		const replies = serveGroup(serving, waiting.splice(0, GROUP));
		port.postMessage({
			replies,
			changed: !serving.closed && connection.changes() > before,
		} satisfies Replies);
		if (serving.closed) {
			port.close();
			return;
		}
	}
}

function serveGroup(serving: Serving, group: readonly Request[]): Reply[] {
	const replies: Reply[] = [];
	const writes = group.filter((request) => request.kind === "write");
	if (writes.length > 0) replies.push(...commitGroup(serving, writes));
	for (const request of group) {
		if (request.kind === "read") replies.push(readOne(serving, request));
		if (request.kind === "settings")
			replies.push({ id: request.id, ok: true, value: serving.connection.settings() });
		if (request.kind === "close") replies.push(close(serving, request.id));
	}
	return replies;
}

type Write = Extract<Request, { kind: "write" }>;

/**
 * Savepoints cost a sixth of everything, and an operation that is refused has mostly written nothing yet. So the group runs
 * without; where one was refused half-way, all of it is taken back and runs again, each in a savepoint of its own. That gives
 * the same rows: an operation is a function of what came with it and of the store.
 */
function commitGroup(serving: Serving, writes: readonly Write[]): Reply[] {
	try {
		return commitWith(writeOne, serving, writes) ?? commitAgain(serving, writes);
	} catch (error) {
		// No transaction is open any more, or the commit failed: nothing of the group is there, so none is acknowledged.
		serving.connection.forgetLater();
		takeBack(serving.connection);
		const wire = toWireError(lostGroup(error));
		return writes.map(({ id }) => ({ id, ok: false, error: wire }));
	}
}

function commitAgain(serving: Serving, writes: readonly Write[]): Reply[] {
	serving.connection.forgetLater();
	takeBack(serving.connection);
	return commitWith(writeInSavepoint, serving, writes) as Reply[];
}

type WriteOne = (serving: Serving, write: Write) => Reply | undefined;

/** Answers nothing where an operation could not be refused alone; then the transaction is still open. */
function commitWith(run: WriteOne, serving: Serving, writes: readonly Write[]): Reply[] | undefined {
	const { connection } = serving;
	const replies: Reply[] = [];
	connection.control("BEGIN IMMEDIATE");
	for (const write of writes) {
		const reply = run(serving, write);
		if (!reply) return undefined;
		replies.push(reply);
	}
	connection.runLater();
	connection.control("COMMIT");
	return replies;
}

/** Refused alone, as long as it has written nothing. Where the whole transaction is gone, throws. */
function writeOne({ connection, around }: Serving, { id, name, args, drawn }: Write): Reply | undefined {
	try {
		return { id, ok: true, value: connection.run(writeOp(name, args, drawn, around)) };
	} catch (error) {
		if (!connection.db.inTransaction || isStorageFault(error)) throw error;
		return connection.wrote ? undefined : { id, ok: false, error: toWireError(error) };
	}
}

/** Refused alone: its savepoint takes back what it wrote. Where the whole transaction is gone, throws. */
function writeInSavepoint({ connection, around }: Serving, write: Write): Reply {
	connection.control("SAVEPOINT operation");
	try {
		const value = connection.run(writeOp(write.name, write.args, write.drawn, around));
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

function readOne(
	{ connection, around }: Serving,
	{ id, name, args }: Extract<Request, { kind: "read" }>,
): Reply {
	try {
		connection.control("BEGIN");
		return { id, ok: true, value: connection.run(readOp(name, args, around)) };
	} catch (error) {
		return { id, ok: false, error: toWireError(error) };
	} finally {
		takeBack(connection);
	}
}

function close(serving: Serving, id: number): Reply {
	serving.connection.db.close();
	serving.ownership?.release();
	serving.closed = true;
	return { id, ok: true, value: undefined };
}
