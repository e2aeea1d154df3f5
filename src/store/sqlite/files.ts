// The store's files are made private before SQLite opens them; SQLite gives its -wal and -shm the same mode.
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

/** Creates the file with mode 0600 where it is missing. One that exists is not opened: closing it would drop SQLite's locks. */
export function createPrivately(path: string): void {
	mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
	try {
		closeSync(openSync(path, "wx", 0o600));
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
	}
}
