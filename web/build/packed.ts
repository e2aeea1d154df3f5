// What is large and seldom needed is kept compressed, as it travels: the package holds a quarter of it. The server unpacks it for whoever
// does not take it so.
import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";

export function packed(names: RegExp): Plugin {
	return {
		name: "keryx-packed",
		apply: "build",
		generateBundle: {
			// When nobody changes them any more.
			order: "post",
			handler(_options, bundle) {
				for (const [name, item] of Object.entries(bundle)) {
					if (!names.test(name)) continue;
					this.emitFile({
						type: "asset",
						fileName: `${name}.gz`,
						source: gzipSync(item.type === "asset" ? item.source : item.code, { level: 9 }),
					});
					delete bundle[name];
				}
			},
		},
	};
}
