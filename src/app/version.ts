// Which version of Keryx runs, from which commit, and which Node it needs. Read from the package itself; never throws without git.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = new URL("../../", import.meta.url);

export function version(): string {
	return manifest().version;
}

/** With the commit it was built from, if known: `1.2.3 (0a1b2c3)`. */
export function versionWithCommit(): string {
	const commit = builtFrom() ?? checkedOut();
	return commit === null ? version() : `${version()} (${commit})`;
}

/** Written when the package is made. */
function builtFrom(): string | null {
	const file = new URL("dist/commit.txt", ROOT);
	return existsSync(file) && !isClone() ? readFileSync(file, "utf8").trim() : null;
}

function checkedOut(): string | null {
	if (!isClone()) return null;
	try {
		return execFileSync("git", ["rev-parse", "--short", "HEAD"], {
			cwd: fileURLToPath(ROOT),
			encoding: "utf8",
			stdio: ["ignore", "pipe", "ignore"],
		}).trim();
	} catch {
		// Unknown without git, or in a copy without history.
		return null;
	}
}

function isClone(): boolean {
	return existsSync(new URL(".git", ROOT));
}

/** The oldest Node that Keryx runs on, as `22.19`. */
export function oldestNode(): string {
	return manifest().engines.node.replace(/^>=/, "");
}

function manifest(): { readonly version: string; readonly engines: { readonly node: string } } {
	return JSON.parse(readFileSync(new URL("package.json", ROOT), "utf8"));
}

/** By the first two numbers. */
export function isOlder(version: string, than: string): boolean {
	const [a, b] = [version, than].map((text) => text.split(".").map(Number));
	const [major = 0, minor = 0] = [(a?.[0] ?? 0) - (b?.[0] ?? 0), (a?.[1] ?? 0) - (b?.[1] ?? 0)];
	return major < 0 || (major === 0 && minor < 0);
}
