// The API for TypeScript programs: one method per endpoint, typed by the server's schemas. Talks to a socket, or to the app within a
// process.
import { KeryxError } from "../../errors.ts";
import type { Api } from "../app.ts";
import type { Endpoint } from "../endpoint.ts";
import { type EndpointName, endpoints } from "../endpoints.ts";
import { framesOf } from "../events/sse.ts";
import type { WireDelta } from "../schemas.ts";
import { event } from "../schemas.ts";
import { type AskInput, type Asking, ask } from "./ask.ts";
import { type ConfirmationCalls, confirmationCalls } from "./confirmations.ts";
import { queryOf } from "./query.ts";
import { errorOf, headersOf, type Transport, type TransportOptions, textOf } from "./socket.ts";
import type { CallingClient, Calls, Followed, FollowInput } from "./types.ts";

export interface Client extends CallingClient {
	/** Sends one message; read its answer while it is written, or as a whole. */
	ask(input: AskInput): Promise<Asking>;
	/** Ask for approval before an action, wait for the decision, use it once; or decide. */
	readonly confirmations: ConfirmationCalls;
}

/** Between two reconnects. */
const RECONNECT_MS = [50, 100, 200, 500, 1000, 2000] as const;

export function createClient(transport: Transport): Client {
	const calls: Record<string, unknown> = {};
	for (const name of Object.keys(endpoints) as EndpointName[])
		calls[name] = (input: Record<string, unknown> = {}) => call(transport, endpoints[name], input);
	const client: Client = {
		...(calls as unknown as Calls),
		ask: (input) => ask(client, input),
		get confirmations() {
			return confirmationCalls(client);
		},
		follow: (input) => follow(transport, input),
		export: async function* (input) {
			const path = `/api/export${queryOf(input)}`;
			const { status, body } = await transport({ method: "GET", path, headers: {} });
			if (status !== 200) throw errorOf(await textOf(body), status);
			yield* body;
		},
		import: async (body, origin = "export") => {
			const path = `/api/import${queryOf({ origin })}`;
			const headers = { "content-type": "application/jsonl" };
			const answer = await transport({ method: "POST", path, headers, body });
			const text = await textOf(answer.body);
			if (answer.status !== 200) throw errorOf(text, answer.status);
			return JSON.parse(text) as Record<string, number>;
		},
		confirm: async (method, path, body, signal) => {
			const answer = await transport({
				method,
				path,
				headers: body === undefined ? {} : { "content-type": "application/json" },
				...(body !== undefined && { body: JSON.stringify(body) }),
				...(signal && { signal }),
			});
			const text = await textOf(answer.body);
			return { status: answer.status, body: flatAnswer(text, answer.status) };
		},
	};
	return client;
}

function flatAnswer(text: string, status: number): Readonly<Record<string, unknown>> {
	try {
		return JSON.parse(text) as Record<string, unknown>;
	} catch (cause) {
		throw new KeryxError("internal", `Keryx answered ${status}, but not in JSON`, { cause });
	}
}

/** To an app in this process. */
export function apiTransport(api: Pick<Api, "fetch">, options: TransportOptions = {}): Transport {
	const own = headersOf(options);
	return async ({ method, path, headers, body, signal }) => {
		const request = new Request(`http://keryx${path}`, {
			method,
			headers: { ...headers, ...own },
			...(body !== undefined && {
				body: typeof body === "string" ? body : (ReadableStream.from(body) as never),
				duplex: "half",
			}),
			...(signal && { signal }),
		} as RequestInit);
		const response = await api.fetch(request);
		return { status: response.status, body: untilAborted(response.body, signal) };
	};
}

/** Within a process nobody disconnects: the stream is closed when its reader leaves. */
async function* untilAborted(
	body: ReadableStream<Uint8Array> | null,
	signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
	if (!body) return;
	const reader = body.getReader();
	const cancel = () => void reader.cancel();
	signal?.addEventListener("abort", cancel);
	try {
		for (;;) {
			const { done, value } = await reader.read();
			if (done) return;
			yield value;
		}
	} finally {
		signal?.removeEventListener("abort", cancel);
		await reader.cancel();
	}
}

async function call(
	transport: Transport,
	{ method, path, params, query, body, answer }: Endpoint,
	input: Record<string, unknown>,
): Promise<unknown> {
	const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(input[name])));
	const asked = queryOf(pick(input, Object.keys(query.shape)));
	const sent =
		body && JSON.stringify(omit(input, [...Object.keys(params.shape), ...Object.keys(query.shape)]));
	const response = await transport({
		method: method.toUpperCase(),
		path: filled + asked,
		headers: sent === null ? {} : { "content-type": "application/json" },
		...(sent !== null && { body: sent }),
	});
	const text = await textOf(response.body);
	if (response.status >= 400) throw errorOf(text, response.status);
	return answer.parse(JSON.parse(text));
}

async function* follow(transport: Transport, input: FollowInput): AsyncGenerator<Followed> {
	const { signal, conversation } = input;
	let cursor = input.after;
	let attempt = 0;
	let lost = false;
	while (!signal.aborted) {
		try {
			const path = `/events${queryOf({ after: cursor, conversation })}`;
			const headers = { accept: "text/event-stream" };
			const { status, body } = await transport({ method: "GET", path, headers, signal });
			if (status !== 200) throw errorOf(await textOf(body), status);
			if (lost) yield { kind: "restored" };
			lost = false;
			attempt = 0;
			for await (const frame of framesOf(body)) {
				if (frame.id !== undefined) cursor = frame.id;
				if (frame.event === "delta") yield { kind: "delta", delta: JSON.parse(frame.data) as WireDelta };
				else if (frame.event === "resync") yield { kind: "resync", cursor: cursor ?? "" };
				else if (frame.event === "error") throw errorOf(frame.data, 500);
				else if (frame.event !== "hello") yield { kind: "event", event: event.parse(JSON.parse(frame.data)) };
			}
		} catch (error) {
			// A refusal is an answer; anything else is a connection that may come back.
			if (error instanceof KeryxError && error.code !== "internal" && !isPassing(error)) throw error;
		}
		if (signal.aborted) return;
		if (!lost) yield { kind: "lost" };
		lost = true;
		await pause(RECONNECT_MS[Math.min(attempt++, RECONNECT_MS.length - 1)] ?? 1000, signal);
	}
}

function isPassing({ code }: KeryxError): boolean {
	return code === "gateway.silent" || (code.startsWith("store.") && code !== "store.not_found");
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		const done = () => {
			clearTimeout(timer);
			signal.removeEventListener("abort", done);
			resolve();
		};
		const timer = setTimeout(done, ms);
		signal.addEventListener("abort", done);
	});
}

function pick(values: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
	return Object.fromEntries(
		names.filter((name) => values[name] !== undefined).map((name) => [name, values[name]]),
	);
}

function omit(values: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
	return Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
}
