// Drafts by conversation, stored in this browser.
import { readLocal, writeLocal } from "../../../lib/storage.ts";

export function readDraft(key: string): string {
	return readLocal(`draft.${key}`) ?? "";
}

export function writeDraft(key: string, text: string): void {
	writeLocal(`draft.${key}`, text === "" ? null : text);
}
