// A file is first written under another name; readers see the old or the new one, never half.
import {
	type BigIntStats,
	closeSync,
	constants,
	fchmodSync,
	fchownSync,
	fstatSync,
	openSync,
	rmSync,
	symlinkSync,
	unlinkSync,
	writeFileSync,
} from "node:fs";
import { permissionsOf } from "../facts.ts";
import { LINK } from "../read-file.ts";
import type { Entry } from "../repository.ts";

const MAY_RUN = 0o111;
const NO_FOLLOW = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Returns the file's state after writing; undefined for a link. `before`: what it replaces. */
export function makeDraft(
	draft: Buffer,
	data: Buffer,
	want: NonNullable<Entry>,
	before: BigIntStats | undefined,
): BigIntStats | undefined {
	return anew(draft, () => {
		if (want.mode !== LINK) return writeDraft(draft, data, want, before);
		symlinkSync(data, draft);
		return undefined;
	});
}

/** Removes whatever has that name. Never throws. */
export function dropDraft(draft: Buffer): void {
	try {
		unlinkSync(draft);
	} catch {
		// There is none, or the system refuses.
	}
}

/** If only the permissions differ. */
export function givePermissions(full: Buffer, stats: BigIntStats, want: NonNullable<Entry>): void {
	const file = openSync(full, NO_FOLLOW);
	try {
		fchmodSync(file, permissions(stats, want));
	} finally {
		closeSync(file);
	}
}

/** Keeps the owner of the replaced file, as far as the system allows: only root can give files away. Never throws. */
export function giveOwner(draft: Buffer, own: BigIntStats, { uid, gid }: BigIntStats): void {
	if (own.uid === uid && own.gid === gid) return;
	try {
		const file = openSync(draft, NO_FOLLOW);
		try {
			// A program may have replaced the file by now.
			if (!isOnly(own, fstatSync(file, { bigint: true }))) return;
			if (!isGiven(file, Number(uid), Number(gid))) isGiven(file, SAME, Number(gid));
			// The system clears setuid and setgid when the owner changes.
			fchmodSync(file, Number(own.mode) & 0o7777);
		} finally {
			closeSync(file);
		}
	} catch {
		// It stays ours.
	}
}

const SAME = -1;

function isOnly(own: BigIntStats, { ino, dev, nlink }: BigIntStats): boolean {
	return own.ino === ino && own.dev === dev && nlink === 1n;
}

function isGiven(file: number, uid: number, gid: number): boolean {
	try {
		fchownSync(file, uid, gid);
		return true;
	} catch {
		return false;
	}
}

/** Removes what an interrupted restore left under that name. */
function anew<Result>(file: Buffer, make: () => Result): Result {
	try {
		return make();
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
		rmSync(file, { force: true });
		return make();
	}
}

function writeDraft(
	draft: Buffer,
	data: Buffer,
	want: NonNullable<Entry>,
	before: BigIntStats | undefined,
): BigIntStats {
	const exact = want.permissions !== undefined || before?.isFile() ? permissions(before, want) : undefined;
	// Never wider than its final mode, even while it is written.
	const file = openSync(draft, NEW_FILE, exact === undefined ? usual(want) : exact & 0o777);
	try {
		writeFileSync(file, data);
		const stats = fstatSync(file, { bigint: true });
		if (exact === undefined || permissionsOf(stats) === exact) return stats;
		fchmodSync(file, exact);
		return fstatSync(file, { bigint: true });
	} finally {
		closeSync(file);
	}
}

/** Before the process's umask. */
function usual({ mode }: NonNullable<Entry>): number {
	return mode === "100755" ? 0o777 : 0o666;
}

/** If they were not recorded: unchanged, except for whether it is executable, for everyone who may read it. */
function permissions(stats: BigIntStats | undefined, want: NonNullable<Entry>): number {
	if (want.permissions !== undefined) return want.permissions;
	const own = Number(stats?.mode ?? 0o644n) & 0o777;
	return want.mode === "100755" ? own | ((own & 0o444) >> 2) : own & ~MAY_RUN;
}
