// The caller's side of the thread with the keys.
import { Worker } from "node:worker_threads";
import { NeedsAttention } from "../trouble.ts";
import type { Call, CryptoCalls, CryptoSettings, Ready, Reply } from "./calls.ts";

/** Next to this file, in the form it runs in: TypeScript in development, JavaScript when built. Tests name a built one. */
const WORKER =
	process.env.KERYX_MATRIX_THREAD ??
	new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url);

interface Waiting {
	readonly resolve: (value: unknown) => void;
	readonly reject: (error: Error) => void;
}

export class CryptoThread {
	readonly #worker: Worker;
	readonly #waiting = new Map<number, Waiting>();
	#next = 1;
	#gone: Error | null = null;

	private constructor(worker: Worker, exited: Promise<void>) {
		this.#worker = worker;
		worker.on("message", (reply: Reply) => {
			const waiting = this.#waiting.get(reply.id);
			this.#waiting.delete(reply.id);
			if ("problem" in reply) waiting?.reject(new Error(`the encryption library: ${reply.problem}`));
			else waiting?.resolve(reply.value);
		});
		worker.on("error", (error) => this.#fail(error instanceof Error ? error : new Error(String(error))));
		void exited.then(() => this.#fail(new Error("the thread with the keys has ended")));
	}

	/** Rejects with NeedsAttention if another process has the file. */
	static async start(settings: CryptoSettings): Promise<CryptoThread> {
		const worker = new Worker(WORKER, { workerData: settings });
		const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
		const ready = await new Promise<Ready>((resolve, reject) => {
			worker.once("message", resolve);
			worker.once("error", reject);
			void exited.then(() => reject(new Error("the thread with the keys has ended")));
		});
		if ("ready" in ready) return new CryptoThread(worker, exited);
		await worker.terminate();
		throw ready.isTaken
			? new NeedsAttention(
					`another process has the keys of this account open (${settings.file}): stop it; Keryx checks again automatically`,
				)
			: new Error(`the encryption keys cannot be opened: ${ready.problem}`);
	}

	/** Its methods, each answered by the thread. */
	call<Method extends keyof CryptoCalls>(
		method: Method,
		...args: Parameters<CryptoCalls[Method]>
	): ReturnType<CryptoCalls[Method]> {
		return this.#ask(method, args) as ReturnType<CryptoCalls[Method]>;
	}

	/** Resolves when the file is closed. */
	async close(): Promise<void> {
		if (this.#gone) return;
		await this.#ask("close", []);
		// The library keeps the thread alive.
		await this.#worker.terminate();
	}

	#ask(method: Call["method"], args: readonly unknown[]): Promise<unknown> {
		return new Promise((resolve, reject) => {
			if (this.#gone) return reject(this.#gone);
			const id = this.#next++;
			this.#waiting.set(id, { resolve, reject });
			this.#worker.postMessage({ id, method, args } satisfies Call);
		});
	}

	#fail(error: Error): void {
		this.#gone ??= error;
		for (const { reject } of this.#waiting.values()) reject(this.#gone);
		this.#waiting.clear();
	}
}
