import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { git } from "../../src/checkpoints/git.ts";
import { eventually } from "../support/soon.ts";

const PATH = process.env.PATH;
let folder: string;
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "keryx-git-"));
});
afterEach(() => {
	process.env.PATH = PATH;
	rmSync(folder, { recursive: true, force: true });
});

/** In place of git. */
function pretend(script: string): void {
	writeFileSync(join(folder, "git"), `#!/bin/sh\n${script}\n`);
	chmodSync(join(folder, "git"), 0o755);
	process.env.PATH = `${folder}:${PATH}`;
}

function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		// One that has ended and waits for its parent is not alive.
		return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
	} catch {
		return false;
	}
}

test("one that takes too long is ended with everything it has started", async () => {
	pretend(`sleep 1000 & echo $! > ${folder}/pid; wait`);
	const call = git({ args: ["gc"], repository: folder, timeoutMs: 500 });
	await expect(call).rejects.toMatchObject({
		code: "checkpoint.failed",
		message: "git gc failed: it took longer than 500 ms",
	});
	const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
	await eventually(() => expect(isAlive(pid)).toBe(false));
});

test("an answer without end is a failure, or is cut where that was asked for", async () => {
	pretend("exec yes");
	await expect(git({ args: ["log"], repository: folder, maxBytes: 1000 })).rejects.toMatchObject({
		code: "checkpoint.failed",
	});
	const { out, cut } = await git({ args: ["log"], repository: folder, maxBytes: 1001, cut: true });
	expect([out.length, cut]).toEqual([1001, true]);
});

test("it gets its arguments as they are, and of the environment only what is named here", async () => {
	process.env.KERYX_TEST_SECRET = "secret";
	process.env.GIT_AUTHOR_NAME = "somebody";
	pretend(`env > ${folder}/env; printf '%s\\n' "$@" > ${folder}/args`);
	await git({ args: ["x", "; touch /tmp/y", "$(id)", "--", "-z"], repository: folder });
	delete process.env.KERYX_TEST_SECRET;
	delete process.env.GIT_AUTHOR_NAME;
	const env = readFileSync(join(folder, "env"), "utf8");
	expect(env).not.toMatch(/KERYX_TEST_SECRET|GIT_AUTHOR_NAME/);
	for (const line of ["GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0"])
		expect(env).toContain(line);
	expect(readFileSync(join(folder, "args"), "utf8")).toMatch(/\nx\n; touch \/tmp\/y\n\$\(id\)\n--\n-z\n$/);
});

test("what it says when it fails is in the error, and its code tells a missing git from a failing one", async () => {
	pretend("echo 'fatal: no space left on device' >&2; exit 128");
	await expect(git({ args: ["init"], repository: folder })).rejects.toMatchObject({
		code: "checkpoint.failed",
		message: "git init failed: fatal: no space left on device",
	});
	process.env.PATH = join(folder, "nowhere");
	await expect(git({ args: ["init"], repository: folder })).rejects.toMatchObject({
		code: "checkpoint.no_git",
		hint: "install git, or add it to the PATH that Keryx is started with",
	});
	expect(existsSync(join(folder, "HEAD"))).toBe(false);
});
