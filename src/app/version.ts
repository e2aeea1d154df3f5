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

/** By the first two numbers. */
export function isOlder(version: string, than: string): boolean {
	const [a, b] = [version, than].map((text) => text.split(".").map(Number));
	const [major = 0, minor = 0] = [(a?.[0] ?? 0) - (b?.[0] ?? 0), (a?.[1] ?? 0) - (b?.[1] ?? 0)];
	return major < 0 || (major === 0 && minor < 0);
}
