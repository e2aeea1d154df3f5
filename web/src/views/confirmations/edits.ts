// Finds text edits among a call's arguments, by the names that tools commonly use.
import type { Details } from "./wire.ts";

export interface Edit {
	/** The edited file, if the arguments name it. */
	readonly path: string | null;
	readonly before: string;
	readonly after: string;
}

const PAIRS = [
	["old_string", "new_string"],
	["old_str", "new_str"],
	["old_text", "new_text"],
	["oldText", "newText"],
	["before", "after"],
	["old", "new"],
] as const;
const PATHS = ["path", "file_path", "filePath", "file", "filename"] as const;
const DEEPEST = 4;

/** All edits in a value, at any place down to DEEPEST levels. */
export function editsIn(value: unknown, depth = 0): readonly Edit[] {
	if (typeof value !== "object" || value === null || depth > DEEPEST) return [];
	if (Array.isArray(value)) return value.flatMap((one) => editsIn(one, depth + 1));
	const own = editOf(value as Details);
	return own ? [own] : Object.values(value).flatMap((one) => editsIn(one, depth + 1));
}

/** A new file has no earlier text. */
function editOf(details: Details): Edit | null {
	for (const [old, now] of PAIRS) {
		const before = details[old] ?? "";
		const after = details[now];
		if (!(old in details) && details.type !== "diff") continue;
		if (typeof before !== "string" || typeof after !== "string") continue;
		const path = PATHS.map((name) => details[name]).find((one) => typeof one === "string");
		return { path: (path as string | undefined) ?? null, before, after };
	}
	return null;
}
