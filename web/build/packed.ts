// What is large and seldom needed is kept compressed, as it travels: the package holds a quarter of it. The server unpacks it for whoever
// does not take it so.
import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";

export function packed(names: RegExp): Plugin {
	return {
		name: "keryx-packed",
		apply: "build",
		generateBundle(_options, bundle) {
			for (const [name, item] of Object.entries(bundle)) {
				if (item.type !== "asset" || !names.test(name)) continue;
				this.emitFile({
					type: "asset",
					fileName: `${name}.gz`,
					source: gzipSync(item.source, { level: 9 }),
				});
				delete bundle[name];
			}
		},
	};
}
