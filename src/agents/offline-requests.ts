// Requests to the offline agent: a few fixed forms, in any case, with or without punctuation.

export type Request =
	| { readonly kind: "greeting" | "help" | "other" }
	/** own: only what persons said. */
	| { readonly kind: "search"; readonly words: string; readonly own: boolean }
	/** key: words that will find it again. */
	| { readonly kind: "remember"; readonly key: string }
	| { readonly kind: "run"; readonly command: string }
	| { readonly kind: "incomplete"; readonly form: string };

const GREETING =
	/^(?:hi|hello|hey|hallo|good (?:morning|day|afternoon|evening))(?: (?:keryx|there|all|everybody))?$/i;
const HELP = /^(?:help|what can you do)$/i;
const SEARCH = /^(?:search|find)(?: for)?\s+(.+)$/is;
const SAID = /^what (?:did|have) i (?:say|said|tell you|told you|write|written) about\s+(.+)$/is;
const REMEMBER = /^remember(?: that)?:?\s+(.+)$/is;
const RUN = /^run\s+(.+)$/is;
const BARE = /^(search|find|remember|what did i say about)$/i;

export function readRequest(text: string): Request {
	// In a shared conversation a message starts with its author's name in square brackets.
	return known(text) ?? known(text.replace(/^\[[^\]\n]*\]\s/, "")) ?? { kind: "other" };
}

function known(text: string): Request | undefined {
	const said = text.trim();
	const plain = said.replace(/[\s.,!?]+$/, "");
	if (GREETING.test(plain)) return { kind: "greeting" };
	if (HELP.test(plain) || said === "?") return { kind: "help" };
	const own = SAID.exec(plain)?.[1];
	if (own !== undefined) return { kind: "search", words: own, own: true };
	const words = SEARCH.exec(said)?.[1];
	if (words !== undefined) return { kind: "search", words, own: false };
	const what = REMEMBER.exec(said)?.[1];
	if (what !== undefined) return { kind: "remember", key: keyOf(what) };
	const command = RUN.exec(said)?.[1];
	if (command !== undefined) return { kind: "run", command };
	if (/^run$/i.test(plain)) return { kind: "incomplete", form: "run <command>" };
	const form = BARE.exec(plain)?.[1]?.toLowerCase();
	return form === undefined ? undefined : { kind: "incomplete", form: `${form} <words>` };
}

/** The longest word, probably the most specific; the first of several. */
function keyOf(what: string): string {
	const words = what.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
	return words.reduce((best, word) => (word.length > best.length ? word : best), "") || "remember";
}
