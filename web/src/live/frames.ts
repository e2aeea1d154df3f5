// Parses server-sent events from a body that may be split anywhere.
import { createParser } from "eventsource-parser";

export interface SseFrame {
	readonly event: string;
	readonly data: string;
	readonly id: string | undefined;
}

/** Yields frames as they arrive. `onBytes` is called for all input, including heartbeats. */
export async function* framesOf(
	body: ReadableStream<Uint8Array>,
	onBytes: () => void,
): AsyncGenerator<SseFrame> {
	const reader = body.getReader();
	const decoder = new TextDecoder();
	let frames: SseFrame[] = [];
	const parser = createParser({
		onEvent: ({ event = "message", data, id }) => frames.push({ event, data, id }),
	});
	try {
		for (;;) {
			const { done, value } = await reader.read();
			if (done) return;
			onBytes();
			parser.feed(decoder.decode(value, { stream: true }));
			yield* frames;
			frames = [];
		}
	} finally {
		await reader.cancel().catch(() => undefined);
	}
}
