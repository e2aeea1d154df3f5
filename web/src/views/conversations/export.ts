// Saves a conversation as a file.
import { readText } from "../../api/request.ts";
import type { Conversation } from "../../api/types.ts";

const KINDS = {
	markdown: { type: "text/markdown", ending: "md" },
	/** One JSON object per line; `keryx sessions import` reads it. */
	jsonl: { type: "application/jsonl", ending: "jsonl" },
} as const;

export async function exportConversation(
	{ id, name }: Pick<Conversation, "id" | "name">,
	format: keyof typeof KINDS,
): Promise<void> {
	const { type, ending } = KINDS[format];
	const text = await readText(`/api/export?conversation=${encodeURIComponent(id)}&format=${format}`);
	const address = URL.createObjectURL(new Blob([text], { type }));
	const link = document.createElement("a");
	link.href = address;
	link.download = `${fileName(name)}.${ending}`;
	link.click();
	setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Only letters, digits and a few marks, which every system accepts. */
function fileName(name: string): string {
	const plain = name
		.replace(/[^\p{L}\p{N}_-]+/gu, "-")
		.replace(/^-+|-+$/g, "")
		.slice(0, 60);
	return plain === "" ? "conversation" : plain;
}
