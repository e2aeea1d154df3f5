// One host per home and version. It holds an exclusive transaction on a tiny database for its lifetime, as the store's owner does; the
// kernel releases it however the host ends.
import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** Two concurrent starts can block each other briefly; without a retry neither would get the lock. */
const CONTEST_MS = 250;

/** Null if another host has it. Keep the result: it is the lock. */
export function takeLock(file: string): DatabaseSync | null {
	closeSync(openSync(file, "a", 0o600));
	const lock = new DatabaseSync(file, { timeout: CONTEST_MS });
	try {
		lock.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE; PRAGMA user_version = 1");
		return lock;
	} catch (error) {
		lock.close();
		if (/locked|busy/i.test((error as Error).message)) return null;
		throw error;
	}
}
