import type { ToolResult } from "./types.ts";

/** What a tool found, in named fields. */
export function answer(fields: Readonly<Record<string, unknown>>, isError = false): ToolResult {
	return { content: JSON.stringify(fields), ...(isError && { isError }) };
}
