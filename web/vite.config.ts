import { fileURLToPath } from "node:url";
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { budget } from "./build/budget.ts";
import { callsModule } from "./build/calls-module.ts";
import { leanFonts } from "./build/lean-fonts.ts";
import { packed } from "./build/packed.ts";

/** A Keryx that runs, for the development server: what is not of the page is asked there. */
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
	// What draws formulas and what styles them must be of one version.
	resolve: { dedupe: ["katex"] },
	build: {
		outDir: fileURLToPath(new URL("../dist/web", import.meta.url)),
		emptyOutDir: true,
		target: ["chrome123", "firefox121", "safari17.5"],
		// A script that is inlined as text would need a weaker content security policy.
		assetsInlineLimit: 0,
		// The budget decides what is too large.
		chunkSizeWarningLimit: 1000,
		modulePreload: { polyfill: false },
		rolldownOptions: {
			// A face only names what is behind it: whoever takes one thing of it does not load the others.
			treeshake: { moduleSideEffects: [{ test: /\/web\/src\/\w+\/index\.ts$/, sideEffects: false }] },
			// What is needed from the start is one file.
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
