// A thread of the store from its caller's view: requests are sent together, each waits for its reply, and none waits forever.
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { KeryxError } from "../../errors.ts";
import type { MigrationProgress } from "../engine.ts";
import { fromWireError } from "./faults.ts";
import type { Migrating, Ready, Replies, Request, Trouble, WorkerSettings } from "./messages.ts";
import type { FileId } from "./open-files.ts";

/** Next to this file, in the form it runs in: TypeScript in development, JavaScript when built. Tests name a built one. */
const WORKER =
	process.env.KERYX_STORE_THREAD ??
	new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url);

/** The space for new objects, in MiB. With less, a busy writer collects garbage for 3 % of its time. */
const NEW_SPACE_MIB = 8;

interface Waiting {
	readonly resolve: (value: unknown) => void;
	readonly reject: (error: KeryxError) => void;
}

export class Thread {
	readonly epoch: number;
	/** The file a writer has open. */
	readonly database: FileId | null;
	readonly #worker: Worker | MessagePort;
	/** When it has ended. */
	readonly #exited: Promise<void>;
	readonly #waiting = new Map<number, Waiting>();
	#outgoing: Request[] = [];
	#next = 1;
	#notify: () => void = () => {};
	#notifyGone: () => void = () => {};
	#gone: KeryxError | undefined;

	private constructor(
		worker: Worker | MessagePort,
		{ epoch, database }: Extract<Ready, { ready: true }>,
		exited: Promise<void>,
		onTrouble: (trouble: KeryxError | null) => void,
	) {
		this.#worker = worker;
		this.epoch = epoch;
		this.database = database;
		this.#exited = exited;
		worker.on("message", (message: Replies | Trouble) => {
			if ("replies" in message) this.#settle(message);
			else onTrouble(message.trouble && fromWireError(message.trouble));
		});
		worker.on("error", (cause) => this.#fail(died(cause)));
		worker.on("messageerror", (cause) => this.#refuseWaiting(unreadable(cause)));
		void exited.then(() => this.#fail(new KeryxError("store.closed", "the store is closed")));
	}

	/** Resolves when the thread has opened the store; otherwise rejects with the reason it ended. */
	static async start(
		settings: WorkerSettings,
		onTrouble: (trouble: KeryxError | null) => void = () => {},
		onMigration: (progress: MigrationProgress) => void = () => {},
	): Promise<Thread> {
		const worker = settings.alone
			? await inThisThread(settings)
			: new Worker(WORKER, {
					workerData: settings,
					resourceLimits: { maxYoungGenerationSizeMb: NEW_SPACE_MIB },
				});
		const exited = new Promise<void>((resolve) =>
			worker.once(settings.alone ? "close" : "exit", () => resolve()),
		);
		const ready = await new Promise<Ready>((resolve, reject) => {
			worker.on("message", function hear(message: Migrating | Ready) {
				if ("migrating" in message) return onMigration(message.migrating);
				worker.off("message", hear);
				resolve(message);
			});
			worker.once("error", (cause) => reject(died(cause)));
			void exited.then(() => reject(died(undefined)));
		});
		if (ready.ready) return new Thread(worker, ready, exited, onTrouble);
		await exited;
		throw fromWireError(ready.error);
	}

	/** Called for replies that changed something: looking again after every reply would never end. */
	onChange(notify: () => void): void {
		this.#notify = notify;
	}

	onGone(notify: () => void): void {
		this.#notifyGone = notify;
		if (this.#gone) notify();
	}

	ask(request: Request): Promise<unknown> {
		return new Promise((resolve, reject) => {
			if (this.#gone) return reject(this.#gone);
			const id = this.#next++;
			this.#waiting.set(id, { resolve, reject });
			this.#outgoing.push({ ...request, id });
			if (this.#outgoing.length === 1) setImmediate(() => this.#send());
		});
	}

	async close(): Promise<void> {
		if (this.#gone) return;
		await this.ask({ id: 0, kind: "close" });
		await this.#exited;
	}

	#send(): void {
		if (this.#outgoing.length === 0) return;
		const outgoing = this.#outgoing;
		this.#outgoing = [];
		try {
			this.#worker.postMessage(outgoing);
		} catch {
			for (const request of outgoing) this.#sendAlone(request);
		}
	}

	/** One of several cannot cross to the thread: it alone is refused. */
	#sendAlone(request: Request): void {
		try {
			this.#worker.postMessage([request]);
		} catch (cause) {
			const refused = new KeryxError("argument.invalid", `the arguments are no plain data: ${String(cause)}`);
			this.#waiting.get(request.id)?.reject(refused);
			this.#waiting.delete(request.id);
		}
	}

	#settle({ replies, changed }: Replies): void {
		for (const reply of replies) {
			const waiting = this.#waiting.get(reply.id);
			this.#waiting.delete(reply.id);
			if (reply.ok) waiting?.resolve("text" in reply ? JSON.parse(reply.text) : reply.value);
			else waiting?.reject(fromWireError(reply.error));
		}
		if (changed) this.#notify();
		this.#sendAfterwards();
	}

	/**
	 * What their callers ask for next is sent before the next replies are handed out: the thread has work in the meantime. A tick asked for
	 * by a microtask waits for all microtasks.
	 */
	#sendAfterwards(): void {
		queueMicrotask(() => process.nextTick(() => this.#send()));
	}

	#fail(error: KeryxError): void {
		if (this.#gone) return;
		this.#gone = error;
		this.#refuseWaiting(error);
		this.#notifyGone();
	}

	/** Whose reply was in a message that cannot be read is not known: none waits forever. */
	#refuseWaiting(error: KeryxError): void {
		for (const { reject } of this.#waiting.values()) reject(error);
		this.#waiting.clear();
	}
}

/** In-memory data needs no disk and no thread, only the same interface. Loaded on demand: other callers need no SQLite in their thread. */
async function inThisThread(settings: WorkerSettings): Promise<MessagePort> {
	const { serveStore } = await import("./server.ts");
	const { port1, port2 } = new MessageChannel();
	serveStore(port1, settings);
	return port2;
}

function unreadable(cause: unknown): KeryxError {
	return new KeryxError("store.failed", "a reply of the store cannot be read", {
		hint: "what was asked for may have been done",
		cause,
	});
}

function died(cause: unknown): KeryxError {
	return new KeryxError("store.failed", "a thread of the store died", { cause });
}
