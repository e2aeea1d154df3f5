// Calls of Slack's Web API, and of its file addresses. It reports what the library cannot: whether a failed request may have reached
// Slack. It retries nothing and follows no redirect, because each request carries the token.
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import type { WebClient } from "@slack/web-api";
import type { Clock } from "../../time/index.ts";

/** The request did not leave: Slack cannot have executed it. */
export class NotSent extends Error {}
/** It may or may not have been executed. */
export class NoAnswer extends Error {}

export const API_ROOT = "https://slack.com/api/";
const CALL_MS = 30_000;
/** Names are looked up while a message waits to be acknowledged, which Slack expects within 3 seconds. */
const NAME_MS = 1500;
const UPLOAD_MS = 45_000;
const SHOWS = /\/(?:chat\.\w+|files\.completeUploadExternal)$/;

export interface WebOptions {
	/** Loaded when the first channel starts. */
	readonly WebClient: typeof WebClient;
	readonly token: string;
	readonly apiRoot: string;
	readonly clock: Clock;
}

export class Web {
	readonly #options: WebOptions;
	readonly #token: string;
	readonly #client: WebClient;
	/** Running calls; true if it shows something to people. */
	readonly #open = new Map<AbortController, boolean>();

	constructor(options: WebOptions) {
		this.#options = options;
		// Node would refuse an invalid header, with the token in the error.
		this.#token = /^[\x21-\x7e]+$/.test(options.token) ? options.token : "invalid";
		this.#client = new options.WebClient(this.#token, {
			slackApiUrl: options.apiRoot,
			retryConfig: { retries: 0 },
			rejectRateLimitedCalls: true,
			logger: SILENT,
			fetch: (url, init) => this.#fetch(String(url), init as RequestInit, deadlineOf(String(url))),
		});
	}

	async call<Answer extends object>(
		method: string,
		args: Readonly<Record<string, unknown>> = {},
	): Promise<Answer> {
		return (await this.#client.apiCall(method, args)) as unknown as Answer;
	}

	/** The bytes of a file at Slack. Rejects at anything but 200, and at the timeout. */
	async *download(url: string, ms: number): AsyncGenerator<Uint8Array> {
		if (!this.#isSlack(url)) throw new NoAnswer("the file is not stored by Slack");
		const controller = new AbortController();
		const cancel = this.#options.clock.after(ms, () => controller.abort(new Error("timed out")));
		this.#open.set(controller, false);
		try {
			const response = await fetch(url, {
				headers: { authorization: `Bearer ${this.#token}` },
				redirect: "manual",
				signal: controller.signal,
			});
			if (response.status !== 200 || !response.body) {
				await response.body?.cancel();
				throw new NoAnswer(
					response.status === 302
						? "the app is not allowed to read files (files:read)"
						: `HTTP status ${response.status}`,
				);
			}
			yield* response.body;
		} catch (error) {
			throw error instanceof NoAnswer
				? error
				: new NoAnswer(`the download was interrupted (${wordsOf(error)})`);
		} finally {
			cancel();
			this.#open.delete(controller);
		}
	}

	/** Uploads a file; it is invisible until completed, so any failure here may be repeated. */
	async upload(url: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
		if (!this.#isSlack(url)) throw new NotSent("Slack gave an unexpected address for the upload");
		const request = { method: "POST", body: bytes, redirect: "error" } as const;
		try {
			const { status } = await this.#fetch(url, request, UPLOAD_MS);
			if (status !== 200) throw new NotSent(`HTTP status ${status}`);
		} catch (error) {
			throw new NotSent(`the file could not be uploaded: ${wordsOf(error)}`);
		}
	}

	/** Aborts running calls, except visible ones: their outcome would be unknown. */
	abort(): void {
		for (const [controller, shows] of this.#open) if (!shows) controller.abort(new Error("stopped"));
	}

	async #fetch(url: string, init: RequestInit, ms: number): Promise<Response> {
		// Lets the event loop notice closed connections: a request on one would have an unknown outcome.
		await turnOfTheLoop();
		const controller = new AbortController();
		const cancel = this.#options.clock.after(ms, () => controller.abort(new Error("timed out")));
		this.#open.set(controller, SHOWS.test(url));
		try {
			const response = await fetch(url, { ...init, signal: controller.signal });
			// The deadline covers the last byte.
			const body = await response.arrayBuffer();
			return new Response(body, { status: response.status, headers: response.headers });
		} catch (error) {
			throw neverLeft(error)
				? new NotSent(`not sent (${wordsOf(error)})`)
				: new NoAnswer(`no answer (${wordsOf(error)})`);
		} finally {
			cancel();
			this.#open.delete(controller);
		}
	}

	/** Files can be stored elsewhere, at someone else's address: the token must not go there. */
	#isSlack(url: string): boolean {
		const { protocol, hostname, origin } = new URL(url);
		if (origin === new URL(this.#options.apiRoot).origin) return true;
		return protocol === "https:" && /(?:^|\.)slack(?:-files)?\.com$/.test(hostname);
	}
}

function deadlineOf(url: string): number {
	return /\/(?:users|conversations|files)\.info$/.test(url) ? NAME_MS : CALL_MS;
}

/** Nobody was reached: the name is unknown, or nothing answers there. */
function neverLeft(error: unknown): boolean {
	const { cause } = error as { readonly cause?: unknown };
	const { code, syscall, errors } = (cause ?? {}) as NodeJS.ErrnoException & {
		readonly errors?: readonly unknown[];
	};
	if (errors) return true;
	return syscall === "connect" || syscall === "getaddrinfo" || code === "UND_ERR_CONNECT_TIMEOUT";
}

function wordsOf(error: unknown): string {
	const { message, cause } = error as Error;
	const { code, message: deeper } = (cause ?? {}) as NodeJS.ErrnoException;
	// An address may contain a password.
	return (code ?? deeper ?? message).replace(/\bhttps?:\/\/\S+/g, "its address");
}

const nothing = () => {};
/** Silences the library's console output; results say it. */
const SILENT = {
	debug: nothing,
	info: nothing,
	warn: nothing,
	error: nothing,
	setLevel: nothing,
	setName: nothing,
	getLevel: () => "error" as never,
};
