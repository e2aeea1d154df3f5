// One owner per store. It holds an exclusive transaction on a tiny database beside the store for its lifetime; the kernel
// frees that on kill -9, so there is nothing stale to clean up. The text beside it says who, for the message only.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import Database from "better-sqlite3";
import { KeryxError } from "../../errors.ts";
import { isStorageFault, toKeryxError } from "./faults.ts";
import { createPrivately } from "./files.ts";
import { type FileId, fileAt, isSameFile } from "./open-files.ts";

/** Two that begin at the same moment can each keep the other from the lock for a moment; then neither would get it. */
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
		// A lock on a file that was replaced meanwhile keeps nobody away.
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
			// While the lock is still held: afterwards the text may be the next owner's. So it may be when the lock's file is another.
			if (isSameFile(file, fileAt(lockFile))) forget(textFile);
			lock.exec("ROLLBACK");
			lock.close();
		},
	};
}

/** Who owns the store, in words; null when nobody does. Only looks: whoever begins at this moment waits for an instant. */
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

/** Where the folder has become read-only the name stays behind, as after kill -9. */
function forget(textFile: string): void {
	try {
		rmSync(textFile, { force: true });
	} catch (error) {
		if (!isStorageFault(error) && toKeryxError(error).code !== "store.unreachable") throw error;
	}
}

/** Nothing reaches the file: the change stays in memory, is never committed, and its journal is no file. */
function lockExclusively(lock: Database.Database): void {
	lock.pragma("journal_mode = MEMORY");
	lock.exec("BEGIN EXCLUSIVE");
	// On a file that cannot be written, SQLite begins a mere reading transaction and says nothing; a write does.
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
			hint: "delete that file, it holds nothing but a lock, then try again",
			cause: error,
		});
	return error;
}

/** Who the text names. One that was killed leaves its name behind until the next owner has written its own. */
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

/** Whether a process of this machine lives, whoever's it is. */
export function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === "EPERM";
	}
}
