// One owner per store. It holds the lock on a file next to the store for its lifetime (file-lock.ts); the kernel releases it on kill -9.
// The text file next to it names the owner for error messages.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import Database from "better-sqlite3";
import { KeryxError } from "../../errors.ts";
import { CONTEST_MS, isHeld, lockExclusively } from "../../file-lock.ts";
import { isStorageFault, toKeryxError } from "./faults.ts";
import { createPrivately } from "./files.ts";
import { type FileId, fileAt, isSameFile } from "./open-files.ts";

const JUST_BEGUN = "another process that has just started";

export interface Ownership {
	/** The file that the lock is on. */
	readonly lock: FileId;
	release(): void;
}

export function takeOwnership(path: string, startedAt: number): Ownership {
	const lockFile = `${path}.owner`;
	const textFile = `${path}.owner.txt`;
	createPrivately(lockFile);
	const file = fileAt(lockFile);
	const lock = new Database(lockFile, { timeout: CONTEST_MS });
	try {
		lockExclusively(lock);
		// A lock on a replaced file keeps nobody away.
		if (file === null || !isSameFile(file, fileAt(lockFile)))
			throw new KeryxError("store.owned", `${lockFile} was replaced while Keryx was locking it`, {
				hint: "try again",
			});
		const since = new Date(startedAt).toISOString();
		writeFileSync(textFile, `${hostname()} pid ${process.pid} since ${since}\n`, { mode: 0o600 });
	} catch (error) {
		lock.close();
		throw refusal(error, path, lockFile, textFile);
	}
	return {
		lock: file,
		release: () => {
			// While the lock is still held: afterwards the text may be the next owner's, also if the lock file was replaced.
			if (isSameFile(file, fileAt(lockFile))) forget(textFile);
			lock.exec("ROLLBACK");
			lock.close();
		},
	};
}

/**
 * Locks a file, created if missing; null if somebody else holds the lock. Returns the release function. Does not wait. The lock file stays:
 * removing it could leave two holders, each of another file of the same name.
 */
export function tryLock(file: string): (() => void) | null {
	createPrivately(file);
	const lock = new Database(file, { timeout: 0 });
	try {
		lockExclusively(lock);
		return () => lock.close();
	} catch (error) {
		lock.close();
		if (isHeld(error)) return null;
		throw error;
	}
}

/** The store's owner, in words; null if none. Only looks: a concurrent start waits for an instant. */
export function ownerOf(path: string): string | null {
	const lockFile = `${path}.owner`;
	if (!existsSync(lockFile)) return null;
	const lock = new Database(lockFile, { readonly: true, timeout: 0 });
	try {
		lock.pragma("user_version");
		return null;
	} catch (error) {
		if (!isHeld(error)) throw error;
		return ownerIn(`${path}.owner.txt`);
	} finally {
		lock.close();
	}
}

/** Who has taken the store from this process, in words. */
export function currentOwner(path: string): string {
	const owner = ownerIn(`${path}.owner.txt`);
	return owner.startsWith(`${hostname()} pid ${process.pid} since`) ? JUST_BEGUN : owner;
}

/** If the folder has become read-only, the name stays, as after kill -9. */
function forget(textFile: string): void {
	try {
		rmSync(textFile, { force: true });
	} catch (error) {
		if (!isStorageFault(error) && toKeryxError(error).code !== "store.unreachable") throw error;
	}
}

function refusal(error: unknown, path: string, lockFile: string, textFile: string): unknown {
	if (isHeld(error))
		return new KeryxError(
			"store.owned",
			`the store ${path} belongs to a running Keryx: ${ownerIn(textFile)}`,
			{
				cause: error,
			},
		);
	const code = String((error as { code?: unknown }).code);
	if (code.startsWith("SQLITE_NOTADB") || code.startsWith("SQLITE_CORRUPT"))
		return new KeryxError("store.corrupt", `${lockFile} is not the file Keryx put there`, {
			hint: "delete that file (it is only a lock), then try again",
			cause: error,
		});
	return error;
}

/** The owner named by the text. A killed one leaves its name until the next owner writes. */
function ownerIn(textFile: string): string {
	const text = readText(textFile);
	const [, host, pid] = /^(\S+) pid (\d+) since \S+$/.exec(text) ?? [];
	if (pid === undefined || (host === hostname() && !isAlive(Number(pid)))) return JUST_BEGUN;
	return text;
}

function readText(file: string): string {
	try {
		return readFileSync(file, "utf8").trim();
	} catch {
		return "";
	}
}

/** Whether a process of this machine is alive, of any user. */
export function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === "EPERM";
	}
}
