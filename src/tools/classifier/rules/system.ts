import { absolutePath, isWithin } from "../paths.ts";
import { writtenPaths } from "../targets.ts";
import { shownOperand } from "../text.ts";
import type { Rule } from "../types.ts";

const FOLDERS = [
	"/etc",
	"/usr",
	"/bin",
	"/sbin",
	"/boot",
	"/lib",
	"/lib32",
	"/lib64",
	"/libx32",
	"/sys",
	"/proc",
	"/root",
	"/var",
	"/opt",
	"/srv",
	"/run",
	"/dev",
	"/System",
	"/Library",
	"/Applications",
	"/private/etc",
	"/private/var",
	"/nix",
];
const OPEN = [
	"/var/tmp",
	"/var/folders",
	"/private/var/folders",
	"/private/var/tmp",
	"/dev/shm",
	"/dev/fd",
	"/dev/null",
	"/dev/stdout",
	"/dev/stderr",
	"/dev/stdin",
	"/dev/tty",
	"/dev/zero",
	"/dev/full",
	"/dev/tcp",
	"/dev/udp",
	"/dev/pts",
	"/proc/self/fd",
];

export const systemRule: Rule = {
	name: "system",
	action: "run_command",
	look(invocation, facts) {
		for (const field of writtenPaths(invocation)) {
			const path = absolutePath(field.text, invocation.cwd);
			if (path === null) continue;
			// Somebody whose home or workspace lies there works there.
			if (isWithin(path, facts.cwd) || isWithin(path, facts.home)) continue;
			if (OPEN.some((folder) => isWithin(path, folder))) continue;
			if (path === "/" || FOLDERS.some((folder) => isWithin(path, folder)))
				return { why: `writes to a place of the system: ${shownOperand(path)}` };
		}
		return null;
	},
};
