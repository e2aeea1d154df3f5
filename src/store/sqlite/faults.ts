// Explains errors of SQLite and the file system to people, each with its remedy.
import { accessSync, constants, statSync } from "node:fs";
import { type ErrorCode, KeryxError } from "../../errors.ts";

/** Longest prefix first: SQLite's extended codes start with the plain one. */
const SQLITE: readonly (readonly [prefix: string, code: ErrorCode, message: string])[] = [
	["SQLITE_FULL", "store.full", "the disk with the store is full"],
	// The shared memory of the log could not grow; SQLite does not report this as full.
	["SQLITE_IOERR_SHMSIZE", "store.full", "the disk with the store is full"],
	["SQLITE_IOERR", "store.io", "the disk with the store cannot be read or written"],
	["SQLITE_READONLY", "store.readonly", "the store cannot be written"],
	["SQLITE_PERM", "store.readonly", "the store cannot be written"],
	["SQLITE_CANTOPEN", "store.unreachable", "the store's file cannot be opened"],
	["SQLITE_BUSY", "store.locked", "another program holds a lock on the store"],
	["SQLITE_LOCKED", "store.locked", "another program holds a lock on the store"],
	["SQLITE_CORRUPT", "store.corrupt", "the store's file is damaged"],
	["SQLITE_NOTADB", "store.corrupt", "the store's file is not a Keryx store"],
	["SQLITE_CONSTRAINT", "store.conflict", "the operation breaks a rule of the store"],
];

/** For files not opened by SQLite: the folder, the lock file, its text. */
const FILES: Readonly<Record<string, readonly [code: ErrorCode, message: string]>> = {
	ENOSPC: ["store.full", "the disk with the store is full"],
	EDQUOT: ["store.full", "the quota on the disk with the store is used up"],
	EIO: ["store.io", "the disk with the store cannot be read or written"],
	EROFS: ["store.readonly", "the disk with the store cannot be written"],
	EACCES: ["store.unreachable", "this user has no access to the store's folder"],
	EPERM: ["store.unreachable", "this user has no access to the store's folder"],
	ENOENT: ["store.unreachable", "the store's folder does not exist"],
	ENOTDIR: ["store.unreachable", "the store's folder is not a folder"],
	EISDIR: ["store.unreachable", "there is a folder where a file of the store should be"],
	ELOOP: ["store.unreachable", "the links to the store form a circle"],
	ENAMETOOLONG: ["store.unreachable", "the store's path is too long"],
};

/** A KeryxError for any failure; others than SQLite's and the file system's keep their message. */
export function toKeryxError(error: unknown): KeryxError {
	if (error instanceof KeryxError) return error;
	const text = error instanceof Error ? error.message : String(error);
	const code = codeOf(error);
	const known = SQLITE.find(([prefix]) => code.startsWith(prefix))?.slice(1) ?? FILES[code];
	if (!known) return new KeryxError("store.failed", `the store failed: ${text}`, { cause: error });
	const [ours, meaning] = known as [ErrorCode, string];
	return new KeryxError(ours, `${meaning} (${text.startsWith(code) ? text : `${code}: ${text}`})`, {
		cause: error,
	});
}

function codeOf(error: unknown): string {
	const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
	return typeof code === "string" ? code : "";
}

/** The same while opening a store: names the path, and distinguishes unreachable from unwritable. */
export function openingFault(error: unknown, path: string): KeryxError {
	if (error instanceof KeryxError) return error;
	const { code, message } = toKeryxError(error);
	// The file itself exists and can be read: SQLite could not create or open one next to it.
	const closer = code === "store.unreachable" && isReadableFile(path) ? "store.readonly" : code;
	return new KeryxError(closer, `cannot open ${path}: ${message}`, { cause: error });
}

function isReadableFile(path: string): boolean {
	try {
		accessSync(path, constants.R_OK);
		return statSync(path).isFile();
	} catch {
		return false;
	}
}

/** Faults of the disk or file affect a whole group: it is given up together, and may be retried. A damaged row is its operation's own. */
export function isStorageFault(error: unknown): boolean {
	if (error instanceof KeryxError) return false;
	const { code } = toKeryxError(error);
	return (
		code === "store.full" || code === "store.io" || code === "store.readonly" || code === "store.corrupt"
	);
}

/** Errors as passed between threads. */
export interface WireError {
	readonly code: ErrorCode;
	readonly message: string;
	readonly hint: string;
	readonly field?: string;
}

export function toWireError(error: unknown): WireError {
	return toKeryxError(error).toJSON();
}

export function fromWireError({ code, message, hint, field }: WireError): KeryxError {
	return new KeryxError(code, message, { hint, field });
}
