// The few HTML tags that answers use for what Markdown also says. All others stay text, as they were written.
import type { Inline, Style } from "./ast.ts";

const STYLES: Readonly<Record<string, Style>> = {
	b: "bold",
	strong: "bold",
	i: "italic",
	em: "italic",
	u: "underline",
	ins: "underline",
	s: "strike",
	del: "strike",
	strike: "strike",
};

/** How many open tags a closing one may skip. Limited, so that a text full of tags stays cheap. */
const LOOK_BACK = 16;

/** Turns `<u>`...`</u>` and similar tags into styles if both are on the same level, and `<br>` into a line break. */
export function pairTags(text: Inline[]): Inline[] {
	if (!text.some((part) => part.kind === "tag")) return text;
	const paired = [...text];
	const waiting: { name: string; level: number; at: number }[] = [];
	let level = 0;
	text.forEach((part, at) => {
		if (part.kind === "open" || part.kind === "link") level++;
		if (part.kind === "close" || part.kind === "unlink") {
			level--;
			while ((waiting.at(-1)?.level ?? 0) > level) waiting.pop();
		}
		if (part.kind !== "tag") return;
		const [, slash, name = ""] = /^<(\/?)([a-z]+)\s*\/?>$/i.exec(part.value.toLowerCase()) ?? [];
		const style = Object.hasOwn(STYLES, name) ? STYLES[name] : undefined;
		if (name === "br") paired[at] = { kind: "break" };
		if (!style) return;
		if (!slash) {
			waiting.push({ name, level, at });
			return;
		}
		const top = waiting.slice(-LOOK_BACK);
		const found = top.findLast((one) => one.name === name && one.level === level);
		if (!found) return;
		waiting.length -= top.length - top.indexOf(found);
		paired[found.at] = { kind: "open", style };
		paired[at] = { kind: "close", style };
	});
	return paired;
}
