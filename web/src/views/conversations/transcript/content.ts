import type { Message } from "../../../api/types.ts";

export type Attached = Exclude<Extract<Message["content"], readonly unknown[]>[number], { type: "text" }>;

/** The words of a message. */
export function textOf(content: Message["content"]): string {
	if (typeof content === "string") return content;
	return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

export function attachedTo(content: Message["content"]): readonly Attached[] {
	if (typeof content === "string") return NONE;
	return content.flatMap((part) => (part.type === "text" ? [] : [part]));
}

const NONE: readonly Attached[] = [];
