import type { Message } from "../../../api/types.ts";

export type Attached = Exclude<Extract<Message["content"], readonly unknown[]>[number], { type: "text" }>;

/** The text of a message. */
export function textOf(content: Message["content"]): string {
	if (typeof content === "string") return content;
	return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

export function attachedTo(content: Message["content"]): readonly Attached[] {
	if (typeof content === "string") return NONE;
	return content.flatMap((part) => (part.type === "text" ? [] : [part]));
}

const NONE: readonly Attached[] = [];

interface Shown {
	readonly kind: string;
	readonly message?: Pick<Message, "turn" | "role">;
	readonly text?: string;
}

/** Whether streamed text is in a row already. Rows that were read may be ahead of the event that ends the stream. */
export function isInRow(
	{ turn, text }: { readonly turn: string; readonly text: string },
	items: readonly Shown[],
): boolean {
	return items.some(
		({ kind, message, text: row }) =>
			kind === "message" &&
			message?.turn === turn &&
			message.role === "assistant" &&
			row?.trim() === text.trim(),
	);
}
