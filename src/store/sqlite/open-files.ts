// Checks whether an owner's open files are still the ones at their paths. A deleted or replaced file can still be written while open, but
// no restart finds it. Uses only stat: opening and closing one here would drop SQLite's locks.
import { type Stats, statfsSync, statSync } from "node:fs";
import type { Connection, LogState } from "./connection.ts";

/** By the suffix after the database's name. */
export type StoreFile = "" | "-wal" | "-shm" | ".owner";

export interface Loss {
	readonly file: StoreFile;
	/** other: another file has its name. written: the same file, but another program wrote into it. */
	readonly how: "gone" | "other" | "written";
}

export interface FileId {
	readonly dev: number;
	readonly ino: number;
}

export interface OpenedFiles {
	/** The path as given, possibly through links: a changed link leads a restart elsewhere. */
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

/** File systems that may later report another time for the same write: only the size counts there. */
const LATE_TIMES: ReadonlySet<number> = new Set([
	0x65735546, // FUSE, virtiofs
	0x01021997, // 9p
	0x6969, // NFS
	0xff534d42, // CIFS
	0xfe534d42, // SMB 2
	0x786f4256, // VirtualBox
]);

/** File systems without compression: fewer blocks than bytes means holes. */
const SOLID: ReadonlySet<number> = new Set([
	0xef53, // ext4
	0x58465342, // XFS
	0x01021994, // tmpfs
]);
/** The block size of stat. */
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
	/** The database file as Keryx left it: only checkpointing the log writes it. Null while it is not at its path. */
	#left: { readonly at: number; readonly size: number } | null = null;
	#isOverwritten = false;
	/** For the log: if it does not get shorter, it need not be counted. */
	#logSize = 0;
	/** SQLite's count of the log, in any program. */
	#log: LogState;
	#others: number;

	/** After the first commit, when all of them exist. */
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
		// A log left by a crash may already have a hole after its end.
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
		// Only then: without the lock another owner may be using the same files.
		const [database, log] = found as [Stats, Stats, Stats, Stats];
		if (this.#isWritten(database)) return { file: "", how: "written" };
		return this.#isCut(log) ? { file: "-wal", how: "written" } : null;
	}

	/** Checkpoints the log once it is long. SQLite would do it by itself, but then the writer would be unknown. */
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

	/** Permanent: the previous state cannot be known. */
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

	/** SQLite may do that in another program, and counts it. When others commit, the log may have restarted. */
	#isFoldedByOthers(): boolean {
		const [log, others] = [this.#log, this.#others];
		this.#log = this.#connection.log();
		this.#others = this.#connection.commitsOfOthers();
		const { frames, folded } = this.#log;
		return folded > log.folded || (frames === 0 && log.frames > 0) || others !== this.#others;
	}

	/** SQLite may truncate the log in another program, but never what it counts, and it never leaves a hole. */
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

/**
 * Pages. Sixteen times SQLite's default: most pages come into the log again and again, and are folded once. Still few enough that nobody
 * waits long: folding holds up the writer for 20 ms in a small store and 60 ms in a large one.
 */
const LONG_LOG = 16_000;
