// Places of the system that work does not write to. A table only.
import type { CommandFacts } from "../types.ts";
import { isWithin } from "./paths.ts";

const FOLDERS =
	`/etc /usr /bin /sbin /boot /lib /lib32 /lib64 /libx32 /sys /proc /root /var /opt /srv /run /dev /System /Library /Applications
	/private/etc /private/var /nix /snap`.split(/\s+/);
const OPEN =
	`/var/tmp /var/folders /private/var/folders /private/var/tmp /dev/shm /dev/fd /dev/null /dev/stdout /dev/stderr /dev/stdin /dev/tty
	/dev/zero /dev/full /dev/tcp /dev/udp /dev/pts /proc/self/fd`.split(/\s+/);

export function isSystemPath(path: string, facts: CommandFacts): boolean {
	// If someone's home or workspace is there, they work there.
	if (isWithin(path, facts.cwd) || isWithin(path, facts.home)) return false;
	if (OPEN.some((folder) => isWithin(path, folder))) return false;
	return path === "/" || FOLDERS.some((folder) => isWithin(path, folder));
}
