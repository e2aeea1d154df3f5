// Store threads that serve one store after another, only in tests. Starting a thread and loading the store's code into it
// costs a hundred times as much as most tests do there, and tests open thousands of stores. A kept thread serves one store at a time,
// through the function that a separate thread would call, and its caller sees the same events. It starts a new store from a copy
// of an empty one. A dead thread is not used again; its store fails as with a separate thread.
import { EventEmitter } from "node:events";
import { syncBuiltinESMExports } from "node:module";
import threads, { MessageChannel, type MessagePort } from "node:worker_threads";
import type { WorkerSettings } from "../../src/store/sqlite/messages.ts";

const OWN = Symbol.for("keryx.test.own-worker");
/** More idle threads than this are useless. */
const IDLE = 4;
/** Test files that share a process load this module once each; the first one replaces `Worker`, and keeps Node's own here. */
const node = globalThis as { [OWN]?: typeof threads.Worker };

export interface Work {
	readonly port: MessagePort;
	readonly settings: WorkerSettings;
}

const { KERYX_STORE_THREAD, KERYX_KEPT_THREAD } = process.env;
/** Node's own. */
export const Worker = node[OWN] ?? threads.Worker;
const idle: KeptThread[] = [];

/** A thread started by Node, and the store it serves. */
class KeptThread {
	readonly #worker: threads.Worker;
	#served: ServedStore | undefined;

	constructor(file: string) {
		this.#worker = new Worker(file);
		// A served store keeps this process alive by its port; an idle thread does not.
		this.#worker.unref();
		this.#worker.on("message", () => this.#free());
		this.#worker.on("error", (cause) => this.#served?.emit("error", cause));
		this.#worker.on("exit", () => this.#gone());
	}

	serve(store: ServedStore, work: Work): void {
		this.#served = store;
		this.#worker.postMessage(work, [work.port]);
	}

	#free(): void {
		const served = this.#served;
		this.#served = undefined;
		if (idle.length < IDLE) idle.push(this);
		else void this.#worker.terminate();
		served?.left();
	}

	#gone(): void {
		const at = idle.indexOf(this);
		if (at >= 0) idle.splice(at, 1);
		this.#served?.left();
		this.#served = undefined;
	}
}

/** Looks like a separate thread to the store. */
class ServedStore extends EventEmitter {
	readonly #port: MessagePort;
	/** Both must have happened before the thread counts as ended: the last message arrived, and the thread is done. */
	#ends = 0;

	constructor(file: string, settings: WorkerSettings) {
		super();
		const { port1, port2 } = new MessageChannel();
		this.#port = port2;
		port2.on("message", (message) => this.emit("message", message));
		port2.on("close", () => this.#end());
		const thread = idle.pop() ?? new KeptThread(file);
		thread.serve(this, { port: port1, settings });
	}

	postMessage(message: unknown): void {
		this.#port.postMessage(message);
	}

	left(): void {
		this.#end();
	}

	#end(): void {
		if (++this.#ends === 2) this.emit("exit", 0);
	}
}

/** Node's `new Worker(file, options)`, except for the store's own file. */
function keepThreads(file: string, kept: string): void {
	threads.Worker = new Proxy(Worker, {
		construct: (target, args, newTarget) =>
			args[0] === file
				? new ServedStore(kept, args[1].workerData)
				: (Reflect.construct(target, args, newTarget) as object),
	});
	syncBuiltinESMExports();
}

if (KERYX_STORE_THREAD && KERYX_KEPT_THREAD && !node[OWN]) {
	node[OWN] = Worker;
	keepThreads(KERYX_STORE_THREAD, KERYX_KEPT_THREAD);
}
