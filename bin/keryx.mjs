#!/usr/bin/env node
// Checks the Node version before anything is imported: on an older one a native module would crash without a word.
import { existsSync } from "node:fs";
import module from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
	process.stderr.write(
		`keryx: Node ${process.versions.node} is too old; Keryx needs 22.19 or newer.\n` +
			"keryx: what to do: install a newer Node, or run `npm start` in a clone, which fetches one for itself.\n",
	);
	process.exit(1);
}
// Compiled code is kept for the next start, in Keryx's own home: whoever can write it can run code here, and no program of the agent
// reaches the home. Only where there is one: a command that just looks makes none.
const home = process.env.KERYX_HOME || join(homedir(), ".keryx");
if (existsSync(home)) module.enableCompileCache(join(home, "compiled"));
await import("../dist/cli/main.js");
