// Turning texts into deliveries for where they go.
import { platformTraits } from "../../domain/index.ts";
import { renderParts } from "../../render/index.ts";
import type { Destination, NewDelivery } from "../../store/index.ts";

/** Each part is one delivery, with an id derived from what it belongs to and its number, so that a repeated write is the same row. */
export function toDeliveries(
	text: string,
	{
		id,
		kind,
		destination,
	}: { readonly id: string; readonly kind: NewDelivery["kind"]; readonly destination: Destination },
): NewDelivery[] {
	const { markup, messageLimit } = platformTraits(destination.platform);
	return renderParts(text, { markup, limit: messageLimit }).map((body, index) => ({
		id: `${id}:${index + 1}`,
		kind,
		destination,
		body,
	}));
}
