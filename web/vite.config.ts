import { fileURLToPath } from "node:url";
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { budget } from "./build/budget.ts";
import { callsModule } from "./build/calls-module.ts";
import { leanFonts } from "./build/lean-fonts.ts";
import { packed } from "./build/packed.ts";

/** A running Keryx. The development server forwards all requests that are not for the page to it. */
const keryx = process.env.KERYX_URL ?? "http://127.0.0.1:7717";

export default defineConfig({
	root: fileURLToPath(new URL(".", import.meta.url)),
	plugins: [
		react(),
		tailwind(),
		callsModule(),
		leanFonts(),
		packed(/mermaid|\/(?:first|highlight|markdown|math|plot|screen)-(?!marks)/),
		budget({ kilobytes: 250 }),
	],
	// KaTeX's code and styles must be the same version.
	resolve: { dedupe: ["katex"] },
	build: {
		outDir: fileURLToPath(new URL("../dist/web", import.meta.url)),
		emptyOutDir: true,
		target: ["chrome123", "firefox121", "safari17.5"],
		// Inlined scripts would need a weaker content security policy.
		assetsInlineLimit: 0,
		// The budget plugin limits the size.
		chunkSizeWarningLimit: 1000,
		modulePreload: { polyfill: false },
		rolldownOptions: {
			// Index files only re-export: importing one thing from them must not load the others.
			treeshake: { moduleSideEffects: [{ test: /\/web\/src\/\w+\/index\.ts$/, sideEffects: false }] },
			// Everything needed from the start goes into one file.
			output: { codeSplitting: { groups: [{ name: "first", tags: ["$initial"] }] } },
		},
	},
	server: {
		host: "127.0.0.1",
		proxy: Object.fromEntries(
			["/api", "/events", "/login", "/confirm", "/grants", "/audit", "/health", "/ready", "/metrics"].map(
				(path) => [
					`^${path}(?:[/?]|$)`,
					{ target: keryx, changeOrigin: true, ws: true, headers: { origin: keryx } },
				],
			),
		),
	},
});
