// The documents, their code blocks and their links.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");

export interface Block {
	/** From the root of the repository. */
	readonly file: string;
	readonly line: number;
	/** The first word after the fence. */
	readonly language: string;
	/** The words after it. */
	readonly marks: readonly string[];
	readonly code: string;
}

/** README and everything under docs, by name. */
export function documents(): string[] {
	const inside = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" });
	const pages = inside.filter((name) => name.endsWith(".md") && !name.startsWith("."));
	return ["README.md", ...pages.map((name) => `docs/${name}`).sort()];
}

export function textOf(file: string): string {
	return readFileSync(join(ROOT, file), "utf8");
}

export function blocksOf(file: string): Block[] {
	const lines = textOf(file).split("\n");
	const blocks: Block[] = [];
	for (let at = 0; at < lines.length; at++) {
		const [, indent, info] = /^(\s*)```(.*)$/.exec(lines[at] as string) ?? [];
		if (indent === undefined || info === undefined) continue;
		const begin = at + 1;
		while (lines[++at]?.trim() !== "```")
			if (at >= lines.length) throw new Error(`${file}: a block has no end`);
		const [language = "", ...marks] = info.trim().split(/\s+/);
		const code = lines.slice(begin, at).map((line) => line.slice(indent.length));
		blocks.push({ file, line: begin, language, marks, code: `${code.join("\n")}\n` });
	}
	return blocks;
}

/** Without code blocks and inline code. */
export function proseOf(file: string): string {
	return textOf(file)
		.replace(/^(\s*)```.*?^\1```$/gms, "")
		.replace(/`[^`\n]+`/g, "");
}
