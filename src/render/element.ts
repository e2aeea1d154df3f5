import type { Element } from "./types.ts";

/** An element that a cut closes and opens again with the very tokens it has. */
export function element(open: string, close: string, options: Partial<Element> = {}): Element {
	return { open, close, reopen: open, resume: "", verbatim: false, ...options };
}
