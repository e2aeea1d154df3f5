// The files that an owner has open: whether they are still the ones at their paths. A file that was deleted or replaced can be
// written for as long as it is open, and no restart finds what was written. Only looks, by stat: to open one of them here and close
// it again would drop SQLite's locks.
import { type Stats, statfsSync, statSync } from "node:fs";
import type { Connection, LogState } from "./connection.ts";

/** By what it has behind the database's name. */
export type StoreFile = "" | "-wal" | "-shm" | ".owner";

export interface Loss {
	readonly file: StoreFile;
	/** other: another file has its name. written: it is the same file, and another program has written into it. */
	readonly how: "gone" | "other" | "written";
}

export interface FileId {
	readonly dev: number;
	readonly ino: number;
}

export interface OpenedFiles {
	/** The path as it was given, which may lead over links: one that is set anew leads a restart elsewhere. */
	readonly given: string;
	readonly path: string;
	readonly database: FileId | null;
	readonly lock: FileId;
}

interface Watched {
	readonly file: StoreFile;
	readonly path: string;
	readonly id: FileId | null;
}

const LOOK = { throwIfNoEntry: false } as const;

/** File systems that may give another time later for the same write: there only the size counts. */
const LATE_TIMES: ReadonlySet<number> = new Set([
	0x65735546, // FUSE, virtiofs
	0x01021997, // 9p
	0x6969, // NFS
	0xff534d42, // CIFS
	0xfe534d42, // SMB 2
	0x786f4256, // VirtualBox
]);

/** File systems that compress nothing: there a file with fewer blocks than bytes has holes. */
const SOLID: ReadonlySet<number> = new Set([
	0xef53, // ext4
	0x58465342, // XFS
	0x01021994, // tmpfs
]);
/** What stat counts blocks in. */
const BLOCK = 512;

export function fileAt(path: string): FileId | null {
	const found = statSync(path, LOOK);
	return found ? { dev: found.dev, ino: found.ino } : null;
}

export function isSameFile(one: FileId | null, other: FileId | null): boolean {
	return one !== null && other !== null && one.ino === other.ino && one.dev === other.dev;
}

export class OpenFiles {
	readonly #connection: Connection;
	readonly #watched: readonly [Watched, ...Watched[]];
	readonly #hasTimes: boolean;
	readonly #isSolid: boolean;
	/**
	 * How Keryx has left the database: its file is written by folding the log into it, and in no other way. Null while it is not at its
	 * path, since it cannot be looked at there.
	 */
	#left: { readonly at: number; readonly size: number } | null = null;
	#isOverwritten = false;
	/** Of the log: one that does not get shorter need not be counted. */
	#logSize = 0;
	/** What SQLite counts of the log, whatever program it runs in. */
	#log: LogState;
	#others: number;

	/** After the first commit, when all of them are there. */
	constructor(connection: Connection, { given, path, database, lock }: OpenedFiles) {
		this.#connection = connection;
		this.#watched = [
			{ file: "", path: given, id: database },
			{ file: "-wal", path: `${path}-wal`, id: fileAt(`${path}-wal`) },
			{ file: "-shm", path: `${path}-shm`, id: fileAt(`${path}-shm`) },
			{ file: ".owner", path: `${path}.owner`, id: lock },
		];
		const { type } = statfsSync(path);
		this.#hasTimes = process.platform !== "linux" || !LATE_TIMES.has(type);
		this.#log = connection.log();
		this.#others = connection.commitsOfOthers();
		this.#noteLeft();
		const log = statSync(`${path}-wal`, LOOK);
		// A log that a crash left behind may have a hole behind its end already.
		this.#isSolid = process.platform === "linux" && SOLID.has(type) && log !== undefined && !hasHoles(log);
	}

	/** What is wrong with them, the database first; null: nothing. */
	look(): Loss | null {
		const found: Stats[] = [];
		for (const { file, path, id } of this.#watched) {
			const one = statSync(path, LOOK);
			if (!one) return { file, how: "gone" };
			if (!isSameFile(one, id)) return { file, how: "other" };
			found.push(one);
		}
		// Only then: without the lock another owner may be at work on the same files.
		const [database, log] = found as [Stats, Stats, Stats, Stats];
		if (this.#isWritten(database)) return { file: "", how: "written" };
		return this.#isCut(log) ? { file: "-wal", how: "written" } : null;
	}

	/** Folds the log into the database once it is long. SQLite would do it by itself, but then it is not known who wrote. */
	foldIfLong(): void {
		this.#log = this.#connection.log();
		const { frames, folded } = this.#log;
		if (frames >= LONG_LOG && folded < frames) this.fold("PASSIVE");
	}

	fold(mode: "PASSIVE" | "TRUNCATE"): void {
		try {
			this.#connection.fold(mode);
		} finally {
			this.#log = this.#connection.log();
			this.#noteLeft();
		}
	}

	/** For good: how it was before cannot be had again. */
	get isOverwritten(): boolean {
		return this.#isOverwritten;
	}

	#noteLeft(): void {
		const [{ path, id }] = this.#watched;
		const found = statSync(path, LOOK);
		this.#left = found && isSameFile(found, id) ? { at: found.mtimeMs, size: found.size } : null;
	}

	#isWritten({ mtimeMs: at, size }: Stats): boolean {
		const left = this.#left;
		if (left && size === left.size && (at === left.at || !this.#hasTimes)) return this.#isOverwritten;
		this.#isOverwritten ||= left !== null && !this.#isFoldedByOthers();
		if (!this.#isOverwritten) this.#left = { at, size };
		return this.#isOverwritten;
	}

	/** SQLite may do that in another program, and counts it. When others commit, the log may have been begun anew since. */
	#isFoldedByOthers(): boolean {
		const [log, others] = [this.#log, this.#others];
		this.#log = this.#connection.log();
		this.#others = this.#connection.commitsOfOthers();
		const { frames, folded } = this.#log;
		return folded > log.folded || (frames === 0 && log.frames > 0) || others !== this.#others;
	}

	/** SQLite may cut the log in another program, but never what it counts of it; and it never leaves a hole in it. */
	#isCut(log: Stats): boolean {
		if (log.size < this.#logSize && log.size < this.#connection.logBytes()) return true;
		if (this.#isSolid && hasHoles(log)) return true;
		this.#logSize = log.size;
		return false;
	}
}

function hasHoles({ size, blocks }: Stats): boolean {
	return blocks * BLOCK < size;
}

/** Pages; what SQLite takes by itself. */
const LONG_LOG = 1000;
