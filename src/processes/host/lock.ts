// One host per home and version. It holds an exclusive transaction on a tiny database for its lifetime, as the store's owner does;
// the kernel frees it however the host ends.
import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** Two that begin at the same moment can each keep the other from the lock for a moment; then neither would get it. */
const CONTEST_MS = 250;

/** Null when another host has it. What is answered must be kept: it is the lock. */
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
