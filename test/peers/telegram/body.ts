// What a request says: JSON, a form, or a form with files, in whose place stand their names.
import type { IncomingMessage } from "node:http";

export interface Upload {
	readonly name: string;
	readonly bytes: Buffer;
}

export interface Payload {
	readonly fields: Readonly<Record<string, unknown>>;
	/** By the name of their part, which `attach://<name>` refers to. */
	readonly files: ReadonlyMap<string, Upload>;
}

export async function readBody(request: IncomingMessage, query: URLSearchParams): Promise<Payload> {
	const chunks: Buffer[] = [];
	for await (const chunk of request) chunks.push(chunk as Buffer);
	const body = Buffer.concat(chunks);
	const type = request.headers["content-type"] ?? "";
	const asked = Object.fromEntries(query);
	const none = new Map<string, Upload>();
	if (body.length === 0) return { fields: parsed(asked), files: none };
	if (type.startsWith("application/json"))
		return { fields: { ...asked, ...(JSON.parse(body.toString()) as object) }, files: none };
	const boundary = /boundary=("?)([^";]+)\1/.exec(type)?.[2];
	if (boundary) return multipart(body, boundary, asked);
	const form = Object.fromEntries(new URLSearchParams(body.toString()));
	return { fields: parsed({ ...asked, ...form }), files: none };
}

function multipart(body: Buffer, boundary: string, asked: Record<string, string>): Payload {
	const fields: Record<string, string> = { ...asked };
	const files = new Map<string, Upload>();
	const mark = Buffer.from(`--${boundary}`);
	for (let from = body.indexOf(mark); from >= 0; ) {
		const next = body.indexOf(mark, from + mark.length);
		if (next < 0) break;
		const part = body.subarray(from + mark.length + 2, next - 2);
		from = next;
		const headEnd = part.indexOf("\r\n\r\n");
		const head = part.subarray(0, headEnd).toString();
		const bytes = part.subarray(headEnd + 4);
		const name = /\bname="([^"]*)"/.exec(head)?.[1] ?? "";
		const file = /\bfilename=(?:"([^"\r\n]*)"|([^\r\n;]*))/.exec(head);
		if (file) files.set(name, { name: file[1] ?? file[2] ?? "file", bytes: Buffer.from(bytes) });
		else fields[name] = bytes.toString();
	}
	return { fields: parsed(fields), files };
}

/** In a form, everything but text is JSON. */
function parsed(fields: Readonly<Record<string, string>>): Record<string, unknown> {
	return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, json(name, value)]));
}

const TEXTS: ReadonlySet<string> = new Set(["text", "caption", "chat_id", "file_id", "callback_query_id"]);

function json(name: string, value: string): unknown {
	if (TEXTS.has(name)) return value;
	try {
		return JSON.parse(value);
	} catch {
		return value;
	}
}
