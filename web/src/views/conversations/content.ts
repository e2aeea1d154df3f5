import type { Message } from "../../api/types.ts";

/** The words of a message; an attachment counts by its name. */
export function textOf(content: Message["content"]): string {
	if (typeof content === "string") return content;
	return content
		.map((part) => (part.type === "text" ? part.text : `[${part.type} ${part.name ?? ""}]`))
		.join("\n");
}
