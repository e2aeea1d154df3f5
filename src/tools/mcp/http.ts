// Connects to a server over HTTP: with a key in its headers, or a person's stored login. Its output is limited like a program's.
import type { FetchLike } from "@modelcontextprotocol/client";
import type { McpServerSettings } from "../../config/index.ts";
import { answeredId, LONGEST_MESSAGE, tooLong } from "./messages.ts";
import { loginOf } from "./oauth.ts";
import type { Line, ServerParts } from "./types.ts";

/** How much of a too long message is kept, to find its request. */
const EDGE = 256;

/** Throws if a header's variable is not set. */
export async function openHttp(name: string, settings: McpServerSettings, parts: ServerParts): Promise<Line> {
	const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
	const headers = Object.fromEntries(
		Object.entries(settings.headers_env).map(([header, variable]) => [header, readHeader(variable, parts)]),
	);
	const transport = new StreamableHTTPClientTransport(new URL(settings.url as string), {
		requestInit: { headers },
		fetch: boundedFetch(fetch),
		// A key is the operator's choice: then nobody is asked to log in.
		...(Object.keys(headers).length === 0 && { authProvider: loginOf(name, parts) }),
	});
	const { promise: over, resolve } = Promise.withResolvers<string>();
	return {
		transport,
		pid: null,
		over,
		end: resolve,
		close: async () => {
			resolve("it was disconnected");
			await transport.close();
		},
	};
}

function readHeader(variable: string, { variable: read, secrets }: ServerParts): string {
	const value = read(variable)?.trim();
	if (!value) throw new Error(`the variable ${variable} is not set`);
	secrets.learn(new Map([[variable, value]]));
	return value;
}

/** A too long answer is replaced by one that says so, and the rest is not read. */
export function boundedFetch(ask: typeof fetch): FetchLike {
	return async (url, init) => {
		const answer = await ask(url, init);
		const { body } = answer;
		if (!body) return answer;
		const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
		const bounded = isStream ? body.pipeThrough(boundedEvents()) : boundedBody(body, askedId(init?.body));
		const { status, statusText, headers } = answer;
		return new Response(bounded, { status, statusText, headers: withoutLength(headers) });
	};
}

function withoutLength(headers: Headers): Headers {
	const kept = new Headers(headers);
	// The body is decoded already, and may be another one.
	for (const name of ["content-length", "content-encoding"]) kept.delete(name);
	return kept;
}

function askedId(body: unknown): number | string | null {
	if (typeof body !== "string") return null;
	try {
		return (JSON.parse(body) as { id?: number | string } | null)?.id ?? null;
	} catch {
		return null;
	}
}

function boundedBody(
	body: ReadableStream<Uint8Array>,
	id: number | string | null,
): ReadableStream<Uint8Array> {
	return new ReadableStream({
		async start(controller) {
			const pieces: Uint8Array[] = [];
			let length = 0;
			try {
				for await (const piece of body) {
					length += piece.length;
					if (length > LONGEST_MESSAGE) break;
					pieces.push(piece);
				}
			} catch (error) {
				controller.error(error);
				return;
			}
			if (length <= LONGEST_MESSAGE) for (const piece of pieces) controller.enqueue(piece);
			else if (id !== null) controller.enqueue(Buffer.from(JSON.stringify(tooLong(id))));
			controller.close();
		},
	});
}

const NEWLINE = 10;

/** By line: an event's data is on one line. */
function boundedEvents(): TransformStream<Uint8Array, Uint8Array> {
	let length = 0;
	let head = Buffer.alloc(0);
	let tail = Buffer.alloc(0);
	let held: Uint8Array[] = [];
	const finished = (): Uint8Array | null => {
		if (length <= LONGEST_MESSAGE) return Buffer.concat(held);
		const id = answeredId(head.toString("latin1").replace(/^data:\s*/, ""), tail.toString("latin1"));
		return id === null ? null : Buffer.from(`data: ${JSON.stringify(tooLong(id))}`);
	};
	const fresh = () => {
		[length, head, tail, held] = [0, Buffer.alloc(0), Buffer.alloc(0), []];
	};
	return new TransformStream({
		transform(chunk, controller) {
			let from = 0;
			while (from < chunk.length) {
				const end = chunk.indexOf(NEWLINE, from);
				const piece = chunk.subarray(from, end < 0 ? chunk.length : end);
				length += piece.length;
				if (head.length < EDGE) head = Buffer.concat([head, piece.subarray(0, EDGE - head.length)]);
				tail = Buffer.concat([tail, piece.subarray(-EDGE)]).subarray(-EDGE);
				if (length <= LONGEST_MESSAGE) held.push(piece);
				else held = [];
				if (end < 0) return;
				const line = finished();
				if (line) controller.enqueue(Buffer.concat([line, Buffer.from("\n")]));
				fresh();
				from = end + 1;
			}
		},
		flush(controller) {
			const line = finished();
			if (line && line.length > 0) controller.enqueue(line);
		},
	});
}
