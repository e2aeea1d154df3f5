// What a snapshot does not contain and why, stored next to its files. A restore checks it: unsaved files are not touched.
import { type ExcludeReason, REASONS } from "./excludes.ts";
import { type RawPath, shown } from "./names.ts";

/** A folder that was not scanned stands for everything in it; its path ends with /. */
export interface Manifest {
	readonly excluded: ReadonlyMap<RawPath, ExcludeReason>;
	/** Empty folders: git does not keep them, and a restore must not remove them. */
	readonly empty: ReadonlySet<RawPath>;
	/** Saved although excluded: a restore put them there, and could not be undone if they were not seen. */
	readonly held: ReadonlySet<RawPath>;
}

export interface ExcludedSummary {
	readonly reason: ExcludeReason;
	readonly count: number;
	readonly examples: readonly string[];
}

/** Its path in a commit, next to the files. */
export const MANIFEST = "not-saved";
const EXAMPLES = 5;
const EMPTY = "empty";
const HELD = "held";

export function writeManifest({ excluded, empty, held }: Manifest): Buffer {
	const records = [...excluded].map(([path, reason]) => `${reason} ${path}\0`);
	for (const path of empty) records.push(`${EMPTY} ${path}\0`);
	for (const path of held) records.push(`${HELD} ${path}\0`);
	return Buffer.from(records.sort().join(""), "latin1");
}

export function readManifest(bytes: Buffer): Manifest {
	const excluded = new Map<RawPath, ExcludeReason>();
	const empty = new Set<RawPath>();
	const held = new Set<RawPath>();
	for (const record of bytes.toString("latin1").split("\0")) {
		const space = record.indexOf(" ");
		if (space < 0) continue;
		const path = record.slice(space + 1) as RawPath;
		const word = record.slice(0, space);
		if (word === EMPTY) empty.add(path);
		else if (word === HELD) held.add(path);
		else excluded.set(path, word as ExcludeReason);
	}
	return { excluded, empty, held };
}

/** Why the path, or a folder it is in, was left out. */
export function coveredBy(
	{ excluded, held }: Pick<Manifest, "excluded" | "held">,
	path: RawPath,
): ExcludeReason | undefined {
	if (held.has(path)) return undefined;
	const own = excluded.get(path);
	if (own) return own;
	for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1)) {
		const above = excluded.get(path.slice(0, slash + 1) as RawPath);
		if (above) return above;
	}
	return undefined;
}

export function summaryOf({ excluded, held }: Manifest): readonly ExcludedSummary[] {
	return REASONS.flatMap((reason) => {
		const paths = [...excluded]
			.filter(([path, why]) => why === reason && !held.has(path))
			.map(([path]) => path);
		if (paths.length === 0) return [];
		return [{ reason, count: paths.length, examples: paths.sort().slice(0, EXAMPLES).map(shown) }];
	});
}

/** Returns the first unchanged if the second adds nothing. */
export function union(base: Manifest, now: Manifest): Manifest {
	const excluded = new Map([...now.excluded, ...base.excluded]);
	const empty = new Set([...base.empty, ...now.empty]);
	const held = new Set([...base.held, ...now.held]);
	const isSame =
		excluded.size === base.excluded.size && empty.size === base.empty.size && held.size === base.held.size;
	return isSame ? base : { excluded, empty, held };
}
