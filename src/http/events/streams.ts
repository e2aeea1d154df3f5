// The streaming calls: live events, exports and imports.
import { createRoute, z } from "@hono/zod-openapi";
import { bodyLimit } from "hono/body-limit";
import { conversationId, sessionId } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import { exportMarkdown, exportTexts, importJsonl, linesOf } from "../../store/index.ts";
import type { ApiHost } from "../call.ts";
import type { Visitor } from "../entry/auth.ts";
import { tooLarge } from "../entry/guards.ts";
import { scopeOf } from "../entry/scope.ts";
import type { App } from "../environment.ts";
import { delta, event } from "../schemas.ts";
import { eventStream } from "./event-stream.ts";
import type { Feed } from "./feed.ts";

/** In characters: an export's piece size. */
const GATHERED = 64 * 1024;

export function addEvents(app: App, feed: Feed, closing: AbortSignal): void {
	const query = z.object({
		after: z.string().max(32).optional().openapi({
			description:
				"the id of the last event seen; empty: the oldest stored; left out: only new ones. Last-Event-ID wins",
		}),
		conversation: z.string().max(64).optional(),
		types: z.string().max(1000).optional().openapi({ description: "types of events, separated by commas" }),
	});
	const route = createRoute({
		operationId: "events",
		method: "get",
		path: "/events",
		summary: "every event, live: its id is the cursor to continue from; deltas and heartbeats have none",
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
		const visitor = c.get("visitor") as Visitor;
		const left = new AbortController();
		const isNameless = visitor.role !== "operator";
		c.set("isNameless", isNameless);
		const pieces = feed.pieces({
			scope: scopeOf(visitor),
			after: cursor,
			nameless: isNameless,
			signal: AbortSignal.any([left.signal, closing, visitor.stay]),
			...(conversation !== undefined && { conversation: conversationId(conversation) }),
			...(types !== undefined && { types: new Set(types.split(",").map((type) => type.trim())) }),
		});
		return c.body(
			eventStream(pieces, { left: () => left.abort(), cutOff: () => c.env.outgoing?.destroy() }),
			200,
			// Chunked, so that a server sends the first piece at once.
			{
				"content-type": "text/event-stream",
				"transfer-encoding": "chunked",
				// A buffering proxy would hold events back.
				"x-accel-buffering": "no",
			},
		) as never;
	});
}

/** Exports and imports are streams of any length. */
export function addTransfer(app: App, host: ApiHost, limit: number): void {
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
			throw new KeryxError("argument.invalid", "use session or conversation, not both", {
				field: "session",
			});
		const what =
			session !== undefined
				? ({ kind: "session", id: sessionId(session) } as const)
				: conversation !== undefined
					? ({ kind: "conversation", id: conversationId(conversation) } as const)
					: ({ kind: "everything" } as const);
		const write = format === "jsonl" ? exportTexts : exportMarkdown;
		const visitor = c.get("visitor") as Visitor;
		const longTextInline = visitor.role !== "operator";
		const chunks = write(host.store, { scope: scopeOf(visitor), what, longTextInline });
		// The first piece is made before the answer starts, so that a failed export is an error and not a short file.
		const first = await chunks.next();
		const body = ReadableStream.from(
			(async function* () {
				const encoder = new TextEncoder();
				// Each ends its own lines. Many small ones are sent as one.
				let waiting = first.done ? "" : first.value;
				for await (const chunk of chunks) {
					visitor.stay.throwIfAborted();
					waiting += chunk;
					if (waiting.length < GATHERED) continue;
					yield encoder.encode(waiting);
					waiting = "";
				}
				yield encoder.encode(waiting);
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
		summary: "an export as the body, of any length; what is already there is skipped",
		request: { query: z.object({ origin: z.string().max(100).default("export") }) },
		responses: {
			200: {
				description: "what was added",
				content: { "application/json": { schema: z.record(z.string(), z.number()) } },
			},
		},
	});
	// Over a port the usual size limit applies.
	const limited = bodyLimit({
		maxSize: limit,
		onError: () => {
			throw tooLarge(limit);
		},
	});
	app.post(importRoute.path, (c, next) => (c.env.entrance.kind === "socket" ? next() : limited(c, next)));
	app.openapi(importRoute, async (c) => {
		if (!host.gateway)
			throw new KeryxError("gateway.stopped", "Keryx is not running, so nothing can be imported");
		const body: AsyncIterable<Uint8Array> = c.req.raw.body ?? emptyBody();
		const { origin } = c.req.valid("query");
		const { leftOut: left_out, ...counts } = await importJsonl(host.store, linesOf(body), { origin });
		return c.json({ ...counts, left_out }, 200);
	});
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {}
