// Large files are kept compressed, as they travel: the package holds a third of them. The server unpacks them for clients that do not
// accept that.
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
