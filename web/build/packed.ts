// Stores large files compressed, as they are sent: they take a third of the space. The server unpacks them for clients that do not accept
// gzip.
import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";

export function packed(names: RegExp): Plugin {
	return {
		name: "keryx-packed",
		apply: "build",
		generateBundle: {
			// After every other plugin has changed the files.
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
