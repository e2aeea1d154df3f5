// Makes the store's files private before SQLite opens them; SQLite gives its -wal and -shm the same mode.
import { accessSync, closeSync, constants, existsSync, openSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { KeryxError } from "../../errors.ts";

/**
 * Creates the file with mode 0600 if missing. An existing one is not opened: closing it would drop SQLite's locks. A missing folder is
 * not created: it may be an unmounted disk, and an empty store would replace it.
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

/** SQLite would open a read-only file, and leave a log that nobody can write. */
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

/** For reading, which creates nothing. SQLite would also open a folder, and report an unreadable disk. */
export function assertFile(path: string): void {
	if (!statSync(path, { throwIfNoEntry: false })?.isFile())
		throw new KeryxError("store.unreachable", `there is no store at ${path}`, { field: "url" });
}

/** Resolves links, so that a link to a store has the same owner as the store. */
export function followLinks(path: string): string {
	return existsSync(path) ? realpathSync(path) : path;
}
