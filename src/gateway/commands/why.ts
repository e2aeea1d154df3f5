// The story of one message in sentences with times, also when nothing came of it. Read back from the events, never guessed.
import type { Disposition, InboxItem, StoreEvent } from "../../store/index.ts";

export function tellStory({
	item,
	events,
}: {
	readonly item: InboxItem;
	readonly events: readonly StoreEvent[];
}): string {
	const lines = events
		.map((event) => `${time(event.at)} ${sentence(event)}`)
		.filter((line) => !line.endsWith(" "));
	const first = lines.length === 0 ? [`${time(item.acceptedAt)} It arrived.`] : [];
	return [`Message ${item.id}:`, ...first, ...lines, ending(item)].join("\n");
}

function sentence({ type, facts, subject, session }: StoreEvent): string {
	// A delivery's id ends in the number of its part.
	const part = `Part ${subject?.split(":").at(-1) ?? "?"}`;
	switch (type) {
		case "inbound.accepted":
			return facts.kind === undefined
				? "It was accepted and stored."
				: `It was accepted and stored (${String(facts.kind)}).`;
		case "inbound.observed":
			return "It was seen, not addressed to the agent; it is shown to it with the next message.";
		case "inbound.command":
			return `It was carried out as the command /${String(facts.command)}.`;
		case "inbound.expired":
			return `It was given up: ${String(facts.reason)}.`;
		case "inbound.dropped_by_user":
			return "It was dropped from the queue by the user.";
		case "inbound.edited":
			return facts.waited
				? "Its sender changed it while it waited; the changed text counts."
				: `Its sender changed it afterwards${told(facts)}.`;
		case "inbound.deleted":
			return facts.waited
				? "Its sender deleted it while it waited."
				: `Its sender deleted it afterwards${told(facts)}.`;
		case "inbound.reacted":
			return `Somebody reacted to it with ${String(facts.emoji)}.`;
		case "turn.begun":
			return `Work on it began in session ${session ?? "?"}.`;
		case "turn.resumed":
			return `Work on it went on after an interruption (${String(facts.reason)}).`;
		case "turn.interrupted":
			return `Work on it was interrupted (${String(facts.reason)}).`;
		case "turn.ended":
			return facts.reason === undefined
				? `Work on it ended: ${String(facts.outcome)}.`
				: `Work on it ended: ${String(facts.outcome)} (${String(facts.reason)}).`;
		case "message.appended":
			return `A row was written: ${String(facts.role)}, seq ${String(facts.seq)}.`;
		case "call.started":
			return `A call of ${String(facts.tool)} began.`;
		case "checkpoint.taken":
			return `A checkpoint of the files was taken ${when(facts)}: ${subject ?? "?"}.`;
		case "checkpoint.unchanged":
			return `No file had changed since checkpoint ${subject ?? "?"}, which stands for the one ${when(facts)}.`;
		case "checkpoint.failed":
			return `No checkpoint of the files was taken ${when(facts)} (${String(facts.code)}).`;
		case "model.called":
			return `The model was asked (${String(facts.status)}).`;
		case "delivery.opened":
			return "A preview of the answer was opened.";
		case "delivery.pending":
			return `${part} of the answer was put into the outbox.`;
		case "delivery.sent":
			return `${part} was delivered.`;
		case "delivery.retry":
			return `${part} will be tried again: ${String(facts.reason)}.`;
		case "delivery.unknown":
			return `It is not known whether ${part.toLowerCase()} arrived: ${String(facts.reason)}. \`keryx outbox retry\` sends it again.`;
		case "delivery.dead":
			return `${part} was given up: ${String(facts.reason ?? "")}.`;
		case "session.suspended":
			return "The session was suspended.";
		default:
			return type.replace(".", " ");
	}
}

function told(facts: StoreEvent["facts"]): string {
	return facts.told ? "; the agent's next turn is told" : "";
}

function when({ kind }: StoreEvent["facts"]): string {
	return kind === "before" || kind === "after" ? `${kind} its changes` : "at the end of the session";
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
