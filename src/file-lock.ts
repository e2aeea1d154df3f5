// A lock on a file: an exclusive transaction on a tiny SQLite database. The kernel releases it however its holder ends, so nothing stale
// remains. The caller opens the database, because the process host has only Node's own SQLite. Never open a lock file in any other way:
// closing a second descriptor in the same process drops the lock.

/** Two concurrent starts can block each other briefly; without a retry neither would get the lock. */
export const CONTEST_MS = 250;

/** As better-sqlite3 and node:sqlite have it. */
interface LockDatabase {
	exec(sql: string): unknown;
}

/**
 * Throws if somebody else holds the lock (`isHeld`), or if the file cannot be locked. Closing the database releases the lock. Nothing
 * reaches the file: the change stays in memory, is never committed, and its journal is not a file.
 */
export function lockExclusively(database: LockDatabase): void {
	// On a read-only file SQLite silently starts a read transaction; only a write fails.
	database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE; PRAGMA user_version = 1");
}

/** Whether an error says that somebody else holds the lock. */
export function isHeld(error: unknown): boolean {
	const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown };
	return String(code).startsWith("SQLITE_BUSY") || (Number(errcode) & 0xff) === SQLITE_BUSY;
}

/** The primary result code, as node:sqlite reports it. */
const SQLITE_BUSY = 5;
