// Parses a server's output into messages: one JSON object per line. Other output is dropped. A too long answer is never held in memory;
// its request fails with that reason, and the connection stays.
import type { Readable } from "node:stream";
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { bytesInWords } from "../../domain/index.ts";

/** The size of one message, in bytes. A file of three quarters of it fits, as base64. */
export const LONGEST_MESSAGE = 8 * 1024 * 1024;
/** Enough of a message's start and end to find its id. */
const EDGE = 256;
const NEWLINE = 10;

export type Line =
	| { readonly kind: "message"; readonly message: JSONRPCMessage }
	/** Not a valid message. */
	| { readonly kind: "other" }
	/** `id`: of its request; null if unknown. */
	| { readonly kind: "too_long"; readonly id: number | null };

export type SizedLine = Line & { readonly bytes: number };

export async function* messagesIn(stdout: Readable): AsyncGenerator<SizedLine> {
	let held: Buffer[] = [];
	let length = 0;
	let tail = Buffer.alloc(0);
	for await (const chunk of stdout as AsyncIterable<Buffer>) {
		let from = 0;
		while (from < chunk.length) {
			const end = chunk.indexOf(NEWLINE, from);
			const piece = chunk.subarray(from, end < 0 ? chunk.length : end);
			length += piece.length;
			if (length <= LONGEST_MESSAGE) held.push(piece);
			else {
				// Only the edges of a too long one are kept.
				const all = Buffer.concat([...held, tail, piece.subarray(-EDGE)]);
				held = [Buffer.from(all.subarray(0, EDGE))];
				tail = Buffer.from(all.subarray(EDGE).subarray(-EDGE));
			}
			if (end < 0) break;
			yield { ...lineOf(held, length, tail), bytes: length };
			[held, length, tail] = [[], 0, Buffer.alloc(0)];
			from = end + 1;
		}
	}
}

function lineOf(held: readonly Buffer[], length: number, tail: Buffer): Line {
	if (length > LONGEST_MESSAGE)
		return {
			kind: "too_long",
			id: answeredId(Buffer.concat(held).toString("latin1"), tail.toString("latin1")),
		};
	const message = parsed(Buffer.concat(held).toString("utf8").trim());
	return message ? { kind: "message", message } : { kind: "other" };
}

function parsed(line: string): JSONRPCMessage | null {
	if (!line.startsWith("{")) return null;
	try {
		const message = JSON.parse(line) as { jsonrpc?: unknown };
		return message.jsonrpc === "2.0" ? (message as JSONRPCMessage) : null;
	} catch {
		return null;
	}
}

/** Programs write the id first or last. A server that lies here only fails its own answer. */
export function answeredId(head: string, tail: string): number | null {
	const first = /^\s*\{(?:"jsonrpc":"2\.0",)?"id":(\d{1,15}),/.exec(head)?.[1];
	const last = /,"id":(\d{1,15})(?:,"jsonrpc":"2\.0")?\}\s*$/.exec(tail)?.[1];
	const found = first ?? last;
	return found === undefined ? null : Number(found);
}

export function tooLong(id: number | string): JSONRPCMessage {
	const message = `the answer is longer than ${bytesInWords(LONGEST_MESSAGE)}, so it was not read`;
	return { jsonrpc: "2.0", id, error: { code: -32000, message } };
}
