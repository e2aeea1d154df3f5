// Reads what `keryx explain` is given: one source, an array of them, or one a line.

import { KeryxError } from "../../../errors.ts";
import type { CliContext } from "../../context.ts";
import { readText } from "../../io/read-text.ts";
import { texts } from "../../texts.ts";

export interface Sources {
	/** The output of --json has the same shape. */
	readonly shape: "one" | "array" | "lines";
	/** Not yet checked. */
	readonly sources: readonly unknown[];
}

/** `-` is stdin. */
export async function readSources(path: string, context: CliContext): Promise<Sources> {
	const name = path === "-" ? "stdin" : path;
	const text = await readText(path, context);
	const trimmed = text.trim();
	if (trimmed === "") throw new KeryxError("input.invalid", texts.explain.noSource(name));
	const whole = parse(trimmed);
	if (!("problem" in whole)) {
		if (!Array.isArray(whole.value)) return { shape: "one", sources: [whole.value] };
		if (whole.value.length > 0) return { shape: "array", sources: whole.value };
		throw new KeryxError("input.invalid", texts.explain.noSource(name));
	}
	return { shape: "lines", sources: parseLines(text, name, whole.problem) };
}

/** Text that is not JSON as a whole is read as JSON lines only if its first line is complete JSON. */
function parseLines(text: string, name: string, problem: string): unknown[] {
	const sources: unknown[] = [];
	for (const [index, line] of text.split("\n").entries()) {
		if (line.trim() === "") continue;
		const parsed = parse(line);
		if (!("problem" in parsed)) sources.push(parsed.value);
		else if (sources.length === 0)
			throw new KeryxError("input.invalid", texts.explain.notJson(name, problem));
		else throw new KeryxError("input.invalid", texts.explain.lineNotJson(name, index + 1, parsed.problem));
	}
	return sources;
}

function parse(text: string): { value: unknown } | { problem: string } {
	try {
		return { value: JSON.parse(text, exactIds) };
	} catch (error) {
		if (error instanceof SyntaxError) return { problem: error.message };
		throw error;
	}
}

/** An id may be a longer number than JavaScript can hold: it is taken as written, or two chats would be one. */
function exactIds(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
	if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
	return context?.source && /^-?\d+$/.test(context.source) ? context.source : value;
}
