// Of KaTeX's fonts only the form that every browser of ours reads: the other two would be a megabyte of the package.
import type { Plugin } from "vite";

export function leanFonts(): Plugin {
	return {
		name: "keryx-lean-fonts",
		enforce: "pre",
		transform(code, id) {
			if (!/katex[\\/]dist[\\/]katex[\w.]*\.css$/.test(id)) return undefined;
			return code.replace(/,\s*url\([^)]+\.(?:woff|ttf)\)\s*format\("(?:woff|truetype)"\)/g, "");
		},
	};
}
