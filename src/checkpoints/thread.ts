// The thread as its caller sees it. It is started by the first snapshot, keeps no process alive while it has nothing to do, and one
// that dies takes only the snapshots down that were under way.
import { Worker } from "node:worker_threads";
import { KeryxError } from "../errors.ts";
import type { Snapshot, SnapshotRequest } from "./snapshot.ts";
import type { Job, JobReply } from "./worker.ts";

/** Beside this file, in the form it runs in. Tests name one that is built. */
const WORKER =
	process.env.KERYX_CHECKPOINTS_THREAD ??
	new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url);

interface Waiting {
	readonly resolve: (snapshot: Snapshot) => void;
	readonly reject: (error: KeryxError) => void;
}

export class SnapshotThread {
	readonly #waiting = new Map<number, Waiting>();
	#worker: Worker | undefined;
	#next = 1;

	snapshot(request: SnapshotRequest): Promise<Snapshot> {
		return new Promise((resolve, reject) => {
			this.#worker ??= this.#start();
			const job: Job = { id: this.#next++, request };
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
		const worker = new Worker(WORKER);
		worker.on("message", (reply: JobReply) => this.#settle(reply));
		worker.on("error", (cause) => this.#fail(worker, cause));
		worker.on("exit", () => this.#fail(worker, undefined));
		return worker;
	}

	#settle(reply: JobReply): void {
		const waiting = this.#waiting.get(reply.id);
		this.#waiting.delete(reply.id);
		if (this.#waiting.size === 0) this.#worker?.unref();
		if ("snapshot" in reply) {
			waiting?.resolve(reply.snapshot);
			return;
		}
		const { code, message, hint, field } = reply.error;
		waiting?.reject(new KeryxError(code, message, { hint, ...(field && { field }) }));
	}

	#fail(worker: Worker, cause: unknown): void {
		if (this.#worker === worker) this.#worker = undefined;
		const error = new KeryxError("checkpoint.failed", "the thread that takes snapshots ended", { cause });
		for (const { reject } of this.#waiting.values()) reject(error);
		this.#waiting.clear();
	}
}
