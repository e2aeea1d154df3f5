// What happened to one message, in sentences with times. Read from the events, never guessed.

import { type Disposition, type InboxItem, type StoreEvent, tellEvent } from "../../store/index.ts";
import { texts } from "../texts.ts";

export function tellStory({
	item,
	events,
}: {
	readonly item: InboxItem;
	readonly events: readonly StoreEvent[];
}): string {
	const lines = events
		.map((event) => `${time(event.at)} ${tellEvent(event)}`)
		.filter((line) => !line.endsWith(" "));
	const first = lines.length === 0 ? [texts.why.arrived(time(item.acceptedAt))] : [];
	return [texts.why.message(item.id), ...first, ...lines, ending(item)].join("\n");
}

function ending(item: InboxItem): string {
	if (item.disposition === null) return item.turn === null ? texts.why.waiting : texts.why.working;
	return texts.why.result(inWords(item.disposition));
}

function inWords(disposition: Disposition): string {
	switch (disposition.kind) {
		case "answered":
			return texts.why.answered;
		case "merged":
			return texts.why.merged;
		case "command":
			return texts.why.command(disposition.name);
		case "observed":
			return texts.why.observed;
		case "refused":
			return texts.why.refused(disposition.reason);
		case "dropped_by_user":
			return texts.why.dropped;
		case "stopped":
			return texts.why.stopped;
		case "expired":
			return texts.why.expired(disposition.reason);
		case "failed":
			return texts.why.failed(disposition.reason);
	}
}

function time(at: number): string {
	return new Date(at).toISOString().replace("T", " ").replace("Z", "");
}
