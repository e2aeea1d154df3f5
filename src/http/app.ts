// The API as one Hono app: routes from the table of endpoints, the streams beside them, OpenAPI from the same schemas.
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import { streamSSE } from "hono/streaming";
import type { ConversationId, SessionId } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import { exportJsonl, exportMarkdown, importJsonl, linesOf, type Scope } from "../store/index.ts";
import { type Endpoint, type EndpointName, endpoints } from "./endpoints.ts";
import { statusOf, toKeryxError } from "./errors.ts";
import { Feed } from "./feed.ts";
import { type ApiHost, handlers } from "./handlers.ts";
import { delta, error, event } from "./schemas.ts";

const BODY_LIMIT = 1024 * 1024;
const HEARTBEAT_MS = 15_000;

/** Whoever reaches this app is the operator: it is served on a socket that only the user can open. */
const OPERATOR: Scope = { kind: "operator" };

export interface Api {
	/** Answers one request; for a server, and for use within the process. */
	fetch(request: Request): Promise<Response>;
	/** Ends every stream, so that a server can close. */
	close(): void;
}

export function createApi(host: ApiHost): Api {
	const closing = new AbortController();
	const feed = new Feed(host.store, host.gateway);
	const app = new OpenAPIHono({
		defaultHook: (result) => {
			if (!result.success) throw invalid(result.error);
		},
	});
	app.onError((cause, c) => {
		const known = toKeryxError(cause);
		return c.json({ error: known.toJSON() }, statusOf(known) as 500);
	});
	app.notFound((c) => {
		const known = new KeryxError("http.no_route", `there is no ${c.req.method} ${c.req.path}`);
		return c.json({ error: known.toJSON() }, 404);
	});
	const limited = bodyLimit({
		maxSize: BODY_LIMIT,
		onError: () => {
			throw new KeryxError("http.too_large", `a body may have ${BODY_LIMIT} bytes`);
		},
	});
	for (const name of Object.keys(endpoints) as EndpointName[]) {
		const spec: Endpoint = endpoints[name];
		if (spec.body) app.use(colonPath(spec.path), limited, requireJson);
		app.openapi(routeOf(name, spec), async (c) => {
			const input = {
				...(c.req.valid("param") as object),
				...(c.req.valid("query") as object),
				...(spec.body ? (c.req.valid("json" as never) as object) : {}),
			};
			const handle = handlers[name] as (input: object, call: object) => Promise<object>;
			const signal = AbortSignal.any([c.req.raw.signal, closing.signal]);
			return c.json(await handle(input, { host, feed, scope: OPERATOR, signal }), spec.status as 200);
		});
	}
	addEvents(app, feed, closing.signal);
	addTransfer(app, host);
	app.doc31("/openapi.json", {
		openapi: "3.1.0",
		info: {
			title: "Keryx",
			version: host.version,
			description: "The session gateway for AI agents. Errors are {error: {code, message, hint?, field?}}.",
		},
	});
	return { fetch: async (request) => app.fetch(request), close: () => closing.abort() };
}

function routeOf(name: EndpointName, { method, path, about, status, params, query, body, answer }: Endpoint) {
	return createRoute({
		operationId: name,
		method,
		path,
		summary: about,
		request: {
			params,
			query,
			...(body && { body: { content: { "application/json": { schema: body } }, required: true } }),
		},
		responses: {
			[status]: { description: about, content: { "application/json": { schema: answer } } },
			default: { description: "what is wrong", content: { "application/json": { schema: error } } },
		},
	});
}

/** A body of another kind would be passed over in silence. */
async function requireJson(c: Context, next: () => Promise<void>): Promise<void> {
	const type = c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
	if (type !== "application/json")
		throw new KeryxError("http.not_json", "the body must be sent as application/json");
	await next();
}

function invalid({ issues }: z.core.$ZodError): KeryxError {
	const [issue] = issues;
	const field = issue?.path.join(".") ?? "";
	const unknown = issue?.code === "unrecognized_keys" ? issue.keys[0] : undefined;
	return new KeryxError("argument.invalid", field ? `${field}: ${issue?.message}` : `${issue?.message}`, {
		field: field || unknown || "body",
	});
}

function colonPath(path: string): string {
	return path.replace(/\{(\w+)\}/g, ":$1");
}

function addEvents(app: OpenAPIHono, feed: Feed, closing: AbortSignal): void {
	const query = z.object({
		after: z.string().max(32).optional().openapi({
			description:
				"the id of the last event seen; empty: the oldest kept; left out: only what comes. Last-Event-ID wins",
		}),
		conversation: z.string().max(64).optional(),
		types: z.string().max(1000).optional().openapi({ description: "types of events, with commas between" }),
	});
	const route = createRoute({
		operationId: "events",
		method: "get",
		path: "/events",
		summary: "every event, live: its id is the cursor to go on from; deltas and heartbeats have none",
		request: { query },
		responses: {
			200: {
				description: "frames named by the event's type, or hello, delta, resync, error",
				content: { "text/event-stream": { schema: z.union([event, delta]) } },
			},
		},
	});
	app.openapi(route, async (c) => {
		const { after, conversation, types } = c.req.valid("query");
		const cursor = c.req.header("last-event-id") || (after ?? "now");
		return streamSSE(c, async (stream) => {
			const left = new AbortController();
			stream.onAbort(() => left.abort());
			const signal = AbortSignal.any([left.signal, closing]);
			const beat = setInterval(() => void stream.write(": beat\n\n"), HEARTBEAT_MS);
			try {
				await stream.write(": following\n\n");
				const frames = feed.follow({
					scope: OPERATOR,
					after: cursor,
					signal,
					...(conversation !== undefined && { conversation: conversation as ConversationId }),
					...(types !== undefined && { types: new Set(types.split(",").map((type) => type.trim())) }),
				});
				for await (const frame of frames) {
					if (frame.kind === "delta")
						await stream.writeSSE({ event: "delta", data: JSON.stringify(frame.delta) });
					else if (frame.kind !== "event")
						await stream.writeSSE({ event: frame.kind, id: frame.cursor, data: JSON.stringify(frame) });
					else
						await stream.writeSSE({
							event: frame.event.type,
							id: frame.event.cursor,
							data: JSON.stringify(frame.event),
						});
				}
			} catch (cause) {
				const known = toKeryxError(cause);
				await stream.writeSSE({ event: "error", data: JSON.stringify({ error: known.toJSON() }) });
			} finally {
				clearInterval(beat);
			}
		}) as never;
	});
}

/** Exports and imports are streams of any length. */
function addTransfer(app: OpenAPIHono, host: ApiHost): void {
	const exportRoute = createRoute({
		operationId: "export",
		method: "get",
		path: "/api/export",
		summary: "one session, one conversation or everything, as JSONL that can be imported or as Markdown",
		request: {
			query: z.object({
				session: z.string().max(64).optional(),
				conversation: z.string().max(64).optional(),
				format: z.enum(["jsonl", "markdown"]).default("jsonl"),
			}),
		},
		responses: { 200: { description: "the lines", content: { "text/plain": { schema: z.string() } } } },
	});
	app.openapi(exportRoute, async (c) => {
		const { session, conversation, format } = c.req.valid("query");
		if (session !== undefined && conversation !== undefined)
			throw new KeryxError("argument.invalid", "give session or conversation, not both", {
				field: "session",
			});
		const what =
			session !== undefined
				? ({ kind: "session", id: session as SessionId } as const)
				: conversation !== undefined
					? ({ kind: "conversation", id: conversation as ConversationId } as const)
					: ({ kind: "everything" } as const);
		const write = format === "jsonl" ? exportJsonl : exportMarkdown;
		const chunks = write(host.store, { scope: OPERATOR, what });
		// The first is made before the answer begins, so that what cannot be exported is an error and not a short file.
		const first = await chunks.next();
		const end = format === "jsonl" ? "\n" : "";
		const body = ReadableStream.from(
			(async function* () {
				const encoder = new TextEncoder();
				if (!first.done) yield encoder.encode(first.value + end);
				for await (const chunk of chunks) yield encoder.encode(chunk + end);
			})(),
		);
		return c.body(body as ReadableStream, 200, {
			"content-type":
				format === "jsonl" ? "application/jsonl; charset=utf-8" : "text/markdown; charset=utf-8",
		}) as never;
	});
	const importRoute = createRoute({
		operationId: "import",
		method: "post",
		path: "/api/import",
		summary: "an export as the body, of any length; what is there already is passed over",
		request: { query: z.object({ origin: z.string().max(100).default("export") }) },
		responses: {
			200: {
				description: "what was added",
				content: { "application/json": { schema: z.record(z.string(), z.number()) } },
			},
		},
	});
	app.openapi(importRoute, async (c) => {
		if (!host.gateway) throw new KeryxError("gateway.stopped", "no gateway runs, so nothing can be imported");
		const body: AsyncIterable<Uint8Array> = c.req.raw.body ?? emptyBody();
		const { origin } = c.req.valid("query");
		const { leftOut: left_out, ...counts } = await importJsonl(host.store, linesOf(body), { origin });
		return c.json({ ...counts, left_out }, 200);
	});
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {}
