// Scans a workspace level by level, and says what a snapshot must contain. Uses synchronous system calls, which are several times faster
// here: it runs in its own thread (worker.ts), never on the event loop. An unchanged file costs one system call and one comparison.
// Nested repositories are ordinary folders: git would record only their commit.
import { type BigIntStats, type Dirent, lstatSync, readdirSync } from "node:fs";
import { KeryxError } from "../errors.ts";
import type { ScanCache } from "./cache.ts";
import { type ExcludeReason, isExcluded } from "./excludes.ts";
import { stateOfLarge } from "./facts.ts";
import { type FileTable, type FolderRows, type Found, FoundFiles, NO_FILES } from "./file-table.ts";
import { Folders } from "./folders.ts";
import { IGNORE_FILE, type IgnoreBudget, IgnoreRules, ignoreBudget } from "./ignore.ts";
import { coveredBy, type Manifest, readManifest } from "./manifest.ts";
import { callPath, nameOf, parentOf, type RawPath } from "./names.ts";
import { isUnchanged, statOf } from "./read-file.ts";

export interface ScanLimits {
	readonly maxFiles: number;
	readonly maxFileBytes: number;
	/** For files that a restore replaces or restored, so that it can be undone. */
	readonly maxHeldBytes: number;
}

export interface Scan {
	/** Files unchanged since the last scan are kept. The caller owns it from now on. */
	readonly files: FoundFiles;
	/** Files written by a restore. */
	readonly written: ReadonlyMap<RawPath, Found>;
	/** New files, or files with changed times. */
	readonly unknown: readonly RawPath[];
	readonly manifest: Manifest;
	/** Files too large to save, by fingerprint. */
	readonly large: Map<RawPath, string>;
}

/** Saved although excluded: from now on, or since an earlier snapshot. */
export type Held = ReadonlyMap<RawPath, "now" | "before">;

interface Folder {
	/** Ends with /; '' for the workspace. */
	readonly path: string;
	/** A .gitignore here or above has changed: earlier results do not count. */
	readonly stale: boolean;
	/** The .gitignore rules here and above, if any. */
	readonly rules: IgnoreRules | null;
}

const NONE: ReadonlySet<RawPath> = new Set();
const NO_NAMES: ReadonlySet<string> = new Set();
const QUIET = { throwIfNoEntry: false } as const;

/** Throws checkpoint.too_many_files as soon as the limit is passed. Held files are saved although the rules exclude them. */
export function scan(
	root: string,
	cache: ScanCache | null,
	limits: ScanLimits,
	hold: Held,
	put: ReadonlyMap<RawPath, Found>,
): Scan {
	const looking = new Looking(root, cache, limits, put);
	looking.all();
	const held = new Set([...hold.keys()].filter((path) => looking.isHeld(path, hold)));
	for (const path of held) looking.file(path, looking.before.rowOf(path), limits.maxHeldBytes);
	const { files, written, unknown, large, excluded, empty } = looking;
	return { files, written, unknown, large, manifest: { excluded, empty, held } };
}

class Looking {
	readonly before: FileTable;
	readonly files: FoundFiles;
	readonly written = new Map<RawPath, Found>();
	readonly unknown: RawPath[] = [];
	readonly excluded = new Map<RawPath, ExcludeReason>();
	readonly empty = new Set<RawPath>();
	readonly large = new Map<RawPath, string>();
	readonly #root: string;
	readonly #limits: ScanLimits;
	readonly #put: ReadonlyMap<RawPath, Found>;
	readonly #isFirst: boolean;
	readonly #known: Known;
	readonly #budget: IgnoreBudget = ignoreBudget();
	readonly #folders: Folders;

	constructor(root: string, cache: ScanCache | null, limits: ScanLimits, put: ReadonlyMap<RawPath, Found>) {
		this.#root = root;
		this.#limits = limits;
		this.#put = put;
		this.#isFirst = cache === null;
		this.before = cache?.files ?? NO_FILES;
		this.files = new FoundFiles(this.before);
		this.#known = knownIgnored(cache);
		this.#folders = new Folders(root);
	}

	all(): void {
		try {
			let level: Folder[] = [{ path: "", stale: this.#isFirst, rules: null }];
			while (level.length > 0) level = level.flatMap((folder) => this.#look(folder));
		} finally {
			this.#folders.close();
		}
	}

	/** Scans one folder. Returns the subfolders to scan. */
	#look(given: Folder): Folder[] {
		const entries = entriesOf(this.#folders, given.path);
		if (!entries) {
			if (given.path === "") throw new KeryxError("checkpoint.refused", `${this.#root} cannot be read`);
			this.excluded.set(given.path as RawPath, "unreadable");
			return [];
		}
		if (entries === "gone") return [];
		if (entries.length === 0 && given.path !== "") this.empty.add(given.path.slice(0, -1) as RawPath);
		const rows = this.before.folder(given.path);
		const folder = this.#withRules(given, entries);
		const ignored = this.#known.ignored.get(folder.path) ?? NO_NAMES;
		const inside: Folder[] = [];
		for (const entry of entries) {
			const { name } = entry;
			const isFolder = entry.isDirectory();
			if (isExcluded(name, isFolder)) this.#exclude(folder.path + name, isFolder, "built_in");
			else if (isFolder) {
				const path = (folder.path + name) as RawPath;
				if (this.#isIgnored(folder, name, true, ignored, this.#known.folders.has(path)))
					this.#exclude(path, true, "gitignore");
				else inside.push({ ...folder, path: `${path}/` });
			} else this.#entry(folder, entry, rows, ignored);
		}
		return inside;
	}

	#entry(folder: Folder, entry: Dirent, rows: FolderRows | undefined, ignored: ReadonlySet<string>): void {
		const { name } = entry;
		const row = rows?.find(name) ?? -1;
		if (this.#isIgnored(folder, name, false, ignored, row >= 0))
			this.#exclude(folder.path + name, false, "gitignore");
		else if (!isSaved(entry)) this.#exclude(folder.path + name, false, "special");
		else this.file((folder.path + name) as RawPath, row);
	}

	#exclude(path: string, isFolder: boolean, reason: ExcludeReason): void {
		this.excluded.set((isFolder ? `${path}/` : path) as RawPath, reason);
	}

	/** Whether the project ignores it. The rules are used only for new files, or if they have changed. */
	#isIgnored(
		{ path, stale, rules }: Folder,
		name: string,
		isFolder: boolean,
		ignored: ReadonlySet<string>,
		isKnown: boolean,
	): boolean {
		if (!rules) return false;
		if (!stale) {
			// First, because a held file is also known as a file.
			if (ignored.has(isFolder ? `${name}/` : name)) return true;
			if (isKnown) return false;
		}
		return rules.ignores((path + name) as RawPath, isFolder, this.#budget);
	}

	/** An existing entry. `row`: its row in the last scan; -1 if it is new. */
	file(path: RawPath, row: number, most = this.#limits.maxFileBytes): void {
		if (row >= 0 && this.#isSame(path, row, most)) this.files.keep(row);
		else if (!this.#isOther(path, row, most)) return;
		const { maxFiles } = this.#limits;
		if (this.files.kept + this.written.size + this.unknown.length > maxFiles)
			throw new KeryxError("checkpoint.too_many_files", `the workspace has more than ${maxFiles} files`);
	}

	/** From the system's plain numbers. If one is not exact, the file is checked again. */
	#isSame(path: RawPath, row: number, most: number): boolean {
		try {
			const stats = lstatSync(callPath(this.#root, path), QUIET);
			if (!stats || stats.size > most || !Number.isSafeInteger(stats.ino)) return false;
			return this.before.isUnchanged(row, stats);
		} catch {
			return false;
		}
	}

	/** False: it is gone, or too large. */
	#isOther(path: RawPath, row: number, most: number): boolean {
		const stats = lstat(this.#root, path);
		if (!stats) return false;
		if (stats.size > most) {
			this.excluded.set(path, "too_large");
			this.large.set(path, stateOfLarge(stats));
			return false;
		}
		const before = row < 0 ? undefined : this.before.get(path);
		const own = this.#put.get(path);
		if (before && isUnchanged(before, stats)) this.files.keep(row);
		else if (own && isUnchanged(own, stats)) this.written.set(path, own);
		else this.unknown.push(path);
		return true;
	}

	/** Rules apply from their file's folder downwards. */
	#withRules(folder: Folder, entries: readonly Dirent[]): Folder {
		const path = (folder.path + IGNORE_FILE) as RawPath;
		const before = this.before.get(path);
		// As with git, only a regular file of that name holds rules, not a link.
		if (!entries.some((entry) => entry.name === IGNORE_FILE && entry.isFile()))
			return before || this.#known.ignored.get(folder.path)?.has(IGNORE_FILE)
				? { ...folder, stale: true }
				: folder;
		const stats = lstat(this.#root, path);
		return {
			...folder,
			rules: new IgnoreRules(this.#root, folder.path, folder.rules),
			stale: folder.stale || !before || !stats || !isUnchanged(before, stats),
		};
	}

	isHeld(path: RawPath, hold: Held): boolean {
		const reason = coveredBy({ excluded: this.excluded, held: NONE }, path);
		if (reason === "too_large") return this.#isHeldThoughLarge(path, hold);
		return (reason === "gitignore" || reason === "built_in") && isReached(this.#root, path);
	}

	/** Only while it is what the restore wrote; later changes are not saved. */
	#isHeldThoughLarge(path: RawPath, hold: Held): boolean {
		const stats = lstat(this.#root, path);
		const before = this.before.get(path);
		const isMeant = hold.get(path) === "now" || (before !== undefined && stats && isUnchanged(before, stats));
		return isMeant === true && stats !== undefined && stats.size <= this.#limits.maxHeldBytes;
	}
}

function isSaved(entry: Dirent): boolean {
	return entry.isFile() || entry.isSymbolicLink();
}

/** Null if it may not be read. */
function entriesOf(folders: Folders, path: string): Dirent[] | "gone" | null {
	try {
		const folder = folders.open(path.slice(0, -1));
		// It is a link by now, or gone.
		if (typeof folder === "string") return path === "" ? null : "gone";
		return listed(folder.at("."));
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (path !== "" && (code === "ENOENT" || code === "ENOTDIR")) return "gone";
		return null;
	}
}

interface Known {
	/** Ignored names, by folder; names of folders end with /. */
	readonly ignored: ReadonlyMap<string, ReadonlySet<string>>;
	readonly folders: ReadonlySet<RawPath>;
}

function knownIgnored(cache: ScanCache | null): Known {
	const ignored = new Map<string, Set<string>>();
	const folders = new Set<RawPath>();
	if (!cache) return { ignored, folders };
	for (const [path, reason] of readManifest(cache.manifest).excluded) {
		if (reason !== "gitignore") continue;
		const isFolder = path.endsWith("/");
		const plain = isFolder ? path.slice(0, -1) : path;
		const parent = parentOf(plain);
		const folder = parent === "" ? "" : `${parent}/`;
		const names = ignored.get(folder) ?? new Set();
		names.add(isFolder ? `${nameOf(plain)}/` : nameOf(plain));
		ignored.set(folder, names);
	}
	for (const [path] of cache.files.folders())
		for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1)) {
			const folder = path.slice(0, slash) as RawPath;
			if (folders.has(folder)) break;
			folders.add(folder);
		}
	return { ignored, folders };
}

/** Whether a file or link exists there, with no link on the way. */
function isReached(root: string, path: RawPath): boolean {
	for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1))
		if (!lstat(root, path.slice(0, slash) as RawPath)?.isDirectory()) return false;
	const stats = lstat(root, path);
	return stats !== undefined && (stats.isFile() || stats.isSymbolicLink());
}

function lstat(root: string, path: RawPath): BigIntStats | undefined {
	try {
		return statOf(root, path);
	} catch {
		return undefined;
	}
}

/** Some file systems do not report the type of an entry (NFS in large folders, old XFS): Node then fails on a path of bytes. */
function listed(folder: Buffer): Dirent[] {
	try {
		return readdirSync(folder, { encoding: "latin1", withFileTypes: true });
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ERR_INVALID_ARG_TYPE") throw error;
	}
	return readdirSync(folder, { encoding: "latin1" }).flatMap((name) => {
		const stats = lstatSync(Buffer.concat([folder, Buffer.from(`/${name}`, "latin1")]), QUIET);
		return stats ? [Object.assign(stats, { name }) as unknown as Dirent] : [];
	});
}
