// The usual form of a tool's result: JSON with named fields.
import type { ToolResult } from "./types.ts";

/** A tool's result in named fields. */
export function answer(fields: Readonly<Record<string, unknown>>, isError = false): ToolResult {
	return { content: JSON.stringify(fields), ...(isError && { isError }) };
}
