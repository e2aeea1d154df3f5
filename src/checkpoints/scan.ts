// Looks at every file of a workspace, level by level, and says what a snapshot must hold. Synchronous system calls, which are several
// times faster here: it runs in a thread of its own (worker.ts), never on the event loop.
// Nested repositories are folders like any other: git would record only their commit.
import { type BigIntStats, type Dirent, readdirSync } from "node:fs";
import { KeryxError } from "../errors.ts";
import type { Found, ScanCache } from "./cache.ts";
import { type ExcludeReason, isExcluded } from "./excludes.ts";
import { stateOfLarge } from "./facts.ts";
import { Folders } from "./folders.ts";
import { IGNORE_FILE, type IgnoreBudget, IgnoreRules, ignoreBudget } from "./ignore.ts";
import { coveredBy, type Manifest, readManifest } from "./manifest.ts";
import type { RawPath } from "./names.ts";
import { isUnchanged, statOf } from "./read-file.ts";

export interface ScanLimits {
	readonly maxFiles: number;
	readonly maxFileBytes: number;
	/** Of one that a restore replaces, or has put there: so that it can be undone. */
	readonly maxHeldBytes: number;
}

export interface Scan {
	/** As they were the last time; the caller's from now on. */
	readonly same: Map<RawPath, Found>;
	/** As a restore has written them. */
	readonly written: ReadonlyMap<RawPath, Found>;
	/** New, or with other times than the last time. */
	readonly unknown: readonly RawPath[];
	readonly manifest: Manifest;
	/** Those that are not saved for their size, by their state. */
	readonly large: Map<RawPath, string>;
}

/** Saved although excluded: from now on, or since an earlier snapshot. */
export type Held = ReadonlyMap<RawPath, "now" | "before">;

interface Folder {
	/** Ends with /; the workspace itself is ''. */
	readonly path: string;
	/** A .gitignore of it, or of one above it, is not as it was: what was known of its files says nothing now. */
	readonly stale: boolean;
	/** Of the .gitignore files here and above, where there are any. */
	readonly rules: IgnoreRules | null;
}

interface Candidate {
	readonly path: RawPath;
	readonly kind: "file" | "folder" | "special";
	readonly folder: Folder;
}

const NONE: ReadonlySet<RawPath> = new Set();

/** Throws checkpoint.too_many_files as soon as there are. What is to be held is saved although the rules exclude it. */
export function scan(
	root: string,
	cache: ScanCache | null,
	limits: ScanLimits,
	hold: Held,
	put: ReadonlyMap<RawPath, Found>,
): Scan {
	const written = new Map<RawPath, Found>();
	const same = new Map<RawPath, Found>();
	const unknown: RawPath[] = [];
	const excluded = new Map<RawPath, ExcludeReason>();
	const empty = new Set<RawPath>();
	const large = new Map<RawPath, string>();
	const known = knownIgnored(cache);
	const budget = ignoreBudget();
	const folders = new Folders(root);
	try {
		let level: Folder[] = [{ path: "", stale: cache === null, rules: null }];
		while (level.length > 0) {
			const candidates = level.flatMap((folder) => look({ root, folders, cache, excluded, empty }, folder));
			level = [];
			for (const candidate of candidates) {
				const { path, kind, folder } = candidate;
				if (isIgnored(candidate, cache, known, budget))
					excluded.set(kind === "folder" ? slashed(path) : path, "gitignore");
				else if (kind === "folder") level.push({ ...folder, path: `${path}/` });
				else if (kind === "special") excluded.set(path, "special");
				else file(path);
			}
		}
	} finally {
		folders.close();
	}
	const held = new Set([...hold.keys()].filter((path) => isHeld(path)));
	for (const path of held) file(path, limits.maxHeldBytes);
	return { same, written, unknown, large, manifest: { excluded, empty, held } };

	function isHeld(path: RawPath): boolean {
		const reason = coveredBy({ excluded, held: NONE }, path);
		if (reason === "too_large") return isHeldThoughLarge(path);
		return (reason === "gitignore" || reason === "built_in") && isReached(root, path);
	}

	/** As long as it is what was put there: what it becomes after that is not saved. */
	function isHeldThoughLarge(path: RawPath): boolean {
		const stats = lstat(root, path);
		const before = cache?.files.get(path);
		const isMeant = hold.get(path) === "now" || (before !== undefined && stats && isUnchanged(before, stats));
		if (!isMeant || !stats || stats.size > limits.maxHeldBytes) return false;
		return true;
	}

	function file(path: RawPath, most = limits.maxFileBytes): void {
		const stats = lstat(root, path);
		if (!stats) return;
		if (stats.size > most) {
			excluded.set(path, "too_large");
			large.set(path, stateOfLarge(stats));
			return;
		}
		const before = cache?.files.get(path);
		const own = put.get(path);
		if (before && isUnchanged(before, stats)) same.set(path, before);
		else if (own && isUnchanged(own, stats)) written.set(path, own);
		else unknown.push(path);
		if (same.size + written.size + unknown.length > limits.maxFiles)
			throw new KeryxError(
				"checkpoint.too_many_files",
				`the workspace has more than ${limits.maxFiles} files`,
			);
	}
}

interface Looking {
	readonly root: string;
	readonly folders: Folders;
	readonly cache: ScanCache | null;
	readonly excluded: Map<RawPath, ExcludeReason>;
	readonly empty: Set<RawPath>;
}

/** Everything in one folder that its name does not exclude. */
function look({ root, folders, cache, excluded, empty }: Looking, folder: Folder): Candidate[] {
	const entries = entriesOf(folders, folder.path);
	if (!entries) {
		if (folder.path === "") throw new KeryxError("checkpoint.refused", `${root} cannot be read`);
		excluded.set(folder.path as RawPath, "unreadable");
		return [];
	}
	if (entries === "gone") return [];
	if (entries.length === 0 && folder.path !== "") empty.add(folder.path.slice(0, -1) as RawPath);
	const here = withRules(root, folder, entries, cache);
	const found: Candidate[] = [];
	for (const entry of entries) {
		const path = (folder.path + entry.name) as RawPath;
		const kind = entry.isDirectory() ? "folder" : isSaved(entry) ? "file" : "special";
		if (isExcluded(entry.name, kind === "folder"))
			excluded.set(kind === "folder" ? slashed(path) : path, "built_in");
		else found.push({ path, kind, folder: here });
	}
	return found;
}

function isSaved(entry: Dirent): boolean {
	return entry.isFile() || entry.isSymbolicLink();
}

/** Null where it may not be read. */
function entriesOf(folders: Folders, path: string): Dirent[] | "gone" | null {
	try {
		const folder = folders.open(path.slice(0, -1));
		// A link stands there by now, or nothing.
		if (typeof folder === "string") return path === "" ? null : "gone";
		return readdirSync(folder.at("."), { encoding: "latin1", withFileTypes: true });
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (path !== "" && (code === "ENOENT" || code === "ENOTDIR")) return "gone";
		return null;
	}
}

/** Rules hold from the folder of their file downwards. */
function withRules(
	root: string,
	folder: Folder,
	entries: readonly Dirent[],
	cache: ScanCache | null,
): Folder {
	const path = (folder.path + IGNORE_FILE) as RawPath;
	const before = cache?.files.get(path);
	// As with git, a link of that name holds no rules, nor does anything else that is no file.
	if (!entries.some((entry) => entry.name === IGNORE_FILE && entry.isFile()))
		return before ? { ...folder, stale: true } : folder;
	const stats = lstat(root, path);
	return {
		...folder,
		rules: new IgnoreRules(root, folder.path, folder.rules),
		stale: folder.stale || !before || !stats || !isUnchanged(before, stats),
	};
}

/** Whether the project ignores it. The rules are asked only about what is new, or where they have changed. */
function isIgnored(
	{ path, kind, folder }: Candidate,
	cache: ScanCache | null,
	known: Known,
	budget: IgnoreBudget,
): boolean {
	const isFolder = kind === "folder";
	if (!folder.rules) return false;
	if (!folder.stale) {
		// First: a file that is held is known as a file, too.
		if (known.ignored.has(isFolder ? slashed(path) : path)) return true;
		if (isFolder ? known.folders.has(path) : cache?.files.has(path)) return false;
	}
	return folder.rules.ignores(path, isFolder, budget);
}

interface Known {
	readonly ignored: ReadonlySet<RawPath>;
	readonly folders: ReadonlySet<RawPath>;
}

function knownIgnored(cache: ScanCache | null): Known {
	const ignored = new Set<RawPath>();
	const folders = new Set<RawPath>();
	if (!cache) return { ignored, folders };
	for (const [path, reason] of readManifest(cache.manifest).excluded)
		if (reason === "gitignore") ignored.add(path);
	for (const path of cache.files.keys())
		for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1)) {
			const folder = path.slice(0, slash) as RawPath;
			if (folders.has(folder)) break;
			folders.add(folder);
		}
	return { ignored, folders };
}

/** Whether a file or link stands there, and no link on the way to it. */
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

function slashed(path: RawPath): RawPath {
	return `${path}/` as RawPath;
}
