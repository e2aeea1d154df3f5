// One request to the page's server. A read waits out a rate limit; the caller handles every other error.
import { ApiError, errorOf, unreachable } from "./error.ts";
import { loggedOut } from "./login.ts";
import { pageHeaders } from "./page-key.ts";

export interface RequestOptions {
	readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
	readonly body?: unknown;
	readonly signal?: AbortSignal | undefined;
}

const LONGEST_WAIT_S = 5;

/** Returns the parsed JSON; throws an ApiError. */
export async function request<Result>(
	method: "GET" | "POST" | "DELETE",
	path: string,
	{ query = {}, body, signal }: RequestOptions = {},
): Promise<Result> {
	const address = path + queryOf(query);
	for (;;) {
		const response = await send(method, address, body, signal);
		if (response.ok) return (await response.json().catch(lost)) as Result;
		const wait = Number(response.headers.get("retry-after"));
		if (response.status === 429 && method === "GET" && wait > 0 && wait <= LONGEST_WAIT_S) {
			await pause(wait * 1000, signal);
			continue;
		}
		const error = await errorOf(response);
		if (response.status === 401) loggedOut();
		throw error;
	}
}

/** Returns the body as text; throws an ApiError. */
export async function readText(path: string): Promise<string> {
	const response = await send("GET", path, undefined, undefined);
	if (response.ok) return response.text().catch(lost);
	if (response.status === 401) loggedOut();
	throw await errorOf(response);
}

/** Returns the body as a file; throws an ApiError. */
export async function readBlob(path: string): Promise<Blob> {
	const response = await send("GET", path, undefined, undefined);
	if (response.ok) return response.blob().catch(lost);
	if (response.status === 401) loggedOut();
	throw await errorOf(response);
}

function send(
	method: string,
	address: string,
	body: unknown,
	signal: AbortSignal | undefined,
): Promise<Response> {
	return fetch(address, {
		method,
		credentials: "same-origin",
		headers: { ...pageHeaders(), ...(body !== undefined && { "content-type": "application/json" }) },
		...(body !== undefined && { body: JSON.stringify(body) }),
		...(signal && { signal }),
	}).catch(lost);
}

/** An abort is not a connection failure. */
function lost(cause: unknown): never {
	if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
	throw cause instanceof ApiError ? cause : unreachable(cause);
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
	return new Promise((resolve, reject) => {
		const stop = () => {
			clearTimeout(timer);
			reject(new DOMException("called off", "AbortError"));
		};
		const timer = setTimeout(() => {
			signal?.removeEventListener("abort", stop);
			resolve();
		}, ms);
		signal?.addEventListener("abort", stop, { once: true });
	});
}

function queryOf(values: NonNullable<RequestOptions["query"]>): string {
	const query = new URLSearchParams();
	for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, String(value));
	return query.size === 0 ? "" : `?${query}`;
}
