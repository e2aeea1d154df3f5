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

/** A frame and its text, for all who get it. */
export interface Shown {
	readonly kind: Frame["kind"];
	/** Null if it belongs to none. */
	readonly conversation: string | null;
	readonly text: string;
	readonly frame: Frame;
}

export function shown(frame: Frame): Shown {
	if (frame.kind === "event") return new ShownEvent(frame.event);
	const conversation = frame.kind === "delta" ? frame.delta.conversation : null;
	const text =
		frame.kind === "delta"
			? sse({ event: "delta", data: JSON.stringify(frame.delta) })
			: sse({ event: frame.kind, id: frame.cursor, data: JSON.stringify(frame) });
	return { kind: frame.kind, conversation, text, frame };
}

/** Serialised once, and kept as that alone: its bodies as objects would take three times the memory. */
export class ShownEvent implements Shown {
	readonly kind = "event";
	readonly conversation: string | null;
	readonly cursor: string;
	readonly type: string;
	readonly #data: string;

	constructor(event: WireEvent) {
		this.conversation = event.conversation;
		this.cursor = event.cursor;
		this.type = event.type;
		this.#data = JSON.stringify(event);
	}

	get text(): string {
		return sse({ event: this.type, id: this.cursor, data: this.#data });
	}

	get frame(): Extract<Frame, { readonly kind: "event" }> {
		return { kind: "event", event: JSON.parse(this.#data) as WireEvent };
	}

	/** In characters, about. */
	get size(): number {
		return this.#data.length;
	}
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
