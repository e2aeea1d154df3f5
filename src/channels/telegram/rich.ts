// A rich message as the text that people read in it, block by block. Its media are named, not fetched.
import type { RichBlock, RichMessage, RichText } from "grammy/types";

export function richTextOf({ blocks }: RichMessage): string {
	return ofBlocks(blocks);
}

/** Whether it names this user, by a mention and not only in words. */
export function richNames({ blocks }: RichMessage, username: string): boolean {
	const isNamed = (node: unknown): boolean => {
		if (Array.isArray(node)) return node.some(isNamed);
		if (typeof node !== "object" || node === null) return false;
		const { type, username: named } = node as { readonly type?: unknown; readonly username?: unknown };
		if (type === "mention" && typeof named === "string" && named.toLowerCase() === username.toLowerCase())
			return true;
		return Object.values(node).some(isNamed);
	};
	return username !== "" && isNamed(blocks);
}

function ofBlocks(blocks: readonly RichBlock[]): string {
	return blocks.map(ofBlock).filter(Boolean).join("\n");
}

function ofBlock(block: RichBlock): string {
	switch (block.type) {
		case "divider":
		case "anchor":
		case "buttons":
		case "thinking":
			return "";
		case "mathematical_expression":
			return block.expression;
		case "list":
			return block.items.map(({ label, blocks }) => `${label} ${ofBlocks(blocks)}`).join("\n");
		case "table":
			return block.cells
				.map((row) => row.map(({ text }) => (text === undefined ? "" : ofText(text))).join(" | "))
				.join("\n");
		case "details":
			return `${ofText(block.summary)}\n${ofBlocks(block.blocks)}`;
		case "blockquote":
			return ofBlocks(block.blocks);
		case "collage":
		case "slideshow":
			return [ofBlocks(block.blocks), captionOf(block)].filter(Boolean).join("\n");
		case "map":
		case "animation":
		case "audio":
		case "document":
		case "photo":
		case "video":
		case "voice_note":
			return `[${block.type.replace("_", " ")}] ${captionOf(block)}`.trimEnd();
		case "paragraph":
		case "heading":
		case "pre":
		case "footer":
		case "expandable_blockquote":
		case "pullquote":
			return ofText(block.text);
		default:
			// A kind that Telegram added later.
			return `[${(block as { readonly type: string }).type}]`;
	}
}

function captionOf({ caption }: { readonly caption?: { readonly text: RichText } }): string {
	return caption ? ofText(caption.text) : "";
}

function ofText(text: RichText): string {
	if (typeof text === "string") return text;
	if (Array.isArray(text)) return text.map(ofText).join("");
	switch (text.type) {
		case "custom_emoji":
			return text.alternative_text;
		case "mathematical_expression":
			return text.expression;
		case "anchor":
			return "";
		case "button":
			return ofText(text.button.text);
		case "url":
			return `[${ofText(text.text)}](${text.url})`;
		default:
			return ofText(text.text);
	}
}
