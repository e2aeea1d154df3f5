// REST with the library's buckets but without its retries: a reached limit is an error that says when to retry, before the request leaves
// if the bucket is known to be empty.
import type { REST, RESTOptions } from "@discordjs/rest";
import type { Transport } from "../transport.ts";

/** The library's own timeouts are off; the transport has the deadlines. */
const NEVER_MS = 24 * 60 * 60_000;
const VERSION = "10";

/** A request's kind, for its deadline. */
export const KIND = { read: "read", write: "write", upload: "upload", file: "file" } as const;

type Made = Awaited<ReturnType<RESTOptions["makeRequest"]>>;

export async function openRest(token: string, apiRoot: string, transport: Transport): Promise<REST> {
	const { REST: Rest } = await import("@discordjs/rest");
	const rest = new Rest({
		api: apiRoot,
		version: VERSION,
		retries: 0,
		offset: 0,
		timeout: NEVER_MS,
		rejectOnRateLimit: () => true,
		// Unused ones are dropped when the token is read again.
		handlerSweepInterval: 0,
		hashSweepInterval: 0,
		makeRequest: (url, init) => request(url, init as RequestInit, transport),
	});
	// Node would refuse a token that is not a valid header, with the token in the error.
	return rest.setToken(/^[\x21-\x7e]+$/.test(token) ? token : "invalid");
}

async function request(url: string, init: RequestInit, transport: Transport): Promise<Made> {
	const { body } = init;
	const headers = Object.fromEntries(new Headers(init.headers));
	let bytes: string | Uint8Array | null = null;
	if (typeof body === "string") bytes = body;
	else if (body) {
		const form = new Response(body);
		headers["content-type"] = form.headers.get("content-type") ?? "";
		bytes = new Uint8Array(await form.arrayBuffer());
	}
	if (bytes !== null) headers["content-length"] = String(Buffer.byteLength(bytes));
	const { method = "GET" } = init;
	const kind = method === "GET" ? KIND.read : typeof bytes === "string" || !bytes ? KIND.write : KIND.upload;
	const answer = await transport.answer(url, kind, { method, headers, body: bytes });
	const { status } = answer;
	const given = Object.entries(answer.headers).flatMap(([name, value]) =>
		typeof value === "string" ? [[name, value] as [string, string]] : [],
	);
	const isEmpty = status === 204 || answer.body.length === 0;
	return new Response(isEmpty ? null : new Uint8Array(answer.body), {
		status,
		headers: given,
	}) as unknown as Made;
}
