// A temporary folder in memory for the tests: they make thousands of stores, and what they check is what is left after a kill, not
// after a loss of power, so that waiting for a disk shows nothing. It is mounted for the tests alone and is gone with the last of them.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmdirSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";

/** Less than this is left to the system's own folder. */
const NEEDED_BYTES = 8 * 1024 ** 3;
const OWN_MOUNTS = ["unshare", "--mount", "--propagation", "private", "sh", "-c"];
const MOUNT = 'mount -t tmpfs -o mode=1777,size=6g keryx-test "$0" && exec "$@"';

/** The command and its environment, as they are to be started; where such a folder cannot be had, unchanged. */
export function inMemory(command, env) {
	const plain = { command, env, close: () => {} };
	if (process.platform !== "linux" || process.getuid() !== 0 || freemem() < NEEDED_BYTES) return plain;
	// Short: sockets are made in it, whose paths have a limit.
	const folder = mkdtempSync(join(tmpdir(), "k-"));
	const [unshare, ...options] = OWN_MOUNTS;
	const close = () => rmdirSync(folder);
	if (spawnSync(unshare, [...options, MOUNT, folder, "true"]).status !== 0) {
		close();
		return plain;
	}
	return {
		command: [unshare, ...options, MOUNT, folder, ...command],
		env: { ...env, TMPDIR: folder },
		close,
	};
}
