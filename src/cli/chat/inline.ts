// Text inside a block as lines of spans: styles, and links with their targets.
import type { MarkdownInline } from "../../gateway/index.ts";
import { printable } from "./printable.ts";
import { type Line, type Look, type Span, span } from "./style.ts";

export interface InlineOptions {
	readonly colour: boolean;
	/** The style of all of it. */
	readonly looks?: readonly Look[];
}

interface OpenLink {
	readonly url: string;
	/** The visible text since it was opened. */
	label: string;
}

/** One line per source line; at least one. */
export function inlineLines(
	text: readonly MarkdownInline[],
	{ colour, looks: base = [] }: InlineOptions,
): Line[] {
	const lines: Span[][] = [[]];
	const open: Look[] = [];
	const links: OpenLink[] = [];
	const put = (value: string, ...more: readonly Look[]) => {
		for (const link of links) link.label += value;
		const looks = [...new Set([...base, ...open, ...more])];
		value.split("\n").forEach((line, index) => {
			if (index > 0) lines.push([]);
			if (line !== "") lines.at(-1)?.push(span(printable(line), ...looks));
		});
	};

	for (const part of text) {
		switch (part.kind) {
			case "text":
			case "tag":
				put(part.value);
				break;
			case "code":
				put(colour ? part.value : `\`${part.value}\``, "code");
				break;
			case "url":
				put(part.value, "underline");
				break;
			case "break":
				put("\n");
				break;
			case "open":
				if (part.style === "strike" && !colour) put("~~");
				open.push(part.style);
				break;
			case "close": {
				const at = open.lastIndexOf(part.style);
				if (at >= 0) open.splice(at, 1);
				if (part.style === "strike" && !colour) put("~~");
				break;
			}
			case "link":
				links.push({ url: part.url, label: "" });
				break;
			case "unlink": {
				const link = links.pop();
				if (link) endLink(link, put);
				break;
			}
		}
	}
	return lines;
}

function endLink({ url, label }: OpenLink, put: (value: string, ...looks: readonly Look[]) => void): void {
	const shown = label.trim();
	if (url === "" || shown === url || `mailto:${shown}` === url) return;
	if (shown === "") put(url, "underline");
	else {
		put(" (");
		put(url, "underline", "dim");
		put(")");
	}
}
