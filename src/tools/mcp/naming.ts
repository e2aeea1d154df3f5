// What the tools of a server are called here, and by which name a human is asked about them. Names come from the server, so they are
// untrusted: whatever a server calls its tools, each gets one name that every model provider accepts, and no two get the same. Pure.
import { createHash } from "node:crypto";

/** The shortest limit among model providers. */
const LONGEST_NAME = 64;
const DIGEST = 8;
const SEPARATOR = "__";

/** The server that a tool's name belongs to; null for Keryx's own tools. */
export function serverOf(tool: string): string | null {
	const at = tool.indexOf(SEPARATOR);
	return at > 0 ? tool.slice(0, at) : null;
}

/** By the name it has here. A name that had to be changed carries a digest of the one the server gave. */
export function namesOf(server: string, tools: readonly string[]): ReadonlyMap<string, string> {
	const names = new Map<string, string>();
	for (const tool of tools) {
		const plain = `${server}${SEPARATOR}${tool}`;
		const isPlain = /^[A-Za-z0-9_-]+$/.test(tool) && plain.length <= LONGEST_NAME;
		const name = isPlain ? plain : changed(server, tool);
		if (!names.has(name)) names.set(name, tool);
	}
	return names;
}

function changed(server: string, tool: string): string {
	const readable = tool.replace(/[^A-Za-z0-9_-]+/g, "_");
	const ending = `_${digest(tool)}`;
	return `${server}${SEPARATOR}${readable}`.slice(0, LONGEST_NAME - ending.length) + ending;
}

/** Grants are given for it, and case makes no difference there: two tools that differ in case alone are two actions. */
export function actionOf(name: string): string {
	const folded = name.toLowerCase();
	return folded === name ? `mcp.${name}` : `mcp.${folded}.${digest(name)}`;
}

function digest(text: string): string {
	return createHash("sha256").update(text).digest("hex").slice(0, DIGEST);
}
