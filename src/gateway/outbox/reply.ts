// Turns texts into deliveries for their destination. The only place that creates notices, so that none is sent without a class.
import { renderParts } from "../../render/index.ts";
import type { Destination, NewDelivery } from "../../store/index.ts";
import type { NoticeClass } from "../channel.ts";
import type { Outlet } from "./outlet.ts";

export type Posting = {
	readonly id: string;
	readonly destination: Destination;
	/** The number of its first part: 1, unless others with the same id come before. */
	readonly firstPart?: number;
} & ({ readonly kind: "reply" | "command" } | { readonly kind: "notice"; readonly class: NoticeClass });

/**
 * Each part is one delivery, with an id derived from its context and number, so that a repeated write is the same row. None if the chat
 * does not get notices of that class.
 */
export function toDeliveries(text: string, posting: Posting, outlet: Outlet): NewDelivery[] {
	const { id, kind, destination, firstPart = 1 } = posting;
	if (posting.kind === "notice" && !outlet.takes(destination, posting.class)) return [];
	const { markup, messageLimit } = outlet.platforms.traits(destination.platform);
	return renderParts(text, { markup, limit: messageLimit }).map((body, index) => ({
		id: `${id}:${index + firstPart}`,
		kind,
		destination,
		body,
	}));
}
