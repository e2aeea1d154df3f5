// Parses a line of an export.
import { type ExportLine, exportLine, FORMAT_VERSION } from "./transfer-format.ts";
import { invalidLine } from "./transfer-line.ts";

/** A line's content; bodies stay unchanged. Throws import.invalid with line and field. */
export function parseLine(text: string, number: number): ExportLine {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch (cause) {
		throw invalidLine(number, "is not JSON", { cause });
	}
	const parsed = exportLine.safeParse(value);
	if (parsed.success) return value as ExportLine;
	const issue = parsed.error.issues[0];
	const field = issue?.path.join(".") ?? "";
	if (field === "version")
		throw invalidLine(number, `this Keryx reads version ${FORMAT_VERSION} of an export`, {
			field,
			hint: "run a newer Keryx",
		});
	throw invalidLine(number, `${field === "" ? "it" : field}: ${issue?.message ?? "is wrong"}`, { field });
}
