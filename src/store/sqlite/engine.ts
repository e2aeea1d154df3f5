// The SQLite engine: one writer thread, a few reader threads. Operations called in the same turn of the event loop travel in
// one message; what arrives while a commit is under way shares the next one.
import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { KeryxError } from "../../errors.ts";
import type { Drawn, Engine, ReadName, WriteName } from "../engine.ts";
import { fromWireError } from "./faults.ts";
import type { Ready, Reply, Request, WorkerSettings } from "./worker.ts";

const READERS = 2;

/** Beside this file, in the form it runs in: TypeScript in development, JavaScript when built. */
const WORKER = new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url);

export interface SqliteOptions {
	/** A file's path, or ":memory:" for tests: then reads run on the writer's connection, and nobody owns it. */
	readonly path: string;
	readonly startedAt: number;
	/** read: no owner, no writes; for a command beside a running Keryx or without one. */
	readonly access: "own" | "read";
}

export async function openSqlite({ path, startedAt, access }: SqliteOptions): Promise<Engine> {
	const alone = path === ":memory:";
	if (access === "read" && !existsSync(path))
		throw new KeryxError("store.unreachable", `there is no store at ${path}`, { field: "url" });
	const writer =
		access === "own" ? await Thread.start({ role: "writer", path, startedAt, alone }) : undefined;
	const readers: Thread[] = [];
	try {
		for (let n = 0; n < READERS && !alone; n++)
			readers.push(await Thread.start({ role: "reader", path, startedAt, alone }));
	} catch (error) {
		await Promise.all([writer, ...readers].map((thread) => thread?.close()));
		throw error;
	}
	return new SqliteEngine(writer, readers);
}

class SqliteEngine implements Engine {
	readonly epoch: number;
	readonly #writer: Thread | undefined;
	readonly #readers: readonly Thread[];
	readonly #listeners = new Set<() => void>();

	constructor(writer: Thread | undefined, readers: readonly Thread[]) {
		this.#writer = writer;
		this.#readers = readers;
		this.epoch = writer?.epoch ?? 0;
		writer?.onReplies(() => {
			for (const listener of this.#listeners) listener();
		});
	}

	write(name: WriteName, args: unknown, drawn: Drawn): Promise<unknown> {
		if (!this.#writer)
			return Promise.reject(
				new KeryxError("store.readonly", "the store was opened for reading only", {
					hint: "open it as its owner",
				}),
			);
		return this.#writer.ask({ id: 0, kind: "write", name, args, drawn });
	}

	read(name: ReadName, args: unknown): Promise<unknown> {
		const thread = this.#readers.reduce<Thread | undefined>(
			(least, reader) => (least && least.waiting <= reader.waiting ? least : reader),
			undefined,
		);
		return (thread ?? (this.#writer as Thread)).ask({ id: 0, kind: "read", name, args });
	}

	onCommit(listener: () => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	async close(): Promise<void> {
		// Readers first: the writer's close leaves no connection behind, so that SQLite folds its log into the database.
		await Promise.all(this.#readers.map((reader) => reader.close()));
		await this.#writer?.close();
	}
}

interface Waiting {
	readonly resolve: (value: unknown) => void;
	readonly reject: (error: KeryxError) => void;
}

/** A worker thread and the requests that wait for it. */
class Thread {
	readonly epoch: number;
	readonly #worker: Worker;
	readonly #waiting = new Map<number, Waiting>();
	#outgoing: Request[] = [];
	#next = 1;
	#notify: () => void = () => {};
	#gone: KeryxError | undefined;

	private constructor(worker: Worker, epoch: number) {
		this.#worker = worker;
		this.epoch = epoch;
		worker.on("message", (replies: Reply[]) => this.#settle(replies));
		worker.on("error", (cause) =>
			this.#fail(new KeryxError("store.failed", "a thread of the store died", { cause })),
		);
		worker.on("exit", () => this.#fail(new KeryxError("store.closed", "the store is closed")));
	}

	static async start(workerData: WorkerSettings): Promise<Thread> {
		const worker = new Worker(WORKER, { workerData });
		const ready = await new Promise<Ready>((resolve, reject) => {
			worker.once("message", resolve);
			worker.once("error", reject);
		});
		if (!ready.ready) throw fromWireError(ready.error);
		return new Thread(worker, ready.epoch);
	}

	get waiting(): number {
		return this.#waiting.size;
	}

	onReplies(notify: () => void): void {
		this.#notify = notify;
	}

	ask(request: Request): Promise<unknown> {
		return new Promise((resolve, reject) => {
			if (this.#gone) return reject(this.#gone);
			const id = this.#next++;
			this.#waiting.set(id, { resolve, reject });
			this.#outgoing.push({ ...request, id });
			if (this.#outgoing.length === 1) queueMicrotask(() => this.#send());
		});
	}

	async close(): Promise<void> {
		if (this.#gone) return;
		const exited = new Promise<void>((resolve) => this.#worker.once("exit", () => resolve()));
		await this.ask({ id: 0, kind: "close" });
		await exited;
	}

	#send(): void {
		const outgoing = this.#outgoing;
		this.#outgoing = [];
		this.#worker.postMessage(outgoing);
	}

	#settle(replies: readonly Reply[]): void {
		for (const reply of replies) {
			const waiting = this.#waiting.get(reply.id);
			this.#waiting.delete(reply.id);
			if (reply.ok) waiting?.resolve(reply.value);
			else waiting?.reject(fromWireError(reply.error));
		}
		this.#notify();
	}

	#fail(error: KeryxError): void {
		this.#gone = error;
		for (const { reject } of this.#waiting.values()) reject(error);
		this.#waiting.clear();
	}
}
