// Formats terminal results for people: the tool writes for models, in named fields.
import { lastOf } from "../domain/index.ts";

const RAW_LENGTH = 2000;
const LONGEST_OUTPUT = 3000;

export function describeRun(result: string, isError: boolean): string {
	const fields = fieldsIn(result);
	if (typeof fields?.output !== "string") return raw(result, isError);
	const { output, exit_code: code, note } = fields;
	const printed = output.trimEnd();
	const shown = printed.length > LONGEST_OUTPUT ? `…${lastOf(printed, LONGEST_OUTPUT)}` : printed;
	const fence = "`".repeat(Math.max(3, longestRun(shown) + 1));
	return [
		...(typeof note === "string" ? [note] : []),
		typeof code === "number" ? `It exited with code ${code}.` : "It has no exit code.",
		...(shown === "" ? ["It printed nothing."] : [fence, shown, fence]),
	].join("\n");
}

/** After an approval a sentence precedes the fields, on its own line. */
function fieldsIn(result: string): Readonly<Record<string, unknown>> | null {
	const json = result.slice(Math.max(0, result.indexOf("\n{") + 1));
	try {
		const parsed: unknown = JSON.parse(json);
		return typeof parsed === "object" ? (parsed as Readonly<Record<string, unknown>> | null) : null;
	} catch {
		return null;
	}
}

function longestRun(text: string): number {
	return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}

function raw(result: string, isError: boolean): string {
	const shown = result.length > RAW_LENGTH ? `${result.slice(0, RAW_LENGTH).toWellFormed()}…` : result;
	return isError ? `That failed: ${shown}` : shown;
}
