// One host per home and version: it holds the lock for its lifetime.
import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { CONTEST_MS, isHeld, lockExclusively } from "../../file-lock.ts";

/** Null if another host has it. Keep the result: it is the lock. */
export function takeLock(file: string): DatabaseSync | null {
	closeSync(openSync(file, "a", 0o600));
	const lock = new DatabaseSync(file, { timeout: CONTEST_MS });
	try {
		lockExclusively(lock);
		return lock;
	} catch (error) {
		lock.close();
		if (isHeld(error)) return null;
		throw error;
	}
}
