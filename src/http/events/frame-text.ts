// A frame in the words of server-sent events.
import type { Frame } from "./feed.ts";

export function textOf(frame: Frame): string {
	if (frame.kind === "event") {
		const { event } = frame;
		return sse({ event: event.type, id: event.cursor, data: JSON.stringify(event) });
	}
	if (frame.kind === "delta") return sse({ event: "delta", data: JSON.stringify(frame.delta) });
	return sse({ event: frame.kind, id: frame.cursor, data: JSON.stringify(frame) });
}

/** JSON has no line breaks in it, and types and cursors are words of ours. */
export function sse({
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
