// Parses server-sent events from bytes, cut anywhere. A frame without data does not count.
import { createParser } from "eventsource-parser";

export interface SseFrame {
	readonly event: string;
	readonly data: string;
	readonly id?: string;
}

export async function* framesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<SseFrame> {
	const decoder = new TextDecoder();
	let frames: SseFrame[] = [];
	const parser = createParser({
		onEvent: ({ event = "message", data, id }) =>
			frames.push({ event, data, ...(id !== undefined && { id }) }),
	});
	for await (const chunk of chunks) {
		parser.feed(decoder.decode(chunk, { stream: true }));
		yield* frames;
		frames = [];
	}
}
