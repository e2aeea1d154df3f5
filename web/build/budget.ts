// Limits the size of the scripts, styles and fonts that a browser loads before the first view, compressed. A build over the limit fails.
import { gzipSync } from "node:zlib";
import type { Plugin, Rolldown } from "vite";

/** Fonts used from the start. The font for code is fetched when there is code to show. */
const FIRST_FONTS = /inter-/;

/** Separate chunks that are loaded at once: the message box of the first view. */
const FIRST_PARTS = /^new-conversation$/;

export function budget({ kilobytes }: { readonly kilobytes: number }): Plugin {
	return {
		name: "keryx-budget",
		apply: "build",
		generateBundle(_options, bundle) {
			const parts = firstView(bundle).map((name) => ({ name, size: sizeOf(bundle[name]) }));
			const total = parts.reduce((sum, { size }) => sum + size, 0);
			const lines = parts
				.sort((a, b) => b.size - a.size)
				.map(({ name, size }) => `${(size / 1000).toFixed(1).padStart(7)} KB  ${name}`);
			const sum = `the first view is ${(total / 1000).toFixed(1)} KB of ${kilobytes} KB`;
			if (total > kilobytes * 1000) this.error(`${sum}\n${lines.join("\n")}`);
			this.info(`${sum}\n${lines.join("\n")}`);
		},
	};
}

function firstView(bundle: Rolldown.OutputBundle): string[] {
	const wanted = new Set<string>();
	const add = (name: string): void => {
		const item = bundle[name];
		if (!item || wanted.has(name)) return;
		wanted.add(name);
		if (item.type !== "chunk") return;
		for (const other of item.imports) add(other);
		for (const style of item.viteMetadata?.importedCss ?? []) add(style);
	};
	for (const item of Object.values(bundle)) {
		if (item.type === "chunk" && (item.isEntry || FIRST_PARTS.test(item.name))) add(item.fileName);
		if (item.type === "asset" && FIRST_FONTS.test(item.fileName)) add(item.fileName);
	}
	return [...wanted];
}

/** Compressed size. Fonts are compressed already. */
function sizeOf(item: Rolldown.OutputAsset | Rolldown.OutputChunk | undefined): number {
	if (!item) return 0;
	const content = Buffer.from(item.type === "chunk" ? item.code : item.source);
	return item.fileName.endsWith(".woff2") ? content.length : gzipSync(content).length;
}
