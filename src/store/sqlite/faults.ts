// What SQLite's errors mean to a person, each with its remedy.
import { type ErrorCode, KeryxError } from "../../errors.ts";

interface SqliteError extends Error {
	readonly code: string;
}

function isSqliteError(error: unknown): error is SqliteError {
	return (
		error instanceof Error &&
		typeof (error as { code?: unknown }).code === "string" &&
		(error as SqliteError).code.startsWith("SQLITE_")
	);
}

/** Longest prefix first: SQLite's extended codes begin with their plain one. */
const MEANING: readonly (readonly [prefix: string, code: ErrorCode, message: string])[] = [
	["SQLITE_FULL", "store.full", "the disk that holds the store is full"],
	["SQLITE_IOERR", "store.io", "the disk that holds the store cannot be read or written"],
	["SQLITE_READONLY", "store.readonly", "the store cannot be written"],
	["SQLITE_PERM", "store.readonly", "the store cannot be written"],
	["SQLITE_CANTOPEN", "store.unreachable", "the store's file cannot be opened"],
	["SQLITE_BUSY", "store.locked", "another program holds a lock on the store"],
	["SQLITE_LOCKED", "store.locked", "another program holds a lock on the store"],
	["SQLITE_CORRUPT", "store.corrupt", "the store's file is damaged"],
	["SQLITE_NOTADB", "store.corrupt", "the store's file is not a Keryx store"],
	["SQLITE_CONSTRAINT", "store.conflict", "the operation breaks a rule of the store"],
];

/** A KeryxError for whatever went wrong; one that is none of SQLite's keeps its own words. */
export function toKeryxError(error: unknown): KeryxError {
	if (error instanceof KeryxError) return error;
	if (!isSqliteError(error)) {
		const message = error instanceof Error ? error.message : String(error);
		return new KeryxError("store.failed", `the store failed: ${message}`, { cause: error });
	}
	const known = MEANING.find(([prefix]) => error.code.startsWith(prefix));
	const [, code, message] = known ?? ["", "store.failed" as const, "the store failed"];
	return new KeryxError(code, `${message} (${error.code}: ${error.message})`, { cause: error });
}

/** Errors as they travel between threads. */
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
