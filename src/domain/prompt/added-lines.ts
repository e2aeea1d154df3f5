// What the agent is told besides a person's own words: the message they replied to, and messages edited after it had seen them. Their
// text is someone's, so it is a quoted string on one line (I11), and never an instruction.
import type { Quote } from "../message.ts";
import { inlineUntrusted, quoteUntrusted } from "../text/untrusted.ts";

/** Code points. The agent's own words are in its history already. */
const OWN_WORDS = 240;
const OTHERS_WORDS = 4000;
const EARLIER_WORDS = 80;

export function quoteLine({ text, author, own }: Quote): string {
	if (own) return `[in reply to your message ${quoteUntrusted(text, OWN_WORDS)}]`;
	return `[in reply to ${nameOf(author)}, who wrote ${quoteUntrusted(text, OTHERS_WORDS)}]`;
}

/** A message that its sender changed or deleted after a turn had taken it. */
export interface Amendment {
	readonly author?: string;
	readonly before: string;
	/** Null: it was deleted. */
	readonly text: string | null;
}

export function amendmentLine({ author, before, text }: Amendment): string {
	const message = `the message ${quoteUntrusted(before, EARLIER_WORDS)}`;
	if (text === null) return `[${nameOf(author)} deleted ${message}]`;
	return `[${nameOf(author)} changed ${message} to ${quoteUntrusted(text, OTHERS_WORDS)}]`;
}

function nameOf(author = ""): string {
	return inlineUntrusted(author) || "someone";
}
