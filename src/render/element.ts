// Builds elements of rendered text with the usual defaults.
import type { Element } from "./types.ts";

/** An element that a cut closes and reopens with the same tokens. */
export function element(open: string, close: string, options: Partial<Element> = {}): Element {
	return { open, close, reopen: open, resume: "", verbatim: false, ...options };
}
