// The repository of one workspace: bare, under Keryx's home, written only by `fast-import`. One pack per snapshot until repacked; no
// loose objects, no history, no relevant configuration. The store says what is referenced, not refs.
import { mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { KeryxError } from "../errors.ts";
import { FACTS, type Facts, readFacts, usualPermissions } from "./facts.ts";
import { git } from "./git.ts";
import { MANIFEST, type Manifest, readManifest } from "./manifest.ts";
import { type RawPath, rawOf } from "./names.ts";
import { LINK } from "./read-file.ts";

/** What is at a path; null: nothing. */
export type Entry = {
	/** git's mode; `large`: not saved because of its size, and `oid` distinguishes its states. */
	readonly mode: string;
	readonly oid: string;
	/** Exact. Absent for links, and in snapshots of an earlier version. */
	readonly permissions?: number;
} | null;

export const LARGE = "large";

export interface TreeChange {
	readonly path: RawPath;
	readonly from: Entry;
	readonly to: Entry;
}

const REFS = "refs/keryx";

export function refOf(id: string): string {
	return `${REFS}/${id}`;
}

/** Created next to its final path and then moved, so that it is never incomplete. */
export async function ensureRepository(repository: string): Promise<void> {
	if (await exists(join(repository, "HEAD"))) return;
	await mkdir(dirname(repository), { recursive: true, mode: 0o700 });
	const draft = await mkdtemp(`${repository}.draft-`);
	try {
		await git({
			args: ["init", "--quiet", "--bare", "--template=", "--object-format=sha1", "--initial-branch=none"],
			repository: draft,
		});
		await rename(draft, repository);
	} catch (error) {
		await rm(draft, { recursive: true, force: true });
		if (!(await exists(join(repository, "HEAD")))) throw error;
	}
}

export async function hasRepository(repository: string): Promise<boolean> {
	return exists(join(repository, "HEAD"));
}

async function exists(file: string): Promise<boolean> {
	try {
		await stat(file);
		return true;
	} catch {
		return false;
	}
}

/** The differences of each pair of trees, in order. */
export async function treeChanges(
	repository: string,
	pairs: readonly (readonly [from: string, to: string])[],
): Promise<readonly (readonly TreeChange[])[]> {
	const asked = [...new Set(pairs.filter(([from, to]) => from !== to).map((pair) => pair.join(" ")))];
	if (asked.length === 0) return pairs.map(() => []);
	const { out } = await git({
		args: ["diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--no-abbrev"],
		repository,
		input: Buffer.from(`${asked.join("\n")}\n`),
	});
	const found = splitPairs(rawOf(out), asked);
	const facts = await factsOf(
		repository,
		asked.flatMap((pair) => pair.split(" ")),
	);
	const all: (readonly TreeChange[])[] = [];
	for (const [from, to] of pairs) {
		const changes = from === to ? [] : (found.get(`${from} ${to}`) ?? []);
		all.push(await withFacts(repository, changes, to, [facts.get(from) ?? null, facts.get(to) ?? null]));
	}
	return all;
}

/** The facts of these trees. Trees of an earlier version have none. */
async function factsOf(
	repository: string,
	trees: readonly string[],
): Promise<ReadonlyMap<string, Facts | null>> {
	const all = [...new Set(trees)];
	const { out } = await git({
		args: ["cat-file", "--batch-check=%(objectname)"],
		repository,
		input: Buffer.from(all.map((tree) => `${tree}:${FACTS}\n`).join("")),
	});
	const oids = out
		.toString("latin1")
		.split("\n")
		.map((line) => (/^[0-9a-f]{40}$/.test(line) ? line : null));
	const named = [...new Set(oids.filter((oid) => oid !== null))];
	const contents = await blobs(repository, named);
	const parsed = new Map(named.map((oid, n) => [oid, readFacts(contents[n] as Buffer)]));
	return new Map(all.map((tree, n) => [tree, parsed.get(oids[n] ?? "") ?? null]));
}

/** The same with exact permissions, including differences only in permissions or in files too large to save. */
async function withFacts(
	repository: string,
	changes: readonly TreeChange[],
	tree: string,
	[from, to]: readonly [Facts | null, Facts | null],
): Promise<readonly TreeChange[]> {
	const own = changes.filter(({ path }) => path !== FACTS && !isSameLarge(path, from, to));
	if (!from || !to) return own;
	const found = new Map(
		own.map((change) => [
			change.path,
			{ ...change, from: exact(change.path, change.from, from), to: exact(change.path, change.to, to) },
		]),
	);
	if (changes.every(({ path }) => path !== FACTS)) return [...found.values()];
	for (const path of differing(from.large, to.large).filter((one) => !isSameLarge(one, from, to)))
		found.set(path, {
			path,
			from: found.get(path)?.from ?? largeEntry(from, path),
			to: found.get(path)?.to ?? largeEntry(to, path),
		});
	const changed = new Set(differing(from.permissions, to.permissions).filter((path) => !found.has(path)));
	// Only permissions differ: content and git's mode are equal in both trees.
	for (const { path, entry } of changed.size > 0 ? await entriesOf(repository, tree) : [])
		if (changed.has(path))
			found.set(path, { path, from: exact(path, entry, from), to: exact(path, entry, to) });
	return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function entriesOf(
	repository: string,
	tree: string,
): Promise<readonly { readonly path: RawPath; readonly entry: Entry }[]> {
	const { out } = await git({ args: ["ls-tree", "-r", "-z", tree], repository });
	return rawOf(out)
		.split("\0")
		.flatMap((record) => {
			const [, mode, oid, path] = /^(\d+) blob ([0-9a-f]{40})\t(.*)$/s.exec(record) ?? [];
			return mode && oid && path !== undefined ? [{ path: path as RawPath, entry: { mode, oid } }] : [];
		});
}

/** Saved in only one of them, but the same file. */
function isSameLarge(path: RawPath, from: Facts | null, to: Facts | null): boolean {
	const state = from?.large.get(path) ?? from?.held.get(path);
	return state !== undefined && state === (to?.large.get(path) ?? to?.held.get(path));
}

function exact(path: RawPath, entry: Entry, facts: Facts): Entry {
	if (!entry || entry.mode === LINK) return entry;
	return { ...entry, permissions: facts.permissions.get(path) ?? usualPermissions(entry.mode) };
}

function largeEntry({ large }: Facts, path: RawPath): Entry {
	const state = large.get(path);
	return state === undefined ? null : { mode: LARGE, oid: state };
}

function differing<Value>(a: ReadonlyMap<RawPath, Value>, b: ReadonlyMap<RawPath, Value>): RawPath[] {
	return [...new Set([...a.keys(), ...b.keys()])].filter((path) => a.get(path) !== b.get(path));
}

/** Each pair's answer starts with the pair; without differences there is nothing else. */
function splitPairs(text: string, asked: readonly string[]): ReadonlyMap<string, readonly TreeChange[]> {
	const found = new Map<string, TreeChange[]>(asked.map((pair) => [pair, []]));
	let present: TreeChange[] = [];
	const fields = text.split("\0");
	for (let n = 0; n < fields.length; n++) {
		const field = fields[n] as string;
		const heading = /^([0-9a-f]{40} [0-9a-f]{40})\n/.exec(field);
		if (heading) present = found.get(heading[1] as string) ?? [];
		const rest = heading ? field.slice(heading[0].length) : field;
		if (!rest.startsWith(":")) continue;
		present.push(parseChange(rest, fields[++n] as string));
	}
	return found;
}

function parseChange(record: string, path: string): TreeChange {
	const [fromMode = "", toMode = "", from = "", to = ""] = record.slice(1).split(" ");
	const entry = (mode: string, oid: string): Entry => (mode === "000000" ? null : { mode, oid });
	return { path: path as RawPath, from: entry(fromMode, from), to: entry(toMode, to) };
}

export interface CountedChange extends TreeChange {
	/** Null: binary, or unknown. */
	readonly lines: { readonly insertions: number; readonly deletions: number } | null;
}

/** The differences between two trees, with line counts; a path that git understands narrows it. */
export async function countedChanges(
	repository: string,
	from: string,
	to: string,
	path?: RawPath,
): Promise<readonly CountedChange[]> {
	if (from === to) return [];
	const differences = async (...counting: readonly string[]): Promise<Buffer> => {
		const what = ["--raw", ...counting, "--no-renames", "--no-abbrev", "--no-ext-diff", "--no-textconv"];
		const args = ["diff-tree", "-r", "-z", ...what, from, to, ...under(path)];
		return (await git({ args, repository })).out;
	};
	// Lines of a missing or damaged content cannot be counted; which files differ is still known.
	const out = await differences("--numstat").catch((error: unknown) => {
		if (!(error instanceof KeryxError) || error.code !== "checkpoint.failed") throw error;
		return differences();
	});
	const changes: TreeChange[] = [];
	const lines = new Map<string, CountedChange["lines"]>();
	const fields = rawOf(out).split("\0");
	for (let n = 0; n < fields.length; n++) {
		const field = fields[n] as string;
		if (field.startsWith(":")) {
			const change = parseChange(field, fields[++n] as string);
			changes.push(change);
			if (change.from?.oid !== change.to?.oid) lines.set(change.path, null);
			continue;
		}
		const [, added, deleted, name] = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(field) ?? [];
		if (name === undefined) continue;
		lines.set(name, added === "-" ? null : { insertions: Number(added), deletions: Number(deleted) });
	}
	const hasFacts = changes.some((change) => change.path === FACTS);
	const facts = hasFacts ? await factsOf(repository, [from, to]) : new Map<string, Facts>();
	const all = await withFacts(repository, changes, to, [facts.get(from) ?? null, facts.get(to) ?? null]);
	return all.map((change) => ({ ...change, lines: linesOf(change, lines.get(change.path)) }));
}

/** Zero for a change of permissions; unknown for an unsaved file. */
function linesOf(
	{ from, to }: TreeChange,
	counted: CountedChange["lines"] | undefined,
): CountedChange["lines"] {
	if (from?.mode === LARGE || to?.mode === LARGE) return null;
	if (counted !== undefined) return counted;
	return { insertions: 0, deletions: 0 };
}

/** The unified diff of two trees, without facts that git's trees lack: one piece per file, in the order of `countedChanges`. */
export async function patches(
	repository: string,
	from: string,
	to: string,
	maxBytes: number,
	path?: RawPath,
): Promise<{ readonly texts: readonly string[]; readonly isCut: boolean }> {
	const { out, cut } = await git({
		args: [
			...["diff-tree", "-r", "-p", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color"],
			...["--src-prefix=a/", "--dst-prefix=b/", from, to, ...under(path)],
		],
		repository,
		maxBytes,
		cut: true,
	});
	const about = `diff --git a/${FACTS} b/${FACTS}\n`;
	// git's lines end only with LF, and every content line starts with a sign, so only a heading starts like this. The `^` of a
	// pattern would also match after a CR or U+2028 within a line.
	const texts = out
		.toString("utf8")
		.split(/(?<=\n)(?=diff --git )/)
		.filter((piece) => piece !== "" && !piece.startsWith(about));
	return { texts, isCut: cut };
}

/** A name that is not valid text cannot be passed as an argument; then everything is returned. */
function under(path: RawPath | undefined): readonly string[] {
	if (path === undefined) return [];
	const text = Buffer.from(path, "latin1").toString("utf8");
	return Buffer.from(text, "utf8").toString("latin1") === path ? ["--", text] : [];
}

/** The contents of these objects, in order. */
export async function blobs(repository: string, names: readonly string[]): Promise<readonly Buffer[]> {
	if (names.length === 0) return [];
	const { out } = await git({
		args: ["cat-file", "--batch", "--buffer"],
		repository,
		input: Buffer.from(`${names.join("\n")}\n`),
		maxBytes: 1024 * 1024 * 1024,
	});
	const found: Buffer[] = [];
	let at = 0;
	while (at < out.length) {
		const end = out.indexOf("\n", at);
		const [oid, type, size] = out.toString("latin1", at, end).split(" ");
		if (type !== "blob") throw new KeryxError("checkpoint.failed", `the snapshot lacks ${oid}`);
		const from = end + 1;
		found.push(out.subarray(from, from + Number(size)));
		at = from + Number(size) + 1;
	}
	return found;
}

export async function manifestsOf(
	repository: string,
	commits: readonly string[],
): Promise<readonly Manifest[]> {
	const lists = await blobs(
		repository,
		commits.map((commit) => `${commit}:${MANIFEST}`),
	);
	return lists.map(readManifest);
}

/** Keeps the contents of these commits and frees the rest. The new pack exists before an old one goes; an interrupted run can be repeated. */
export async function repack(
	repository: string,
	needed: readonly string[],
	useful: string | null,
): Promise<void> {
	const packs = join(repository, "objects", "pack");
	const before = await packFiles(packs);
	const commits = [...needed, ...(useful !== null && (await holds(repository, useful)) ? [useful] : [])];
	let kept = "";
	if (commits.length > 0) {
		const { out } = await git({
			args: ["pack-objects", "--revs", "--quiet", "--delta-base-offset", "--non-empty", join(packs, "pack")],
			repository,
			input: Buffer.from(`${commits.join("\n")}\n`),
			timeoutMs: 600_000,
		});
		kept = `pack-${out.toString("latin1").trim()}`;
	}
	for (const file of before)
		if (kept === "" || !file.startsWith(`${kept}.`)) await rm(join(packs, file), { force: true });
	for (const file of await readdir(repository))
		if (file.startsWith("fast_import_crash_")) await rm(join(repository, file), { force: true });
}

async function holds(repository: string, oid: string): Promise<boolean> {
	const { out } = await git({
		args: ["cat-file", "--batch-check"],
		repository,
		input: Buffer.from(`${oid}\n`),
	});
	return !out.includes(" missing");
}

/** A pack's index goes first: without it, git ignores the rest. */
async function packFiles(packs: string): Promise<readonly string[]> {
	try {
		const files = await readdir(packs);
		return files.sort((a, b) => Number(b.endsWith(".idx")) - Number(a.endsWith(".idx")));
	} catch {
		return [];
	}
}

export async function packCount(repository: string): Promise<number> {
	const files = await packFiles(join(repository, "objects", "pack"));
	return files.filter((file) => file.endsWith(".pack")).length;
}

/** Removes refs that the store does not name, and locks of refs left by a kill. */
export async function dropRefs(repository: string, keep: ReadonlySet<string>): Promise<void> {
	const folder = join(repository, REFS);
	for (const name of await namesIn(folder))
		if (!keep.has(name)) await rm(join(folder, name), { force: true });
}

/** Empty if there is no such folder. */
export async function namesIn(folder: string): Promise<readonly string[]> {
	try {
		return await readdir(folder);
	} catch {
		return [];
	}
}

/** The size of everything in it, in bytes. */
export async function sizeOf(folder: string): Promise<number> {
	let bytes = 0;
	for (const entry of await readdir(folder, { withFileTypes: true })) {
		const path = join(folder, entry.name);
		if (entry.isDirectory()) bytes += await sizeOf(path);
		else bytes += await sizeOfFile(path);
	}
	return bytes;
}

async function sizeOfFile(file: string): Promise<number> {
	try {
		return (await stat(file)).size;
	} catch {
		return 0;
	}
}
