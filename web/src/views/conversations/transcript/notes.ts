// Whether notes to the agent are shown among the messages. They are hidden by default, because they are for the agent.
import { readLocal, writeLocal } from "../../../lib/storage.ts";
import { createValue } from "../../../lib/value.ts";
import type { Item } from "./items.ts";

const shown = createValue(readLocal("notes") === "shown");

export const useNotesShown = shown.use;

export function showNotes(show: boolean): void {
	shown.set(show);
	writeLocal("notes", show ? "shown" : null);
}

/** Summaries stay visible: they stand for messages that people wrote. */
export function isNote(item: Item): boolean {
	return item.kind === "meta" && item.message.kind !== "summary";
}
