// HTTP for the platforms' libraries. It reports what they cannot: whether a failed request may have reached the platform. It follows no
// redirect, retries nothing, and its errors never contain an address, because a bot's token may be part of it.
import * as http from "node:http";
import * as https from "node:https";
import { Readable } from "node:stream";
import type { Clock } from "../time/index.ts";

/** The request did not leave completely: the platform cannot have executed it. */
export class NotSent extends Error {}
/** It may or may not have been executed. */
export class NoAnswer extends Error {}

/** A connection idle for longer is not reused: the other end may have closed it, and then a request's outcome is unknown. */
const IDLE_MS = 15_000;
const ANSWER_LIMIT = 16 * 1024 * 1024;

export interface Request {
	readonly method?: string;
	readonly headers?: Readonly<Record<string, string>>;
	readonly body?: string | Uint8Array | Readable | null;
	/** grammY gives up: an uploaded file cannot be read to its end. */
	readonly signal?: Pick<AbortSignal, "addEventListener">;
}

export interface Answer {
	readonly status: number;
	readonly headers: http.IncomingHttpHeaders;
	readonly body: Buffer;
}

export interface TransportOptions {
	readonly clock: Clock;
	/** The time limit per kind of request: a Bot API method, or the kind passed to `answer`. */
	readonly deadlineOf: (method: string) => number;
}

export class Transport {
	readonly #options: TransportOptions;
	readonly #http = new http.Agent({ keepAlive: true, timeout: IDLE_MS });
	readonly #https = new https.Agent({ keepAlive: true, timeout: IDLE_MS });
	/** Running requests, with their method. */
	readonly #open = new Map<http.ClientRequest, string>();

	constructor(options: TransportOptions) {
		this.#options = options;
	}

	get connections(): number {
		return this.#open.size;
	}

	/** As grammY calls `fetch`; only `json` of the answer is used. */
	readonly fetch = async (
		url: string | URL,
		request: Request = {},
	): Promise<{ json(): Promise<unknown> }> => {
		const method = new URL(url).pathname.split("/").at(-1) ?? "";
		const { status, body } = await this.answer(url, method, request);
		return {
			json: () => {
				try {
					return Promise.resolve(JSON.parse(body.toString()) as unknown);
				} catch {
					// From a machine in between, which does not say what Telegram did.
					return Promise.reject(new NoAnswer(`HTTP status ${status} without an answer from the Bot API`));
				}
			},
		};
	};

	/** The bytes of a file. Rejects at anything but 200, and at the timeout. */
	async *download(
		url: string,
		ms: number,
		headers: Readonly<Record<string, string>> = {},
	): AsyncGenerator<Uint8Array> {
		const response = await this.#ask(url, "file", { headers }, ms);
		if (response.statusCode !== 200) {
			response.destroy();
			throw new NoAnswer(`HTTP status ${response.statusCode}`);
		}
		try {
			for await (const chunk of response) yield chunk as Uint8Array;
		} catch (error) {
			throw new NoAnswer(`the download was interrupted (${codeOf(error)})`);
		}
	}

	/** Aborts running requests: of these methods, or all. */
	abort(methods?: readonly string[]): void {
		for (const [request, method] of this.#open)
			if (!methods || methods.includes(method)) request.destroy(new Error("stopped"));
	}

	close(): void {
		this.#http.destroy();
		this.#https.destroy();
	}

	/** One request of this kind; resolves with the whole answer, whatever its status. */
	async answer(url: string | URL, method: string, request: Request): Promise<Answer> {
		const response = await this.#ask(url, method, request, this.#options.deadlineOf(method));
		const chunks: Buffer[] = [];
		let size = 0;
		try {
			for await (const chunk of response) {
				chunks.push(chunk as Buffer);
				size += (chunk as Buffer).length;
				if (size > ANSWER_LIMIT) throw new Error("too long");
			}
		} catch (error) {
			throw new NoAnswer(`the answer was interrupted (${codeOf(error)})`);
		}
		return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) };
	}

	/** Resolves with the answer's head; the deadline covers its last byte. */
	#ask(url: string | URL, method: string, request: Request, ms: number): Promise<http.IncomingMessage> {
		const { method: verb = "GET", headers = {}, body = null } = request;
		const secure = new URL(url).protocol === "https:";
		return new Promise((resolve, reject) => {
			const options = { method: verb, headers: headers as Record<string, string> };
			const asked = secure
				? https.request(url, { ...options, agent: this.#https })
				: http.request(url, { ...options, agent: this.#http });
			let isWritten = false;
			this.#open.set(asked, method);
			const cancel = this.#options.clock.after(ms, () => asked.destroy(new Error("timed out")));
			asked.once("finish", () => {
				isWritten = true;
			});
			asked.once("close", () => {
				cancel();
				this.#open.delete(asked);
			});
			asked.once("error", (error) =>
				reject(
					isWritten
						? new NoAnswer(`no answer (${codeOf(error)})`)
						: new NotSent(`not sent (${codeOf(error)})`),
				),
			);
			asked.once("response", resolve);
			if (!(body instanceof Readable)) {
				asked.end(body ?? undefined);
				return;
			}
			// A truncated file must not look like a shorter one.
			request.signal?.addEventListener("abort", () => asked.destroy(new Error("given up")));
			body.once("error", (error) => asked.destroy(error));
			body.pipe(asked);
			asked.once("close", () => body.destroy());
		});
	}
}

function codeOf(error: unknown): string {
	const { code, message } = error as NodeJS.ErrnoException;
	return code ?? message;
}
