// A second build of Keryx: its sources, with a process host protocol one version later.
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const VERSION = "export const PROTOCOL = 1;";

/** Written into an empty folder. Programs of test/crash and test/processes run there as here. */
export function laterBuild(folder: string): string {
	mkdirSync(folder, { recursive: true });
	for (const part of [
		"src",
		"test/crash",
		"test/processes/build-child.ts",
		"test/support/keep-compiled.ts",
		"package.json",
	])
		cpSync(join(ROOT, part), join(folder, part), { recursive: true });
	symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
	change(join(folder, "src/processes/protocol.ts"), VERSION, "export const PROTOCOL = 2;");
	// It starts its own host, not the one built for tests.
	change(join(folder, "src/processes/connect.ts"), "process.env.KERYX_PROCESS_HOST ??", "");
	return folder;
}

function change(file: string, from: string, to: string): void {
	const text = readFileSync(file, "utf8");
	if (!text.includes(from)) throw new Error(`${file} does not say ${from}`);
	writeFileSync(file, text.replace(from, to));
}
