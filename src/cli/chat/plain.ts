// A chat over a pipe, for programs and files. No escape codes.
import { escapeJson } from "../io/output.ts";
import type { ChatEvent } from "./events.ts";
import { renderMarkdown } from "./markdown.ts";
import { printableLines } from "./printable.ts";

export interface PlainChatOptions {
	readonly output: { write(text: string): unknown };
	/** Every event as one JSON line; otherwise only the messages, as text. */
	readonly json: boolean;
}

export interface PlainChat {
	show(event: ChatEvent): void;
}

export function createPlainChat({ output, json }: PlainChatOptions): PlainChat {
	if (json) return { show: (event) => output.write(`${escapeJson(JSON.stringify(event))}\n`) };
	return {
		show: (event) => {
			const lines = linesOf(event);
			if (lines.length > 0) output.write(`${lines.join("\n")}\n`);
		},
	};
}

function linesOf(event: ChatEvent): string[] {
	switch (event.kind) {
		case "answer":
		case "reply":
			return renderMarkdown(event.text, { columns: Number.POSITIVE_INFINITY, colour: false });
		case "notice":
			return printableLines(event.text.trim());
		case "user":
		case "delta":
		case "call":
		case "result":
		case "boundary":
		case "turn":
		case "connection":
			return [];
	}
}
