// The story of one message in sentences with times, also when nothing came of it. Read back from the events, never guessed.
import { type Disposition, type InboxItem, type StoreEvent, tellEvent } from "../../store/index.ts";

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
	const first = lines.length === 0 ? [`${time(item.acceptedAt)} It arrived.`] : [];
	return [`Message ${item.id}:`, ...first, ...lines, ending(item)].join("\n");
}

function ending(item: InboxItem): string {
	if (item.disposition === null)
		return item.turn === null ? "It waits for its turn." : "It is being worked on.";
	return `So: ${inWords(item.disposition)}.`;
}

function inWords(disposition: Disposition): string {
	switch (disposition.kind) {
		case "answered":
			return "it was answered";
		case "merged":
			return "it was answered together with others";
		case "command":
			return `it was the command /${disposition.name}`;
		case "observed":
			return "it was only observed";
		case "refused":
			return `it was refused: ${disposition.reason}`;
		case "dropped_by_user":
			return "the user dropped it";
		case "stopped":
			return "the user stopped the answer";
		case "expired":
			return `it got too old: ${disposition.reason}`;
		case "failed":
			return `it could not be answered: ${disposition.reason}`;
	}
}

function time(at: number): string {
	return new Date(at).toISOString().replace("T", " ").replace("Z", "");
}
