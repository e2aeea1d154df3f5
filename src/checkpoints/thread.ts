// The worker thread from its caller's view. Started by the first work, it ends when it has had none for a while. It keeps no process
// alive while idle, and if it dies only its current work fails.
import { SHARE_ENV, Worker } from "node:worker_threads";
import { KeryxError } from "../errors.ts";
import type { Job, JobReply, Work } from "./work.ts";

/** Next to this file, with the same extension. Tests name a built one. */
const WORKER =
	process.env.KERYX_CHECKPOINTS_THREAD ??
	new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url);

/** A thread without work ends after this: it holds some 15 MiB, and a new one starts in about 50 ms. */
const IDLE_MS = 10_000;

interface Waiting {
	readonly resolve: (answer: never) => void;
	readonly reject: (error: KeryxError) => void;
}

export class FilesThread {
	readonly #idleMs: number;
	/** All for the running worker. */
	readonly #waiting = new Map<number, Waiting>();
	#worker: Worker | undefined;
	#idle: NodeJS.Timeout | undefined;
	#next = 1;

	constructor(idleMs = IDLE_MS) {
		this.#idleMs = idleMs;
	}

	get isRunning(): boolean {
		return this.#worker !== undefined;
	}

	ask<Name extends keyof Work>(name: Name, request: Work[Name]["request"]): Promise<Work[Name]["answer"]> {
		return new Promise((resolve, reject) => {
			clearTimeout(this.#idle);
			this.#worker ??= this.#start();
			const job = { id: this.#next++, name, request } as Job;
			this.#waiting.set(job.id, { resolve, reject });
			this.#worker.ref();
			this.#worker.postMessage(job);
		});
	}

	async close(): Promise<void> {
		clearTimeout(this.#idle);
		const worker = this.#worker;
		this.#forget(undefined);
		await worker?.terminate();
	}

	#start(): Worker {
		const worker = new Worker(WORKER, { env: SHARE_ENV, resourceLimits: { maxYoungGenerationSizeMb: 64 } });
		const fail = (cause: unknown): void => {
			if (this.#worker === worker) this.#forget(cause);
		};
		worker.on("message", (reply: JobReply) => this.#settle(reply));
		worker.on("error", fail);
		worker.on("exit", () => fail(undefined));
		return worker;
	}

	#settle(reply: JobReply): void {
		const waiting = this.#waiting.get(reply.id);
		// The last word of a thread that was closed.
		if (!waiting) return;
		this.#waiting.delete(reply.id);
		if (this.#waiting.size === 0) {
			this.#worker?.unref();
			this.#idle = setTimeout(() => void this.close(), this.#idleMs).unref();
		}
		if ("answer" in reply) {
			waiting.resolve(reply.answer as never);
			return;
		}
		const { code, message, hint, field } = reply.error;
		waiting.reject(new KeryxError(code, message, { hint, ...(field && { field }) }));
	}

	/** The next work starts another worker. */
	#forget(cause: unknown): void {
		this.#worker = undefined;
		const error = new KeryxError("checkpoint.failed", "the thread that looks at files ended", { cause });
		for (const { reject } of this.#waiting.values()) reject(error);
		this.#waiting.clear();
	}
}
