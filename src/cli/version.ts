import { readFileSync } from "node:fs";

export function version(): string {
	return manifest().version;
}

/** The oldest Node that Keryx runs on, as `22.19`. */
export function oldestNode(): string {
	return manifest().engines.node.replace(/^>=/, "");
}

function manifest(): { readonly version: string; readonly engines: { readonly node: string } } {
	return JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
}
