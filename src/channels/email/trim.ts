// A mail's new words, without its signature and without what it quotes of earlier mails. Words between quotes stay with them: there the
// quote is what they answer. Pure.

export interface Trimmed {
	readonly text: string;
	/** The quoted words, without their marks; empty if nothing was cut. */
	readonly quoted: string;
	/** Something was cut. */
	readonly isCut: boolean;
}

const SIGNATURE = /^--[ \u00a0]?$/;
const QUOTED = /^\s{0,2}>/;
/** `On Monday, Ada wrote:`, in any language: a line that ends with a colon, directly before a quote. */
const ATTRIBUTION = /:\s*$/;
const WROTE =
	/\b(?:wrote|schrieb|a écrit|escribió|escreveu|ha scritto|schreef|skrev|napisał\(?a?\)?|написал\(?а?\)?)\b/i;
/** Outlook writes a line, or nothing, and then the headers of the mail it quotes. */
const SEPARATOR =
	/^\s*(?:-{3,}\s*(?:original message|ursprüngliche nachricht|message d'origine|mensaje original)\s*-{3,}|_{10,})\s*$/i;
const HEADER = /^\s*\*?(?:from|von|de|da|van|från|od|от)\s*:\*?\s+\S/i;
const NEXT_HEADER =
	/^\s*\*?(?:sent|gesendet|envoyé|enviado|inviato|date|datum|data|to|an|à|para|subject|betreff|objet|asunto)\s*:\*?/i;
const INTRODUCES = /^\s*(?:on|am|le|el|em|il|op|den|w dniu)\b/i;
const FORWARDED = /^(?:\s*(?:fw|fwd|wg|tr|rv|i)\s*:)/i;

export function trim(whole: string, subject = ""): Trimmed {
	const lines = whole.replace(/\r\n?/g, "\n").split("\n");
	// In a forwarded mail, the quote is the message.
	if (FORWARDED.test(subject)) return uncut(lines);
	const { words, quote } = withoutQuote(withoutSignature(lines));
	const text = joined(words);
	// Only a quote: then the quote is the message.
	if (text === "") return uncut(lines);
	const isCut = text !== joined(lines);
	return { text, quoted: joined(quote.map((line) => line.replace(/^\s{0,2}(?:> ?)+/, ""))), isCut };
}

function uncut(lines: readonly string[]): Trimmed {
	return { text: joined(lines), quoted: "", isCut: false };
}

/** A signature ends at a quote: some write below, some above. */
function withoutSignature(lines: readonly string[]): readonly string[] {
	const from = lines.findIndex((line) => SIGNATURE.test(line));
	if (from < 0) return lines;
	const rest = lines
		.slice(from)
		.findIndex((line, at) => QUOTED.test(line) || startsHeaders(lines, from + at));
	return rest < 0 ? lines.slice(0, from) : [...lines.slice(0, from), ...lines.slice(from + rest)];
}

function withoutQuote(lines: readonly string[]): {
	readonly words: readonly string[];
	readonly quote: readonly string[];
} {
	const headers = lines.findIndex((_, at) => startsHeaders(lines, at));
	if (headers > 0) return { words: lines.slice(0, headers), quote: lines.slice(headers) };
	const blocks = quoteBlocks(lines);
	const [first] = blocks;
	// Several blocks with words between them: each is answered where it stands.
	if (blocks.length !== 1 || !first) return { words: lines, quote: [] };
	const [from, to] = first;
	const words = [...lines.slice(0, attribution(lines, from)), ...lines.slice(to)];
	return { words, quote: lines.slice(from, to) };
}

function startsHeaders(lines: readonly string[], at: number): boolean {
	const line = lines[at] ?? "";
	const follows = (from: number) =>
		HEADER.test(lines[from] ?? "") &&
		[1, 2, 3].filter((n) => NEXT_HEADER.test(lines[from + n] ?? "")).length >= 2;
	if (SEPARATOR.test(line)) return [1, 2].some((n) => HEADER.test(lines[at + n] ?? ""));
	return follows(at) && (lines[at - 1] ?? "").trim() === "";
}

/** Runs of quoted lines; empty lines within one belong to it. */
function quoteBlocks(lines: readonly string[]): (readonly [from: number, to: number])[] {
	const blocks: [number, number][] = [];
	for (const [at, line] of lines.entries()) {
		if (!QUOTED.test(line)) continue;
		const last = blocks.at(-1);
		if (last && joined(lines.slice(last[1], at)) === "") last[1] = at + 1;
		else blocks.push([at, at + 1]);
	}
	return blocks;
}

/** Where the line that introduces the quote begins; it may be broken into three. */
function attribution(lines: readonly string[], quote: number): number {
	let end = quote;
	while (end > 0 && (lines[end - 1] ?? "").trim() === "") end--;
	if (end === 0 || !ATTRIBUTION.test(lines[end - 1] ?? "")) return quote;
	// A long one is broken: it begins up to two lines above.
	const starts = [1, 2, 3].map((n) => end - n).filter((at) => at >= 0 && INTRODUCES.test(lines[at] ?? ""));
	const start = starts.find((at) => lines.slice(at, end).every((line) => line.trim() !== ""));
	return WROTE.test(lines[end - 1] ?? "") && start !== undefined ? start : end - 1;
}

/** Without the spaces after a line, and the empty lines around all of them. */
function joined(lines: readonly string[]): string {
	const shown = lines.map((line) => line.trimEnd());
	const from = shown.findIndex((line) => line !== "");
	return from < 0 ? "" : shown.slice(from, shown.findLastIndex((line) => line !== "") + 1).join("\n");
}
