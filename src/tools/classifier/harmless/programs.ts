// Programs in the words of sed and awk that only print.
import { isKnown, mayBeOption } from "../field.ts";
import type { Field } from "../types.ts";

const ADDRESS = String.raw`(\d+|\$|/(?:[^/\\\n]|\\[^\n])*/I?)`;
const SED_LINE = new RegExp(
	String.raw`^\s*(${ADDRESS}(,\s*[+~]?${ADDRESS})?)?\s*!?\s*([pdqQ=nNPDgGhHxlz]\s*\d*|[sy]/(?:[^/\\\n]|\\[^\n])*/(?:[^/\\\n]|\\[^\n])*/[gpiIm0-9]*|[sy]\|(?:[^|\\\n]|\\[^\n])*\|(?:[^|\\\n]|\\[^\n])*\|[gpiIm0-9]*|[sy]#(?:[^#\\\n]|\\[^\n])*#(?:[^#\\\n]|\\[^\n])*#[gpiIm0-9]*)\s*$`,
);
const LONGEST = 500;

/** Without -i, -f, and the commands that write, read or run. */
export function sedReads(args: readonly Field[]): boolean {
	const scripts: string[] = [];
	let expects = false;
	for (const arg of args) {
		if (expects) {
			scripts.push(arg.text);
			expects = false;
		} else if (/^(-[nErsuz]*e|--expression)$/.test(arg.text)) expects = true;
		else if (/^--expression=/.test(arg.text)) scripts.push(arg.text.slice("--expression=".length));
		else if (
			/^-[nErsuz]+$|^--(quiet|silent|regexp-extended|separate|posix|debug|sandbox|null-data)$/.test(arg.text)
		)
			continue;
		else if (/^-./.test(arg.text) || mayBeOption(arg)) return false;
		else if (scripts.length === 0) scripts.push(arg.text);
	}
	return (
		scripts.length > 0 &&
		scripts.every((script) => isKnown(script) && script.length <= LONGEST && sedLines(script))
	);
}

/** A semicolon inside a pattern makes two halves that match nothing, and so a no. */
function sedLines(script: string): boolean {
	return (
		SED_LINE.test(script) || script.split(/[;\n]/).every((line) => line.trim() === "" || SED_LINE.test(line))
	);
}

/** No file, pipe, command or extension: what has `>` or `|` in it may be one. */
export function awkReads(args: readonly Field[]): boolean {
	let program: string | null = null;
	for (let index = 0; index < args.length && program === null; index++) {
		const arg = args[index] as Field;
		if (/^-[Fv]$/.test(arg.text)) index++;
		else if (/^-[Fv]./.test(arg.text)) continue;
		else if (/^-/.test(arg.text) || mayBeOption(arg)) return false;
		else program = arg.text;
	}
	if (program === null || !isKnown(program)) return false;
	return (
		!/[>@]|\b(system|getline|close|fflush)\b|\/inet/.test(program) &&
		!program.replaceAll("||", "").includes("|")
	);
}
