// Parses a program's output into messages: one JSON object per line. Other output is dropped without an answer: programs print other
// things too, and two that answer each other's complaints never end. Updates are passed on in order, so that all are seen before the
// prompt's answer.
import type { Readable, Writable } from "node:stream";
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";

/** A longer line ends the connection: it may be an answer, and its content is lost. */
const LONGEST_LINE = 32 * 1024 * 1024;

export interface MessageStreamOptions {
	readonly stdin: Writable;
	readonly stdout: Readable;
	readonly onUpdate: (params: unknown) => void;
	/** Resolves when there is room for more; until then the program is not read. */
	readonly room: () => Promise<void>;
	/** A line is longer than this many bytes; nothing more is read. */
	readonly onTooLong: (bytes: number) => void;
}

export function messageStream({ stdin, stdout, onUpdate, room, onTooLong }: MessageStreamOptions): Stream {
	/** Our unanswered requests. */
	const asked = new Set<unknown>();
	return {
		writable: new WritableStream<AnyMessage>({
			write: (message) => {
				if ("method" in message && "id" in message) asked.add(message.id);
				return written(stdin, `${JSON.stringify(message)}\n`);
			},
		}),
		readable: new ReadableStream<AnyMessage>({
			start: async (controller) => {
				try {
					for await (const line of linesOf(stdout)) {
						if (line === null) {
							onTooLong(LONGEST_LINE);
							throw new Error("a line is too long");
						}
						const message = parsed(line);
						if (!message) continue;
						if (message.method === "session/update" && !("id" in message)) {
							onUpdate(message.params);
							await room();
						} else if (typeof message.method === "string" || asked.delete(message.id))
							controller.enqueue(message as unknown as AnyMessage);
					}
					controller.close();
				} catch (error) {
					controller.error(error);
				}
			},
		}),
	};
}

function written(stdin: Writable, text: string): Promise<void> {
	return new Promise((resolve, reject) => {
		stdin.write(text, (error) => (error ? reject(error) : resolve()));
	});
}

function parsed(line: string): Record<string, unknown> | null {
	if (!line.startsWith("{")) return null;
	try {
		const message = JSON.parse(line) as Record<string, unknown>;
		return message.jsonrpc === "2.0" ? message : null;
	} catch {
		return null;
	}
}

/** Null if one is too long. */
async function* linesOf(stdout: Readable): AsyncGenerator<string | null> {
	let held: Buffer[] = [];
	let length = 0;
	for await (const chunk of stdout as AsyncIterable<Buffer>) {
		let from = 0;
		for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
			const line = Buffer.concat([...held, chunk.subarray(from, end)]);
			held = [];
			yield length + end - from <= LONGEST_LINE ? line.toString("utf8").trim() : null;
			length = 0;
			from = end + 1;
		}
		length += chunk.length - from;
		if (length > LONGEST_LINE) yield null;
		if (from < chunk.length) held.push(chunk.subarray(from));
	}
	if (held.length > 0) yield Buffer.concat(held).toString("utf8").trim();
}
