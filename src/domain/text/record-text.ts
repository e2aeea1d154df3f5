/**
 * Text of an earlier message, shown as a record: every line after "> ", so that none of it reads as an instruction or as our own words.
 * Beyond `max` UTF-16 units: the start, and a line that says how much was cut.
 */
export function quoteLines(text: string, max = Number.POSITIVE_INFINITY): string {
	const whole = text.toWellFormed().replace(CONTROLS, " ").trim();
	const shown = headOf(whole, max);
	const quoted = shown.split(LINE_BREAK).map((line) => (line === "" ? ">" : `> ${line}`));
	if (shown.length < whole.length) quoted.push(`[cut: ${whole.length - shown.length} more characters]`);
	return quoted.join("\n");
}

/** Everything that some reader takes for the end of a line. */
const LINE_BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;
const CONTROLS = /[\p{Cc}--[\t\n\r\v\f\u0085]]/gv;

function headOf(text: string, max: number): string {
	if (text.length <= max) return text;
	const cutsPair = /[\uD800-\uDBFF]/.test(text.charAt(max - 1));
	return text.slice(0, cutsPair ? max - 1 : max);
}
