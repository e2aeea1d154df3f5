// One snapshot: scans the workspace, passes changes to `git fast-import`, and remembers what it saw. A commit has no parent, so that
// dropping one frees what only it held; it also contains the manifest. Runs in its own thread (worker.ts).
import { rmSync } from "node:fs";
import { KeryxError } from "../errors.ts";
import { cacheFile, readCache, type ScanCache, writeCache } from "./cache.ts";
import type { ExcludeReason } from "./excludes.ts";
import { FACTS, stateOfLarge, usualPermissions, writeFacts } from "./facts.ts";
import type { FileTable, Found, FoundFiles } from "./file-table.ts";
import { Folders } from "./folders.ts";
import { git } from "./git.ts";
import {
	type ExcludedSummary,
	MANIFEST,
	type Manifest,
	readManifest,
	summaryOf,
	union,
	writeManifest,
} from "./manifest.ts";
import { quoted, type RawPath } from "./names.ts";
import { foundOf, isOlder, type Reading } from "./read-file.ts";
import type { Written } from "./restore/writes.ts";
import { type Held, type Scan, type ScanLimits, scan } from "./scan.ts";

const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const FILES = "files";
const GATHERED_BYTES = 256 * 1024;
/** Memory for contents that were read for comparison and are needed again. */
const KEPT_BYTES = 64 * 1024 * 1024;

export interface SnapshotRequest {
	readonly root: string;
	readonly repository: string;
	/** The ref of the commit. */
	readonly ref: string;
	readonly message: string;
	readonly at: number;
	readonly limits: ScanLimits;
	/** The last checkpoint, if it must learn which files are not saved. */
	readonly last: { readonly commit: string; readonly tree: string } | null;
	/** The last checkpoint's commit: held files stay held. Used only without a cache, which has this information too. */
	readonly heldIn: string | null;
	/** Files that a restore has just written: saved even if the current rules exclude them. */
	readonly hold: readonly RawPath[];
}

export interface Snapshot {
	readonly commit: string;
	readonly tree: string;
	readonly files: number;
	readonly excluded: readonly ExcludedSummary[];
	/** The commit of the last checkpoint, if this one has the same files and knows more about unsaved ones. */
	readonly replaces: string | null;
}

/** A snapshot that is in git. */
type Made = Omit<ScanCache, "files">;

interface Change {
	readonly path: RawPath;
	/** Without its content if the repository has it. */
	readonly entry: Reading | Found | null;
}

const NOTHING: Written = new Map();

/** Files that a restore has just written are not read again if they are unchanged. */
export async function makeSnapshot(request: SnapshotRequest, written: Written = NOTHING): Promise<Snapshot> {
	const file = cacheFile(request.repository);
	const cache = readCache(file);
	if (!cache) return attempt(request, null, NOTHING);
	try {
		return await attempt(request, cache, written);
	} catch (error) {
		if (!(error instanceof KeryxError) || error.code !== "checkpoint.failed") throw error;
		// The cache's base may be gone: then everything is read.
		rmSync(file, { force: true });
		return attempt(request, null, NOTHING);
	}
}

async function attempt(
	request: SnapshotRequest,
	cache: ScanCache | null,
	written: Written,
): Promise<Snapshot> {
	const look = Look.at(request, cache, await heldSince(request, cache), written);
	try {
		return await snapshotOf(look, request, cache);
	} finally {
		look.close();
	}
}

async function snapshotOf(look: Look, request: SnapshotRequest, cache: ScanCache | null): Promise<Snapshot> {
	const { repository, last } = request;
	if (cache && look.isUnchanged(cache)) return sameFiles(request, cache, look);
	const made = await commit(request, cache?.tree ?? EMPTY_TREE, look.removed, look.changes(), () => ({
		manifest: writeManifest(look.manifest),
		facts: look.facts(),
	}));
	writeCache(cacheFile(repository), look.files.columns(), made);
	// Back at the files of the last checkpoint, after a scan that created none.
	if (last?.tree === made.tree) return sameFiles(request, made, look);
	const { commit: id, tree } = made;
	return { commit: id, tree, files: look.files.size, excluded: summaryOf(look.manifest), replaces: null };
}

/** No saved file changed, but unsaved ones may have: the checkpoint with these files must record both states. */
async function sameFiles(request: SnapshotRequest, cache: Made, look: Look): Promise<Snapshot> {
	const { repository, last } = request;
	const own = last?.tree === cache.tree ? last.commit : cache.commit;
	const list = own === cache.commit ? cache.manifest : await manifestIn(repository, own);
	const base = readManifest(list);
	const merged = union(base, look.manifest);
	const rest = { files: look.files.size, excluded: summaryOf(look.manifest) };
	if (merged === base) {
		const { tree, facts } = cache;
		const same = { tree, commit: own, manifest: list, facts };
		writeCache(cacheFile(repository), look.files.columns(), same);
		return { commit: own, tree: cache.tree, ...rest, replaces: null };
	}
	const manifest = writeManifest(merged);
	const { facts } = cache;
	const made = await commit(request, cache.tree, new Set(), [], () => ({ manifest, facts }));
	writeCache(cacheFile(repository), look.files.columns(), made);
	return { commit: made.commit, tree: made.tree, ...rest, replaces: own };
}

async function heldSince(
	{ repository, heldIn, hold }: SnapshotRequest,
	cache: ScanCache | null,
): Promise<Held> {
	const list = cache?.manifest ?? (heldIn === null ? null : await manifestIn(repository, heldIn));
	const held = new Map<RawPath, "now" | "before">();
	// Without a cache it is unknown whether such a file changed: it counts as unchanged.
	for (const path of list ? readManifest(list).held : []) held.set(path, cache ? "before" : "now");
	for (const path of hold) held.set(path, "now");
	return held;
}

async function manifestIn(repository: string, commit: string): Promise<Buffer> {
	return (await git({ args: ["cat-file", "blob", `${commit}:${MANIFEST}`], repository })).out;
}

/** The workspace compared with the cache. */
class Look {
	readonly files: FoundFiles;
	/** Removed or replaced; a replaced file is also among the changes. */
	readonly removed = new Set<RawPath>();
	readonly manifest: Manifest & { readonly excluded: Map<RawPath, ExcludeReason> };
	/** With contents that were already read, as long as memory allows. */
	readonly #changed = new Map<RawPath, Reading | null>();
	/** The repository has their contents. */
	readonly #known = new Map<RawPath, Found>();
	#room = KEPT_BYTES;
	readonly #large: Map<RawPath, string>;
	readonly #request: SnapshotRequest;
	readonly #began: bigint;
	readonly #folders: Folders;

	private constructor(request: SnapshotRequest, began: bigint, { files, large, manifest }: Scan) {
		this.#request = request;
		this.#began = began;
		this.#folders = new Folders(request.root);
		this.files = files;
		this.#large = large;
		this.manifest = { ...manifest, excluded: new Map(manifest.excluded) };
	}

	static at(request: SnapshotRequest, cache: ScanCache | null, hold: Held, written: Written): Look {
		const began = BigInt(Date.now()) * 1_000_000n;
		const found = scan(request.root, cache, request.limits, hold, written);
		const look = new Look(request, began, found);
		for (const path of cache ? goneOrOther(cache.files, found) : []) look.removed.add(path);
		for (const [path, entry] of found.written) look.#take(path, entry, cache?.files.get(path));
		for (const path of found.unknown) look.#compare(path, cache?.files.get(path));
		return look;
	}

	/** Called when nothing more is read. */
	close(): void {
		this.#folders.close();
	}

	isUnchanged(cache: ScanCache): boolean {
		return (
			this.#changed.size === 0 &&
			this.#known.size === 0 &&
			this.removed.size === 0 &&
			this.facts().equals(cache.facts)
		);
	}

	/** Counts of what was found, valid after all of it was read. */
	facts(): Buffer {
		const permissions = new Map(this.files.unusual(usualPermissions));
		const [large, held] = [new Map<RawPath, string>(), new Map<RawPath, string>()];
		for (const [path, state] of this.#large) (this.files.has(path) ? held : large).set(path, state);
		return writeFacts({ permissions, large, held });
	}

	/** Reads each on demand: they are never all in memory. */
	*changes(): Generator<Change> {
		for (const [path, entry] of this.#known) yield { path, entry };
		for (const [path, read] of this.#changed) {
			const entry = read ?? this.#read(path);
			this.#changed.set(path, null);
			if (entry) this.#note(path, entry);
			yield { path, entry };
		}
	}

	/** Most files with new times have their old content. */
	#compare(path: RawPath, before: Found | undefined): void {
		const entry = before && this.#read(path);
		if (before && !entry) return;
		const isSame = entry?.oid === before?.oid && entry?.mode === before?.mode;
		if (entry && isSame) {
			this.removed.delete(path);
			this.#note(path, entry);
		} else this.#changed.set(path, entry ? this.#kept(entry) : null);
	}

	#take(path: RawPath, entry: Found, before: Found | undefined): void {
		this.files.set(path, entry);
		if (entry.oid !== before?.oid || entry.mode !== before.mode) this.#known.set(path, entry);
	}

	#kept(entry: Reading): Reading | null {
		this.#room -= entry.data.length;
		return this.#room >= 0 ? entry : null;
	}

	/** A file that became unreadable or too large is treated as if it had always been. */
	#read(path: RawPath): Reading | null {
		const { limits } = this.#request;
		try {
			const entry = this.#folders.read(path);
			const most = this.manifest.held.has(path) ? limits.maxHeldBytes : limits.maxFileBytes;
			if (!entry || entry.data.length <= most) return entry;
			this.manifest.excluded.set(path, "too_large");
			this.#large.set(path, stateOfLarge(entry.stats));
		} catch {
			this.manifest.excluded.set(path, "unreadable");
		}
		return null;
	}

	#note(path: RawPath, { oid, stats, steady }: Reading): void {
		const found = foundOf(oid, stats);
		const isProven = steady && isOlder(stats.ctimeNs, this.#began);
		this.files.set(path, isProven ? found : { ...found, ctime: 0 });
	}
}

/** Files in the cache that this scan did not find. Searches all of them only if one is missing. */
function goneOrOther(before: FileTable, { files, written, unknown }: Scan): readonly RawPath[] {
	const known = unknown.filter((path) => before.rowOf(path) >= 0);
	const rewritten = [...written.keys()].filter((path) => before.rowOf(path) >= 0);
	if (files.kept + rewritten.length + known.length === before.size) return known;
	return [...files.unkept()].filter((path) => !written.has(path));
}

/** Resolves when git has written the commit and its ref to disk; before that, nothing of it is visible. */
async function commit(
	{ repository, ref, message, at }: SnapshotRequest,
	tree: string,
	removed: ReadonlySet<RawPath>,
	changes: Iterable<Change>,
	rest: () => Pick<ScanCache, "manifest" | "facts">,
): Promise<Made> {
	let scanned: ReturnType<typeof rest> | undefined;
	const { out } = await git({
		args: ["fast-import", "--quiet", "--done", "--force", "--date-format=raw"],
		repository,
		input: gathered(stream()),
		timeoutMs: 600_000,
	});
	const [made = "", files = ""] = out.toString("latin1").split("\n");
	const [, oid = EMPTY_TREE] = /^040000 tree ([0-9a-f]{40})/.exec(files) ?? [];
	if (!scanned || !/^[0-9a-f]{40}$/.test(made))
		throw new KeryxError("checkpoint.failed", "git made no commit");
	return { commit: made, tree: oid, ...scanned };

	function* stream(): Generator<Buffer> {
		const seconds = Math.floor(at / 1000);
		const text = Buffer.from(message);
		yield Buffer.from(
			`commit ${ref}\nmark :1\ncommitter Keryx <keryx> ${seconds} +0000\ndata ${text.length}\n`,
		);
		yield text;
		yield Buffer.from("\n");
		if (tree !== EMPTY_TREE) yield Buffer.from(`M 040000 ${tree} ${FILES}\n`);
		for (const path of removed) yield Buffer.from(`D ${quoted(`${FILES}/${path}`)}\n`);
		for (const { path, entry } of changes) {
			if (!entry) continue;
			const name = quoted(`${FILES}/${path}`);
			if (!("data" in entry)) {
				yield Buffer.from(`M ${entry.mode} ${entry.oid} ${name}\n`);
				continue;
			}
			yield Buffer.from(`M ${entry.mode} inline ${name}\ndata ${entry.data.length}\n`);
			yield entry.data;
			yield Buffer.from("\n");
		}
		scanned = rest();
		const { manifest, facts } = scanned;
		yield Buffer.from(`M 100644 inline ${FILES}/${FACTS}\ndata ${facts.length}\n`);
		yield facts;
		yield Buffer.from(`\nM 100644 inline ${MANIFEST}\ndata ${manifest.length}\n`);
		yield manifest;
		yield Buffer.from(`\nget-mark :1\nls :1 ${FILES}\ndone\n`);
	}
}

/** Joins many small pieces into a few large ones. */
async function* gathered(pieces: Iterable<Buffer>): AsyncGenerator<Buffer> {
	let waiting: Buffer[] = [];
	let bytes = 0;
	for (const piece of pieces) {
		waiting.push(piece);
		bytes += piece.length;
		if (bytes < GATHERED_BYTES) continue;
		yield Buffer.concat(waiting);
		waiting = [];
		bytes = 0;
	}
	yield Buffer.concat(waiting);
}
