// Folders for stores that many commits go to: on a disk in memory where there is one, for a commit waits for its disk.
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new empty folder; whoever asks for it removes it. */
export function quickFolder(prefix: string): string {
	return mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), prefix));
}
