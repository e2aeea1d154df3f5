// Programs of this repository that tests start as separate processes. Each is bundled before all tests
// (global-setup.ts): a few files start in half the time of nine hundred.
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = join(import.meta.dirname, "../..");

/** By their path from the root. */
export const PROGRAMS = [
	"src/cli/main.ts",
	"test/acp/host-child.ts",
	"test/acp/program.ts",
	"test/app/busy-heap.ts",
	"test/gateway/child.ts",
	"test/torture/child.ts",
	"test/channels/storm/child.ts",
	"test/checkpoints/child.ts",
	"test/checkpoints/lock-child.ts",
	"test/crash/full-child.ts",
	"test/crash/lose-child.ts",
	"test/crash/migrate-child.ts",
	"test/crash/open-child.ts",
	"test/crash/own-child.ts",
	"test/crash/programs-child.ts",
	"test/crash/store-child.ts",
	"test/crash/sync-child.ts",
	"test/postgres/storm/child.ts",
	"test/processes/client-child.ts",
	"test/support/audited-writer.ts",
	"test/support/everything.ts",
	"test/support/killed-writer.ts",
];

/** Parts of the package that programs in the documents import, by their folder in src. */
export const FACES = [
	"app",
	"checkpoints",
	"config",
	"confirmations",
	"gateway",
	"http",
	"processes",
	"store",
	"testing",
	"tools",
];

/** The part's face: its bundle, or its source if there is none. */
export function faceFile(part: string): string {
	return programFile(join(ROOT, "src", part, "index.ts"));
}

/** The file to start for a program: its bundle, or itself if there is none. */
export function programFile(program: string | URL): string {
	const file = typeof program === "string" ? program : fileURLToPath(program);
	const folder = process.env.KERYX_TEST_PROGRAMS;
	if (!folder) return file;
	const bundle = join(folder, bundleName(relative(ROOT, file)));
	return existsSync(bundle) ? bundle : file;
}

export function bundleName(program: string): string {
	return `${program.replaceAll("/", ".").replace(/\.ts$/, "")}.mjs`;
}
