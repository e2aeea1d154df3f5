// Files of bridge programs, which are not JSON: incoming before their message, outgoing while their work is open.
import { Readable } from "node:stream";
import { createRoute, z } from "@hono/zod-openapi";
import { KeryxError } from "../../errors.ts";
import type { ApiHost } from "../call.ts";
import type { App } from "../environment.ts";
import { error } from "../schemas.ts";
import { uploadName } from "../uploads.ts";
import { bridgeOf, name, ownerOf, PATH } from "./bridges.ts";

export function addBridgeFiles(app: App, host: ApiHost): void {
	const binary = { "application/octet-stream": { schema: z.string().openapi({ format: "binary" }) } };
	const wrong = { description: "what is wrong", content: { "application/json": { schema: error } } };
	const putRoute = createRoute({
		operationId: "bridgePutFile",
		method: "post",
		path: `${PATH}/files`,
		summary: "a file for a message that names it; refused over http.attachment_limit_mb",
		request: {
			params: z.object({ name }),
			query: z.object({ name: z.string().min(1).max(255).default("file") }),
			body: { content: binary, description: "the bytes; content-type says what they are" },
		},
		responses: {
			200: {
				description: "what to name in the message",
				content: { "application/json": { schema: z.object({ id: z.string() }) } },
			},
			default: wrong,
		},
	});
	app.openapi(putRoute, async (c) => {
		const body: ReadableStream<Uint8Array> =
			c.req.raw.body ?? new ReadableStream({ start: (stream) => stream.close() });
		const { name: bridge } = c.req.valid("param");
		const file = await bridgeOf(host, bridge).putFile(body.values({ preventCancel: true }), {
			name: c.req.valid("query").name,
			mediaType:
				c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "application/octet-stream",
		});
		return c.json({ id: uploadName(host.operatorSecret, ownerOf(bridge), file) }, 200);
	});
	const getRoute = createRoute({
		operationId: "bridgeFile",
		method: "get",
		path: `${PATH}/files/{work}/{n}`,
		summary: "the bytes of a file of open work",
		request: { params: z.object({ name, work: z.string().max(64), n: z.coerce.number().int().min(0) }) },
		responses: { 200: { description: "the bytes", content: binary }, default: wrong },
	});
	app.openapi(getRoute, async (c) => {
		const { name, work, n } = c.req.valid("param");
		const bytes = bridgeOf(host, name).openFile(work, n);
		if (!bytes) throw new KeryxError("store.not_found", `no file ${n} of open work ${work}`);
		return c.body(Readable.toWeb(Readable.from(bytes)) as ReadableStream<Uint8Array>, 200, {
			"content-type": "application/octet-stream",
			"content-disposition": "attachment",
		}) as never;
	});
}
