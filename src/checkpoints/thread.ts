// The worker thread from its caller's view. Started by the first work, it keeps no process alive while idle, and if it dies only its
// current work fails.
import { SHARE_ENV, Worker } from "node:worker_threads";
import { KeryxError } from "../errors.ts";
import type { Job, JobReply, Work } from "./work.ts";

/** Next to this file, with the same extension. Tests name a built one. */
const WORKER =
	process.env.KERYX_CHECKPOINTS_THREAD ??
	new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url);

interface Waiting {
	readonly resolve: (answer: never) => void;
	readonly reject: (error: KeryxError) => void;
}

export class FilesThread {
	readonly #waiting = new Map<number, Waiting>();
	#worker: Worker | undefined;
	#next = 1;

	ask<Name extends keyof Work>(name: Name, request: Work[Name]["request"]): Promise<Work[Name]["answer"]> {
		return new Promise((resolve, reject) => {
			this.#worker ??= this.#start();
			const job = { id: this.#next++, name, request } as Job;
			this.#waiting.set(job.id, { resolve, reject });
			this.#worker.ref();
			this.#worker.postMessage(job);
		});
	}

	async close(): Promise<void> {
		const worker = this.#worker;
		this.#worker = undefined;
		await worker?.terminate();
	}

	#start(): Worker {
		const worker = new Worker(WORKER, { env: SHARE_ENV, resourceLimits: { maxYoungGenerationSizeMb: 64 } });
		worker.on("message", (reply: JobReply) => this.#settle(reply));
		worker.on("error", (cause) => this.#fail(worker, cause));
		worker.on("exit", () => this.#fail(worker, undefined));
		return worker;
	}

	#settle(reply: JobReply): void {
		const waiting = this.#waiting.get(reply.id);
		this.#waiting.delete(reply.id);
		if (this.#waiting.size === 0) this.#worker?.unref();
		if ("answer" in reply) {
			waiting?.resolve(reply.answer as never);
			return;
		}
		const { code, message, hint, field } = reply.error;
		waiting?.reject(new KeryxError(code, message, { hint, ...(field && { field }) }));
	}

	#fail(worker: Worker, cause: unknown): void {
		if (this.#worker === worker) this.#worker = undefined;
		const error = new KeryxError("checkpoint.failed", "the thread that looks at files ended", { cause });
		for (const { reject } of this.#waiting.values()) reject(error);
		this.#waiting.clear();
	}
}
