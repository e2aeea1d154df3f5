// Names of secrets in answers: only the operator sees them. To others a name would confirm a guess (I12).
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { withoutNames, withoutNamesInJson } from "../../secrets/index.ts";
import type { ApiHost } from "../call.ts";
import type { AppEnvironment } from "../environment.ts";

export async function withoutSecretNames(
	c: Context<AppEnvironment>,
	next: () => Promise<void>,
): Promise<void> {
	await next();
	const visitor = c.get("visitor");
	if (!visitor || visitor.role === "operator" || c.get("isNameless") || !c.res.body) return;
	const { status, headers } = c.res;
	const type = headers.get("content-type") ?? "";
	if (/^application\/json\b/.test(type)) {
		const text = await c.res.text();
		c.res = new Response(withoutNamesInJson(text), { status, headers });
	} else if (/event-stream|jsonl/.test(type))
		c.res = new Response(c.res.body.pipeThrough(maskedLines(withoutNamesInJson)), { status, headers });
	else if (/markdown|text\/plain/.test(type))
		c.res = new Response(c.res.body.pipeThrough(maskedLines(withoutNames)), { status, headers });
}

/** An answer in JSON. Hiding names while it is made takes much less time than reading the finished answer again. */
export function namelessJson(
	c: Context<AppEnvironment>,
	value: object,
	status: ContentfulStatusCode,
	headers?: Readonly<Record<string, string>>,
): Response {
	const text = JSON.stringify(value);
	const visitor = c.get("visitor");
	c.set("isNameless", true);
	return c.body(!visitor || visitor.role === "operator" ? text : withoutNamesInJson(text), status, {
		"content-type": "application/json",
		...headers,
	});
}

/** Streams are sent in whole lines, so no name is cut in two. */
function maskedLines(masked: (lines: string) => string): TransformStream<Uint8Array, Uint8Array> {
	const decoder = new TextDecoder();
	const encoder = new TextEncoder();
	return new TransformStream({
		transform: (chunk, out) => out.enqueue(encoder.encode(masked(decoder.decode(chunk, { stream: true })))),
		flush: (out) => out.enqueue(encoder.encode(decoder.decode())),
	});
}

/** For texts about the configuration, such as why a channel is not connected: hides variables of secrets as this caller may see them. */
export function variablesFor(
	visitor: { readonly role: string } | null | undefined,
	{ config }: Pick<ApiHost, "config">,
): (text: string) => string {
	return visitor?.role === "operator" || !config ? (text) => text : (text) => config.hideNames(text);
}

/** A long message can be fetched like a file, and files are text or hold some. Read byte by byte, so that all others stay as they are. */
export function withoutNamesInBytes(bytes: Uint8Array): Uint8Array {
	const stored = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	if (!stored.includes("secret:")) return bytes;
	return Buffer.from(withoutNames(stored.toString("latin1")).replaceAll("•", BULLET), "latin1");
}
const BULLET = Buffer.from("•").toString("latin1");

export function withoutNamesIn<Value>(value: Value): Value {
	const text = JSON.stringify(value);
	return text.includes("secret:") ? (JSON.parse(withoutNamesInJson(text)) as Value) : value;
}
