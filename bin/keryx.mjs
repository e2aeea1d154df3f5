#!/usr/bin/env node
// Checks the Node version before anything is imported: on an older one a native module would crash without a word.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
	process.stderr.write(
		`keryx: Node ${process.versions.node} is too old; Keryx needs 22.19 or newer.\n` +
			"keryx: what to do: install a newer Node, or run `npm start` in a clone, which fetches one for itself.\n",
	);
	process.exit(1);
}
await import("../dist/cli/main.js");
