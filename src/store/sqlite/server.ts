// A thread of the store. The writer owns the store: it commits waiting operations as one group. A reader runs read operations, each on one
// snapshot.
import { hostname } from "node:os";
import { performance } from "node:perf_hooks";
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { KeryxError } from "../../errors.ts";
import type { MigrationProgress } from "../engine.ts";
import { READS } from "../operations/names.ts";
import { assertMoved, beginNode } from "../operations/nodes.ts";
import { type OwnerContext, readOp } from "../operations/run.ts";
import { divided, hitsOf } from "../operations/search/newest.ts";
import { type Op, run, sql } from "../query.ts";
import { commitGroup, type Write } from "./commit.ts";
import { Connection } from "./connection.ts";
import { openingFault, toWireError } from "./faults.ts";
import { assertFile, createPrivately, followLinks } from "./files.ts";
import { forgetOverwritten, refuseForeignLog } from "./foreign-log.ts";
import { epochNow, Guard, type Guarded } from "./guard.ts";
import type { Migrating, Ready, Replies, Reply, Request, Trouble, WorkerSettings } from "./messages.ts";
import { type FileId, fileAt, isSameFile } from "./open-files.ts";
import { type Ownership, takeOwnership } from "./ownership.ts";
import { inspectStore } from "./snapshot.ts";
import { readWitness, WitnessKeeper } from "./witness.ts";

/** A longer group would delay its first operation too much. */
const GROUP = 256;

const GROUPS_IN_A_ROW = 16;

/** Their callers go on, and ask for more, while the rest of the group's replies are still being written. */
const REPLIES_AT_ONCE = 16;

/** Answers that took so long are not kept back for those after them. */
const LONG_MS = 1;

/** How often the owner checks its files between commits. */
const LOOK_MS = 1000;

const writeEpoch = sql(
	"INSERT INTO settings (name, value) VALUES ('epoch', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
);

interface Serving {
	readonly port: MessagePort;
	/** What has arrived and is not served yet. */
	readonly waiting: Request[];
	readonly connection: Connection;
	readonly owner: OwnerContext;
	readonly witness: WitnessKeeper | null;
	/** For the owner; an in-memory store has no files to lose. */
	readonly ownership: Ownership | undefined;
	readonly guard: Guard | undefined;
	/** The event loop has its turn: what arrives waits until then. */
	isResting: boolean;
	closed: boolean;
}

/** Answers requests from the port until it is closed. */
export function serveStore(port: MessagePort, settings: WorkerSettings): void {
	let ownership: Ownership | undefined;
	try {
		const path = followLinks(settings.path);
		if (settings.role === "writer" && !settings.alone) ownership = takeOwnership(path, settings.startedAt);
		const { connection, database } =
			settings.role === "writer" ? openWriter(port, settings, path) : openReader(settings);
		assertWhole(connection);
		const epoch = settings.role === "writer" ? takeEpoch(connection, settings.startedAt) : 0;
		const { auditKey, auditWitness } = settings;
		const slots = { atMost: 0, since: Number.MAX_SAFE_INTEGER };
		const owner = { epoch, auditKey, witness: () => readWitness(auditWitness), slots };
		const witness = settings.role === "writer" ? keepWitness(settings, connection) : null;
		const opened = ownership && { given: settings.path, path, database, lock: ownership.lock };
		const guard = opened && watchOver({ port, connection, epoch, opened });
		const serving: Serving = {
			port,
			waiting: [],
			connection,
			owner,
			witness,
			ownership,
			guard,
			isResting: false,
			closed: false,
		};
		port.on("message", (requests: Request[]) => {
			serving.waiting.push(...requests);
			if (!serving.isResting) serve(serving);
		});
		port.postMessage({ ready: true, epoch, database } satisfies Ready);
	} catch (error) {
		ownership?.release();
		port.postMessage({
			ready: false,
			error: toWireError(openingFault(error, settings.path)),
		} satisfies Ready);
		port.close();
	}
}

interface Opened {
	readonly connection: Connection;
	/** Null: in memory, or a reader's. */
	readonly database: FileId | null;
}

function openWriter(port: MessagePort, { alone }: WorkerSettings, path: string): Opened {
	if (alone) return { connection: Connection.inMemory(), database: null };
	createPrivately(path);
	refuseForeignLog(path);
	forgetOverwritten(path);
	const database = fileAt(path);
	const tell = (migrating: MigrationProgress): void => port.postMessage({ migrating } satisfies Migrating);
	return { connection: Connection.writer(path, tell), database };
}

function openReader({ path, database }: WorkerSettings): Opened {
	assertFile(path);
	refuseForeignLog(followLinks(path));
	const before = fileAt(path);
	const connection = Connection.reader(path);
	if (!database || (isSameFile(database, before) && isSameFile(database, fileAt(path))))
		return { connection, database: null };
	connection.db.close();
	throw new KeryxError("store.replaced", `${path} is not the file Keryx has open`);
}

/** Checks periodically, also without commits. */
function watchOver({ port, ...guarded }: Omit<Guarded, "tell"> & { readonly port: MessagePort }): Guard {
	const tell = (trouble: KeryxError | null): void =>
		port.postMessage({ trouble: trouble && toWireError(trouble) } satisfies Trouble);
	const guard = new Guard({ ...guarded, tell });
	const looking = setInterval(() => guard.lookAround(), LOOK_MS).unref();
	port.once("close", () => clearInterval(looking));
	return guard;
}

function assertWhole(connection: Connection): void {
	try {
		connection.run(assertMoved());
	} catch (error) {
		connection.db.close();
		throw error;
	}
}

function takeEpoch(connection: Connection, now: number): number {
	try {
		// In one transaction: two concurrent opens after a deleted lock do not get the same epoch.
		connection.control("BEGIN IMMEDIATE");
		const epoch = connection.run(nextEpoch(now));
		connection.control("COMMIT");
		return epoch;
	} catch (error) {
		connection.db.close();
		throw error;
	}
}

function keepWitness(
	{ auditKey, auditWitness }: WorkerSettings,
	connection: Connection,
): WitnessKeeper | null {
	if (auditKey === null || auditWitness === null) return null;
	try {
		return new WitnessKeeper({ path: auditWitness, key: auditKey, connection });
	} catch (error) {
		connection.db.close();
		throw error;
	}
}

/** The owner's lock proves that nobody else owns the store. */
function* nextEpoch(now: number): Op<number> {
	const epoch = (yield* epochNow()) + 1;
	yield* run(writeEpoch, String(epoch));
	yield* beginNode({ epoch, name: `${hostname()} (process ${process.pid})`, now });
	return epoch;
}

/** Takes everything that has arrived: what waited during the last commit shares the next one. */
function serve(serving: Serving): void {
	const { port, waiting, connection, guard } = serving;
	// Requests after the close are answered by the end of the thread.
	if (serving.closed) return;
	let before = connection.changes();
	for (let groups = 0; ; groups++) {
		if (groups === GROUPS_IN_A_ROW) return void rest(serving);
		receive(serving);
		if (waiting.length === 0) return;
		const group = waiting.splice(0, GROUP);
		const writes = group.filter((request) => request.kind === "write");
		if (writes.length > 0) {
			const replies = commitGroup(serving, writes, (more) => takeMore(serving, more));
			const after = connection.changes();
			sendAll(port, replies, after > before);
			before = after;
		}
		answerAll(serving, group);
		// Last: its reads still find the database open.
		for (const { id, kind } of group) if (kind === "close") sendAll(port, [close(serving, id)], false);
		if (serving.closed) {
			port.close();
			return;
		}
		guard?.tidy();
	}
}

/** Long answers are sent one by one: their callers go on while the next one is read. Short ones go together, as do their callers. */
function answerAll(serving: Serving, group: readonly Request[]): void {
	let ready: Reply[] = [];
	let since = performance.now();
	for (const request of group) {
		const reply = answer(serving, request);
		if (!reply) continue;
		ready.push(reply);
		if (performance.now() - since < LONG_MS) continue;
		sendAll(serving.port, ready, false);
		ready = [];
		since = performance.now();
	}
	sendAll(serving.port, ready, false);
}

function sendAll(port: MessagePort, replies: readonly Reply[], changed: boolean): void {
	for (let first = 0; first < replies.length; first += REPLIES_AT_ONCE)
		port.postMessage({
			replies: replies.slice(first, first + REPLIES_AT_ONCE),
			changed: changed && first === 0,
		} satisfies Replies);
}

/**
 * The witness and the looks at the files have timers, which wait for their turn. A port hands out a thousand messages before it lets
 * anything else have one, so messages must not start the work again.
 */
function rest(serving: Serving): void {
	serving.isResting = true;
	setImmediate(() => {
		serving.isResting = false;
		serve(serving);
	});
}

function receive({ port, waiting }: Serving): void {
	for (let more = receiveMessageOnPort(port); more; more = receiveMessageOnPort(port))
		waiting.push(...(more.message as Request[]));
}

/** Nothing for a write or a close. */
function answer(serving: Serving, request: Request): Reply | undefined {
	switch (request.kind) {
		case "read":
		case "search":
		case "half":
			return readOne(serving, request);
		case "settings":
			return { id: request.id, ok: true, value: serving.connection.settings() };
		case "copy":
			return copy(serving, request);
		case "write":
		case "close":
			return undefined;
	}
}

/** The writes that have arrived meanwhile join the group: its commit is not yet made, and the caller works while the group runs. */
function takeMore(serving: Serving, writes: Write[]): void {
	receive(serving);
	const { waiting } = serving;
	let count = 0;
	while (waiting[count]?.kind === "write" && writes.length + count < GROUP) count++;
	writes.push(...(waiting.splice(0, count) as Write[]));
}

type Read = Extract<Request, { kind: "read" | "search" | "half" }>;

function readOne({ connection, owner }: Serving, request: Read): Reply {
	const { id } = request;
	try {
		connection.control("BEGIN");
		const value = connection.run(opOf(request, owner));
		const isText = request.kind === "read" && READS[request.name].asText;
		return isText ? { id, ok: true, text: JSON.stringify(value) } : { id, ok: true, value };
	} catch (error) {
		return { id, ok: false, error: toWireError(error) };
	} finally {
		connection.takeBack();
	}
}

function opOf(request: Read, owner: OwnerContext): Op<unknown> {
	if (request.kind === "read") return readOp(request.name, request.args, owner);
	if (request.kind === "search") return divided(readOp("search", request.args, owner), request.known);
	return hitsOf(request.read, request.half);
}

/** VACUUM INTO reads one snapshot, so writers neither wait nor appear in the copy. */
function copy({ connection }: Serving, { id, path }: Extract<Request, { kind: "copy" }>): Reply {
	try {
		createPrivately(path);
		connection.copyTo(path);
		return { id, ok: true, value: inspectStore(path) };
	} catch (error) {
		return { id, ok: false, error: toWireError(error) };
	}
}

function close(serving: Serving, id: number): Reply {
	if (serving.closed) return { id, ok: true, value: undefined };
	serving.witness?.close();
	if (serving.guard) serving.guard.close();
	else serving.connection.db.close();
	serving.ownership?.release();
	serving.closed = true;
	return { id, ok: true, value: undefined };
}
