// Facts that git's trees lack: exact permissions, and which files too large to be saved existed. Stored as a file in the tree: so a
// change of it is a change between two snapshots.
import type { BigIntStats } from "node:fs";
import type { RawPath } from "./names.ts";

/** Its name in the tree. A workspace's own file of that name is not saved. */
export const FACTS = ".keryx-facts";

export interface Facts {
	/** Only permissions that differ from git's mode (0644, or 0755 for executables). */
	readonly permissions: ReadonlyMap<RawPath, number>;
	/** Files too large to save, each with a fingerprint of its state. */
	readonly large: ReadonlyMap<RawPath, string>;
	/** The same for large files that are saved anyway, because a restore replaces or restored them. */
	readonly held: ReadonlyMap<RawPath, string>;
}

const FIELDS = 3;
const MODE = "mode";
const LARGE = "large";
const HELD = "held";

export function writeFacts({ permissions, large, held }: Facts): Buffer {
	const records = [...permissions].map(([path, mode]) => `${MODE}\0${mode.toString(8)}\0${path}\0`);
	for (const [path, state] of large) records.push(`${LARGE}\0${state}\0${path}\0`);
	for (const [path, state] of held) records.push(`${HELD}\0${state}\0${path}\0`);
	return Buffer.from(records.sort().join(""), "latin1");
}

export function readFacts(bytes: Buffer): Facts {
	const permissions = new Map<RawPath, number>();
	const large = new Map<RawPath, string>();
	const held = new Map<RawPath, string>();
	const fields = bytes.toString("latin1").split("\0");
	for (let n = 0; n + FIELDS <= fields.length; n += FIELDS) {
		const [kind, value = "", path] = fields.slice(n, n + FIELDS) as [string, string, RawPath];
		if (kind === MODE) permissions.set(path, Number.parseInt(value, 8));
		else if (kind === LARGE) large.set(path, value);
		else if (kind === HELD) held.set(path, value);
	}
	return { permissions, large, held };
}

/** For a file with git's mode, if nothing else is known about it. */
export function usualPermissions(mode: string): number {
	return mode === "100755" ? 0o755 : 0o644;
}

/** Setuid and setgid. */
const ACTS_AS = 0o6000;

/** For someone else's file, without setuid and setgid: restored by Keryx, it would let them act as Keryx's user. */
export function permissionsOf({ mode, uid }: Pick<BigIntStats, "mode" | "uid">): number {
	const all = Number(mode) & 0o7777;
	return (all & ACTS_AS) !== 0 && Number(uid) !== process.geteuid?.() ? all & ~ACTS_AS : all;
}

/** Equal fingerprints count as equal files: the content is too large to compare. */
export function stateOfLarge({ size, mtimeNs, ino, mode }: BigIntStats): string {
	return `${size}.${mtimeNs}.${ino}.${mode}`;
}
