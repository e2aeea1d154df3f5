// A file that is written in place, through a link, on a disk that becomes full: the old text stays.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { PUT } from "../../src/tools/files/scripts.ts";

/** Ways to have mounts of one's own; which of them works depends on the machine. */
const OWN_MOUNTS = [
	["unshare", "-m"],
	["unshare", "-Urm"],
].find(([program = "", ...args]) => {
	const probe = [...args, "sh", "-c", 'mount -t tmpfs none "$0"', tmpdir()];
	return spawnSync(program, probe).status === 0;
});

let root: string;
beforeEach(() => {
	root = mkdtempSync(join(tmpdir(), "keryx-full-"));
	mkdirSync(join(root, "disk"));
	mkdirSync(join(root, "bin"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const OLD = "old text\n".repeat(4000);
const NEW = "new text\n".repeat(14_000);

/** A `cat` that cannot write the whole of a text to the file, so many times. */
function failing(times: number): string {
	writeFileSync(join(root, "times"), "x".repeat(times));
	writeFileSync(
		join(root, "bin", "cat"),
		`#!/bin/sh
if [ /dev/stdout -ef "${root}/disk/file" ] && [ -s "${root}/times" ]; then
	head -c $(($(wc -c <"${root}/times") - 1)) "${root}/times" >"${root}/left"; mv "${root}/left" "${root}/times"
	head -c 3 "$1"; echo 'cat: write error: No space left on device' >&2; exit 1
fi
exec /bin/cat "$@"
`,
	);
	chmodSync(join(root, "bin", "cat"), 0o755);
	return `${join(root, "bin")}:${process.env.PATH}`;
}

/** Writes to the link; answers what the helper says last, and what is in the file then. */
function put(mode: "edit" | "write", path = String(process.env.PATH), disk: readonly string[] = []) {
	const [program = "sh", ...args] = [
		...disk,
		"sh",
		"-c",
		`${disk.length > 0 ? `mount -t tmpfs -o size=96k keryx "${root}/disk" || exit 9` : ":"}
cp "${root}/old" "${root}/disk/file"
sh -c "$PUT" put "${root}/link" ${mode} 4000000 | tail -n 1
cp "${root}/disk/file" "${root}/after"`,
	];
	writeFileSync(join(root, "old"), OLD);
	symlinkSync(join(root, "disk", "file"), join(root, "link"));
	const { stdout, stderr } = spawnSync(program, args, {
		input: `${NEW.length}\n${NEW}`,
		env: { PATH: path, PUT },
		encoding: "utf8",
	});
	expect(stderr).toBe("");
	return { said: stdout, after: readFileSync(join(root, "after"), "utf8") };
}

test.each(["edit", "write"] as const)("%s on a full disk leaves the old text", (mode) => {
	const { said, after } = OWN_MOUNTS ? put(mode, undefined, OWN_MOUNTS) : put(mode, failing(1));
	expect(said).toBe("no No space left on device\n");
	expect(after === OLD, after.slice(0, 40)).toBe(true);
});

test("where even the old text cannot be put back, the answer says so", () => {
	const { said, after } = put("edit", failing(2));
	expect(said).toMatch(/^no No space left on device; .*the old text could not be put back/);
	expect(after).toBe("old");
});
