// Files of a message: stored first, then named in the message, which moves them into its conversation. Unused ones are deleted within an
// hour. A browser never runs them or shows them as a page.
import { createRoute, z } from "@hono/zod-openapi";
import { conversationId, type Part } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import type { Store } from "../store/index.ts";
import { type ApiHost, running } from "./call.ts";
import type { Visitor } from "./entry/auth.ts";
import { tooLarge } from "./entry/guards.ts";
import { scopeOf } from "./entry/scope.ts";
import type { App } from "./environment.ts";
import { error } from "./schemas.ts";
import { uploadedBlob, uploaderOf, uploadName } from "./uploads.ts";

const PATH = "/api/attachments";
const MIB = 1024 * 1024;
const USUAL_BYTES = 25 * MIB;
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;
/** A browser may show these: they cannot contain scripts. */
const SHOWN = /^image\/(?:png|jpeg|gif|webp|avif)$/;

export const attachment = z
	.strictObject({
		id: z.string().min(1).max(64).openapi({ description: "as POST /api/attachments answered it" }),
		media_type: z.string().regex(MEDIA_TYPE),
		name: z.string().min(1).max(255).optional(),
	})
	.openapi("Attachment");

/** How large a body may be on this path. */
export function largestBody(path: string, usual: number, attachment = USUAL_BYTES): number {
	return path === PATH || /^\/api\/bridges\/[^/]+\/files$/.test(path) ? attachment : usual;
}

/** Converts a caller's attachments to message parts, and lists the blobs to adopt. Throws store.not_found for another's. */
export async function partsOf(
	host: Pick<ApiHost, "store" | "operatorSecret" | "pageSecret">,
	visitor: Pick<Visitor, "role" | "who">,
	attachments: readonly z.output<typeof attachment>[],
): Promise<{ readonly parts: readonly Part[]; readonly blobs: readonly string[] }> {
	const parts: Part[] = [];
	const blobs: string[] = [];
	for (const { id, media_type: mediaType, name } of attachments) {
		const blob = uploadedBlob(host, uploaderOf(visitor), id);
		blobs.push(blob);
		const digest = await digestOf(host.store, blob);
		const type = /^(image|audio)\//.exec(mediaType)?.[1] as "image" | "audio" | undefined;
		parts.push({ type: type ?? "file", blob: digest, mediaType, ...(name !== undefined && { name }) });
	}
	return { parts, blobs };
}

/** A repeated message's blob may be gone, replaced by the conversation's own: accepting it decides. */
async function digestOf(store: Store, id: string): Promise<string> {
	try {
		return (await store.finishBlob({ id })).digest;
	} catch (error) {
		if (error instanceof KeryxError && error.code === "store.not_found") return "";
		throw error;
	}
}

async function nameless(bytes: Uint8Array): Promise<Uint8Array> {
	const { withoutNamesInBytes } = await import("./entry/secret-names.ts");
	return withoutNamesInBytes(bytes);
}

export function addAttachments(app: App, host: ApiHost): void {
	const putRoute = createRoute({
		operationId: "putAttachment",
		method: "post",
		path: PATH,
		summary:
			"a file of up to http.attachment_limit_mb as the body, for a message that names it within an hour",
		request: {
			body: {
				content: { "application/octet-stream": { schema: z.string().openapi({ format: "binary" }) } },
				description: "the bytes; content-type says what they are",
			},
		},
		responses: {
			200: {
				description: "what to name in POST /api/inbound",
				content: {
					"application/json": {
						schema: z.object({ id: z.string(), digest: z.string(), size: z.int(), media_type: z.string() }),
					},
				},
			},
			default: { description: "what is wrong", content: { "application/json": { schema: error } } },
		},
	});
	app.openapi(putRoute, async (c) => {
		running(host);
		const given = c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
		const mediaType = MEDIA_TYPE.test(given) ? given : "application/octet-stream";
		const bytes = host.attachmentLimit ?? USUAL_BYTES;
		const body: ReadableStream<Uint8Array> =
			c.req.raw.body ?? new ReadableStream({ start: (stream) => stream.close() });
		// Here, because clients also load this file, for its schema.
		const { putBlobStream } = await import("../gateway/index.ts");
		// Left unread, not cancelled: the connection must stay open for the answer.
		const { id, digest, size } = await putBlobStream(host.store, body.values({ preventCancel: true }), {
			mediaType,
			limit: { bytes, error: () => tooLarge(bytes) },
		});
		const name = uploadName(host, uploaderOf(c.get("visitor") as Visitor), id);
		return c.json({ id: name, digest, size, media_type: mediaType }, 200);
	});
	const getRoute = createRoute({
		operationId: "attachment",
		method: "get",
		path: "/api/conversations/{conversation}/attachments/{digest}",
		summary: "the bytes of an attachment, by the digest that its message names",
		request: {
			params: z.object({
				conversation: z.string().min(1).max(64),
				digest: z.string().regex(/^[0-9a-f]{64}$/),
			}),
			query: z.object({
				media_type: z.string().regex(MEDIA_TYPE).optional().openapi({
					description: "as its message says; images are shown by a browser then, everything else is saved",
				}),
			}),
		},
		responses: {
			200: {
				description: "the bytes",
				content: { "application/octet-stream": { schema: z.string().openapi({ format: "binary" }) } },
			},
			default: { description: "what is wrong", content: { "application/json": { schema: error } } },
		},
	});
	app.openapi(getRoute, async (c) => {
		const { conversation, digest } = c.req.valid("param");
		const { media_type: asked = "" } = c.req.valid("query");
		const visitor = c.get("visitor") as Visitor;
		const stored = await host.store.blob({
			scope: scopeOf(visitor),
			conversation: conversationId(conversation),
			digest,
		});
		const bytes = visitor.role === "operator" ? stored : await nameless(stored);
		const isShown = SHOWN.test(asked);
		return c.body(bytes as Uint8Array<ArrayBuffer>, 200, {
			"content-type": isShown ? asked : "application/octet-stream",
			"content-disposition": isShown ? "inline" : "attachment",
			"cross-origin-resource-policy": "same-origin",
		}) as never;
	});
}
