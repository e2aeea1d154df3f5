// One owner per store. It holds an exclusive transaction on a tiny database next to the store for its lifetime; the kernel releases it on
// kill -9, so nothing stale remains. The text file next to it names the owner for error messages.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import Database from "better-sqlite3";
import { KeryxError } from "../../errors.ts";
import { isStorageFault, toKeryxError } from "./faults.ts";
import { createPrivately } from "./files.ts";
import { type FileId, fileAt, isSameFile } from "./open-files.ts";

/** Two concurrent starts can block each other briefly; without a retry neither would get the lock. */
const CONTEST_MS = 250;
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

/** The store's owner, in words; null if none. Only looks: a concurrent start waits for an instant. */
export function ownerOf(path: string): string | null {
	const lockFile = `${path}.owner`;
	if (!existsSync(lockFile)) return null;
	const lock = new Database(lockFile, { readonly: true, timeout: 0 });
	try {
		lock.pragma("user_version");
		return null;
	} catch (error) {
		if (!String((error as { code?: unknown }).code).startsWith("SQLITE_BUSY")) throw error;
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

/** Nothing reaches the file: the change stays in memory, is never committed, and its journal is not a file. */
function lockExclusively(lock: Database.Database): void {
	lock.pragma("journal_mode = MEMORY");
	lock.exec("BEGIN EXCLUSIVE");
	// On a read-only file SQLite silently starts a read transaction; only a write fails.
	lock.pragma("user_version = 1");
}

function refusal(error: unknown, path: string, lockFile: string, textFile: string): unknown {
	const code = String((error as { code?: unknown }).code);
	if (code.startsWith("SQLITE_BUSY"))
		return new KeryxError(
			"store.owned",
			`the store ${path} belongs to a running Keryx: ${ownerIn(textFile)}`,
			{
				cause: error,
			},
		);
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
