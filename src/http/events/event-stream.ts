// Server-sent events on their way out. What there is to say to a follower goes out as one piece, and an event is put into words once,
// however many follow it.

import { toKeryxError } from "../errors.ts";
import type { WireEvent } from "../schemas.ts";
import type { Frame } from "./feed.ts";

const HEARTBEAT_MS = 15_000;

/** Reads on as fast as its reader does: one that is slow lags. Ends with the batches, or when its reader leaves, which calls `left`. */
export function eventStream(
	batches: AsyncGenerator<readonly Frame[]>,
	left: () => void,
): ReadableStream<Uint8Array> {
	const encoder = new TextEncoder();
	let beat: NodeJS.Timeout | undefined;
	let isOver = false;
	const end = (): void => {
		isOver = true;
		clearInterval(beat);
	};
	return new ReadableStream<Uint8Array>({
		start: (controller) => {
			controller.enqueue(encoder.encode(": following\n\n"));
			beat = setInterval(() => {
				if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(": beat\n\n"));
			}, HEARTBEAT_MS);
		},
		pull: async (controller) => {
			const { text, done } = await next(batches);
			// Its reader has left meanwhile.
			if (isOver) return;
			if (text !== "") controller.enqueue(encoder.encode(text));
			if (!done) return;
			end();
			controller.close();
		},
		cancel: async () => {
			end();
			left();
			// Where nothing was being read, nobody else would end it.
			await batches.return(undefined);
		},
	});
}

/** A failure is told as the last frame. */
async function next(
	batches: AsyncGenerator<readonly Frame[]>,
): Promise<{ readonly text: string; readonly done: boolean }> {
	try {
		const { value, done = false } = await batches.next();
		return { text: done ? "" : (value as readonly Frame[]).map(textOf).join(""), done };
	} catch (cause) {
		const data = JSON.stringify({ error: toKeryxError(cause).toJSON() });
		return { text: sse({ event: "error", data }), done: true };
	}
}

function textOf(frame: Frame): string {
	if (frame.kind === "event") return textOfEvent(frame.event);
	if (frame.kind === "delta") return sse({ event: "delta", data: JSON.stringify(frame.delta) });
	return sse({ event: frame.kind, id: frame.cursor, data: JSON.stringify(frame) });
}

const words = new WeakMap<WireEvent, string>();

function textOfEvent(event: WireEvent): string {
	const known = words.get(event);
	if (known !== undefined) return known;
	const text = sse({ event: event.type, id: event.cursor, data: JSON.stringify(event) });
	words.set(event, text);
	return text;
}

/** JSON has no line breaks in it, and types and cursors are words of ours. */
function sse({
	event,
	id,
	data,
}: {
	readonly event: string;
	readonly id?: string;
	readonly data: string;
}): string {
	return `event: ${event}\n${id === undefined ? "" : `id: ${id}\n`}data: ${data}\n\n`;
}
