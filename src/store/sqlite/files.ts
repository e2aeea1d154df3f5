// The store's files are made private before SQLite opens them; SQLite gives its -wal and -shm the same mode.
import { accessSync, closeSync, constants, existsSync, openSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { KeryxError } from "../../errors.ts";

/**
 * Creates the file with mode 0600 where it is missing. One that exists is not opened: closing it would drop SQLite's locks.
 * A folder that is missing is not made: it may be a disk that is not mounted, and an empty store would take its place.
 */
export function createPrivately(path: string): void {
	try {
		closeSync(openSync(path, "wx", 0o600));
	} catch (error) {
		const code = (error as NodeJS.ErrnoException).code;
		if (code === "EEXIST") {
			assertWritable(path);
			return;
		}
		if (code === "EACCES" && may(constants.R_OK | constants.X_OK, dirname(path)))
			throw new KeryxError("store.readonly", `cannot create ${path}: its folder is not writable`, {
				cause: error,
			});
		throw error;
	}
}

/** SQLite would open a file that it may only read, and leave a log behind that nobody can write afterwards. */
function assertWritable(path: string): void {
	if (may(constants.R_OK, path) && !may(constants.W_OK, path))
		throw new KeryxError("store.readonly", `${path} is not writable`);
}

function may(rights: number, path: string): boolean {
	try {
		accessSync(path, rights);
		return true;
	} catch {
		return false;
	}
}

/** For reading, where nothing is made. SQLite would open a folder, too, and call it a disk that cannot be read. */
export function assertFile(path: string): void {
	if (!statSync(path, { throwIfNoEntry: false })?.isFile())
		throw new KeryxError("store.unreachable", `there is no store at ${path}`, { field: "url" });
}

/** The file a path leads to, so that a link to a store has the same owner as the store. */
export function followLinks(path: string): string {
	return existsSync(path) ? realpathSync(path) : path;
}
