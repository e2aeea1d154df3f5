// Keeps only the font format that every supported browser reads. KaTeX's other two formats would add a megabyte to the package.
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
