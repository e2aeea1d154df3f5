// Reads one workspace file as git would store it. A link is read as a link; nothing is followed, and nothing but a regular file is ever
// waited for.
import { createHash } from "node:crypto";
import {
	type BigIntStats,
	closeSync,
	constants,
	fstatSync,
	lstatSync,
	openSync,
	readFileSync,
	readlinkSync,
	readSync,
} from "node:fs";
import { permissionsOf } from "./facts.ts";
import type { Found } from "./file-table.ts";
import { callPath } from "./names.ts";

/** A file that changes while it is read is read again, this often. */
const ATTEMPTS = 3;
const OWNER_MAY_RUN = 0o100n;
export const LINK = "120000";
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export interface Reading {
	readonly data: Buffer;
	readonly oid: string;
	readonly mode: Found["mode"];
	readonly stats: BigIntStats;
	/** Whether the times belong to what was read. */
	readonly steady: boolean;
}

/**
 * Null: it does not exist, or is neither a file nor a link. Throws the system's error if it cannot be read. The path's folder must be an
 * open one (folders.ts): a link there would be followed.
 */
export function readAt(full: Buffer): Reading | null {
	for (let attempt = 1; ; attempt++) {
		const stats = lstatSync(full, { bigint: true, throwIfNoEntry: false });
		if (!stats || !(stats.isFile() || stats.isSymbolicLink())) return null;
		try {
			const { data, after } = stats.isFile() ? contentOf(full, stats.size) : targetOf(full);
			const steady = after !== undefined && isSame(stats, after) && BigInt(data.length) === stats.size;
			if (steady || attempt === ATTEMPTS)
				return { data, oid: blobId(data), mode: gitMode(stats), stats, steady };
		} catch (error) {
			const { code } = error as NodeJS.ErrnoException;
			if (code === "ENOENT" || code === "ENOTDIR") return null;
			// It became a link or a folder in between.
			if (attempt === ATTEMPTS || (code !== "ELOOP" && code !== "EINVAL" && code !== "EISDIR")) throw error;
		}
	}
}

export function gitMode(stats: BigIntStats): Found["mode"] {
	if (stats.isSymbolicLink()) return LINK;
	return (stats.mode & OWNER_MAY_RUN) === 0n ? "100644" : "100755";
}

/** Undefined if nothing is there. Throws the system's other errors. */
export function statOf(root: string, path: string): BigIntStats | undefined {
	return statAt(callPath(root, path));
}

export function statAt(full: Buffer | string): BigIntStats | undefined {
	try {
		return lstatSync(full, { bigint: true, throwIfNoEntry: false });
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
		throw error;
	}
}

/** Whether its times prove that it is unchanged. */
export function isUnchanged(before: Found, stats: BigIntStats): boolean {
	const now = foundOf(before.oid, stats);
	return (
		before.ctime === now.ctime &&
		before.mtime === now.mtime &&
		before.size === now.size &&
		before.ino === now.ino &&
		before.mode === now.mode &&
		before.permissions === now.permissions
	);
}

export function foundOf(oid: string, stats: BigIntStats): Found {
	const mode = gitMode(stats);
	return {
		oid,
		mode,
		permissions: mode === LINK ? 0 : permissionsOf(stats),
		size: Number(stats.size),
		mtime: milliseconds(stats.mtimeNs),
		ctime: milliseconds(stats.ctimeNs),
		ino: inodeOf(stats),
	};
}

/**
 * As `Stats` computes them. They are exact to a quarter of a microsecond, which is enough: a change that a snapshot must see is
 * later than the time it is compared with by more than 50 ms (`isOlder`).
 */
function milliseconds(ns: bigint): number {
	return Number(ns / SECOND) * 1000 + Number(ns % SECOND) / 1e6;
}

const SECOND = 1_000_000_000n;

/** A number too large to be exact is folded, so that its last digits count. */
function inodeOf({ ino }: BigIntStats): number {
	if (ino >= 0n && ino <= MOST_EXACT) return Number(ino);
	return Number(BigInt.asUintN(52, ino ^ (BigInt.asUintN(64, ino) >> 52n)));
}

const MOST_EXACT = BigInt(Number.MAX_SAFE_INTEGER);

/** By more than a coarse clock hides, so a later change has another time. With whole-second clocks this takes longer. */
export function isOlder(time: bigint, than: bigint): boolean {
	const margin = time % 1_000_000_000n === 0n ? 2_100_000_000n : 50_000_000n;
	return time < than - margin;
}

function isSame(a: BigIntStats, b: BigIntStats): boolean {
	return (
		a.size === b.size &&
		a.mtimeNs === b.mtimeNs &&
		a.ctimeNs === b.ctimeNs &&
		a.ino === b.ino &&
		a.mode === b.mode
	);
}

interface Content {
	readonly data: Buffer;
	/** Its state after it was read. */
	readonly after: BigIntStats | undefined;
}

/** A file longer than its size says is read to its end; other kinds are not read. */
function contentOf(full: Buffer, size: bigint): Content {
	const file = openSync(full, FLAGS);
	try {
		const room = Buffer.allocUnsafe(Number(size) + 1);
		const isFile = fstatSync(file).isFile();
		const length = isFile ? readSync(file, room, 0, room.length, 0) : 0;
		const isShort = isFile && length !== room.length - 1;
		const data = isShort ? readFileSync(file) : room.subarray(0, length);
		return { data, after: fstatSync(file, { bigint: true }) };
	} finally {
		closeSync(file);
	}
}

function targetOf(full: Buffer): Content {
	const data = readlinkSync(full, { encoding: "buffer" });
	return { data, after: lstatSync(full, { bigint: true, throwIfNoEntry: false }) };
}

/** git's id for a content. */
export function blobId(data: Buffer): string {
	return createHash("sha1").update(`blob ${data.length}\0`).update(data).digest("hex");
}
