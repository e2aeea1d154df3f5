// The names of a server's tools here, and their action names for approvals. Server names are untrusted: each tool gets one name that
// every model provider accepts, and no two get the same. Pure.
import { createHash } from "node:crypto";

/** The shortest limit among model providers. */
const LONGEST_NAME = 64;
const DIGEST = 8;
const SEPARATOR = "__";

/** The server of a tool's name; null for Keryx's own tools. */
export function serverOf(tool: string): string | null {
	const at = tool.indexOf(SEPARATOR);
	return at > 0 ? tool.slice(0, at) : null;
}

/** Its name here. A changed name carries a digest of the server's. */
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

/** Grants refer to it, ignoring case: two tools that differ only in case are two actions. */
export function actionOf(name: string): string {
	const folded = name.toLowerCase();
	return folded === name ? `mcp.${name}` : `mcp.${folded}.${digest(name)}`;
}

function digest(text: string): string {
	return createHash("sha256").update(text).digest("hex").slice(0, DIGEST);
}
