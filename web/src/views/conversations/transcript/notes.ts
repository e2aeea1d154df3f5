// Whether notes to the agent are shown among the messages. They are for the agent, so nobody sees them who has not asked to.
import { readLocal, writeLocal } from "../../../lib/storage.ts";
import { createValue } from "../../../lib/value.ts";
import type { Item } from "./items.ts";

const shown = createValue(readLocal("notes") === "shown");

export const useNotesShown = shown.use;

export function showNotes(show: boolean): void {
	shown.set(show);
	writeLocal("notes", show ? "shown" : null);
}

/** Summaries stay: they stand for messages that people wrote. */
export function isNote(item: Item): boolean {
	return item.kind === "meta" && item.message.kind !== "summary";
}
