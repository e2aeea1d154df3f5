// A follower's frames, as server-sent events.
import type { Delta } from "../../gateway/index.ts";
import type { WireEvent } from "../schemas.ts";

export type Frame =
	| { readonly kind: "event"; readonly event: WireEvent }
	| { readonly kind: "delta"; readonly delta: Delta }
	/** Where the log ended when following started: where to continue if nothing comes before a disconnect. */
	| { readonly kind: "hello"; readonly cursor: string }
	/** The cursor is too old: read the state again, and continue from this one. */
	| { readonly kind: "resync"; readonly cursor: string };

export function textOf(frame: Frame): string {
	if (frame.kind === "event") {
		const { event } = frame;
		return sse({ event: event.type, id: event.cursor, data: JSON.stringify(event) });
	}
	if (frame.kind === "delta") return sse({ event: "delta", data: JSON.stringify(frame.delta) });
	return sse({ event: frame.kind, id: frame.cursor, data: JSON.stringify(frame) });
}

/** JSON has no line breaks, and types and cursors are Keryx's own words. */
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
