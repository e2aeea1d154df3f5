// A wall on a full disk: it is refused with the reason, and nothing waits for a program that never ran.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

const root = mkdtempSync(join(tmpdir(), "keryx-full-wall-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Ways to have mounts of one's own; which of them works depends on the machine. */
const OWN_MOUNTS = [
	["unshare", "-m"],
	["unshare", "-Urm"],
].find(([program = "", ...args]) => {
	const probe = [...args, "sh", "-c", 'mount -t tmpfs none "$0"', tmpdir()];
	return spawnSync(program, probe).status === 0;
});

const PROBE = `
const { probeWalls } = await import(process.argv[1]);
const { view } = await probeWalls(process.argv[2]);
console.log(view.isPossible ? "walled" : view.said);
process.exit();
`;

test("where its status cannot be written, no wall is made, and the answer comes", () => {
	const [program = "", ...args] = OWN_MOUNTS ?? expect.fail("no mount of one's own can be made here");
	const disk = join(root, "disk");
	mkdirSync(disk);
	// Room for folders, none for a page of data.
	const script =
		'mount -t tmpfs -o size=64k keryx "$1" || exit 9; dd if=/dev/zero of="$1/fill" bs=1k 2>/dev/null; shift; exec "$@"';
	const node = [
		process.execPath,
		"--disable-warning=ExperimentalWarning",
		"--input-type=module",
		"-e",
		PROBE,
	];
	const walls = join(import.meta.dirname, "../../src/walls/index.ts");
	const run = spawnSync(program, [...args, "sh", "-c", script, "sh", disk, ...node, walls, disk], {
		encoding: "utf8",
		timeout: 100_000,
	});
	expect([run.status, run.stdout]).toEqual([0, expect.stringContaining("ENOSPC")]);
});
