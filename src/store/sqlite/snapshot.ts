// A store file that nobody has open: inspecting it, and replacing another store with it.
import {
	closeSync,
	constants,
	copyFileSync,
	existsSync,
	fsyncSync,
	linkSync,
	openSync,
	renameSync,
	rmSync,
	statSync,
} from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { KeryxError } from "../../errors.ts";
import type { StoreFacts } from "../engine.ts";
import { SCHEMA_VERSION } from "../schema.ts";
import { toKeryxError } from "./faults.ts";
import { createPrivately, followLinks } from "./files.ts";
import { takeOwnership } from "./ownership.ts";

/** Reads every page. Throws store.corrupt for a damaged or foreign file, store.newer for one of a newer Keryx. Blocks. */
export function inspectStore(path: string): StoreFacts {
	let db: Database.Database | undefined;
	try {
		db = new Database(path, { readonly: true, fileMustExist: true });
		const [problem] = db.pragma("quick_check(1)", { simple: false }) as { quick_check: string }[];
		if (problem?.quick_check !== "ok")
			throw new KeryxError("store.corrupt", `${path} is damaged: ${problem?.quick_check}`);
		const schema = db.pragma("user_version", { simple: true }) as number;
		if (schema > SCHEMA_VERSION)
			throw new KeryxError(
				"store.newer",
				`the store has version ${schema}; this Keryx knows versions up to ${SCHEMA_VERSION}`,
			);
		return { schema, ...countsIn(db) };
	} catch (error) {
		throw toKeryxError(error);
	} finally {
		db?.close();
	}
}

/** Tables that every version has. */
function countsIn(db: Database.Database): Omit<StoreFacts, "schema"> {
	const number = (sql: string) => (db.prepare(sql).pluck().get() as number | null) ?? 0;
	return {
		conversations: number("SELECT count(*) FROM conversations"),
		sessions: number("SELECT count(*) FROM sessions"),
		messages: number("SELECT count(*) FROM messages"),
		lastEvent: number("SELECT max(id) FROM events"),
	};
}

const LOG_SUFFIXES = ["-wal", "-shm"] as const;

/**
 * Replaces the store at `path` with a file, and returns where the old one is now; null: there was none. Throws store.owned while a Keryx
 * uses it. There is a complete store at `path` at every moment.
 */
export function replaceStore(given: string, from: string, { now }: { readonly now: number }): string | null {
	const path = followLinks(given);
	const ownership = takeOwnership(path, now);
	const draft = `${path}.restoring`;
	try {
		bring(from, draft);
		const kept = existsSync(path) ? keepOld(path, now) : null;
		renameSync(draft, path);
		sync(dirname(path));
		rmSync(`${path}.overwritten`, { force: true });
		return kept;
	} finally {
		rmSync(draft, { force: true });
		ownership.release();
	}
}

/** Copies an unused store to a new file, complete and synced. Throws store.owned while a Keryx uses it. Blocks. */
export function saveStore(given: string, to: string, { now }: { readonly now: number }): void {
	const path = followLinks(given);
	const ownership = takeOwnership(path, now);
	const part = `${to}.part`;
	try {
		fold(path);
		if (existsSync(`${path}-wal`) && statSync(`${path}-wal`).size > 0)
			throw new KeryxError("store.failed", `the log of ${path} could not be written into it`);
		rmSync(part, { force: true });
		createPrivately(part);
		copyFileSync(path, part, constants.COPYFILE_FICLONE);
		sync(part);
		renameSync(part, to);
		sync(dirname(to));
	} finally {
		ownership.release();
	}
}

/** What a Keryx of any version has received and sent: two stores with equal `dealings` have told the world the same. */
export function glanceAt(path: string): { readonly schema: number; readonly dealings: string } {
	const db = new Database(path, { readonly: true, fileMustExist: true });
	try {
		const rows = (sql: string) => db.prepare(sql).raw().all();
		const dealings = [
			rows("SELECT count(*) FROM inbox"),
			rows("SELECT count(*) FROM turns"),
			rows("SELECT state, count(*) FROM deliveries GROUP BY state ORDER BY state"),
		];
		return {
			schema: db.pragma("user_version", { simple: true }) as number,
			dealings: JSON.stringify(dealings),
		};
	} finally {
		db.close();
	}
}

/** A file can be renamed only on its own disk: from another one it is copied. */
function bring(from: string, to: string): void {
	try {
		renameSync(from, to);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
		copyFileSync(from, to);
		sync(to);
		rmSync(from);
	}
}

function keepOld(path: string, now: number): string {
	fold(path);
	const kept = `${path}.before-restore-${new Date(now).toISOString().replace(/\D/g, "").slice(0, 14)}`;
	linkSync(path, kept);
	// A log that could not be checkpointed belongs to the old file, and moves with it.
	for (const suffix of LOG_SUFFIXES)
		if (existsSync(`${path}${suffix}`)) renameSync(`${path}${suffix}`, `${kept}${suffix}`);
	sync(dirname(path));
	return kept;
}

/** Closing the last connection checkpoints the log. A damaged store is kept as it is. */
function fold(path: string): void {
	let db: Database.Database | undefined;
	try {
		db = new Database(path);
		db.pragma("wal_checkpoint(TRUNCATE)");
	} catch {
		// It is being replaced, perhaps for this reason.
	} finally {
		db?.close();
	}
}

/** A file or a folder. */
function sync(path: string): void {
	const handle = openSync(path, "r");
	try {
		fsyncSync(handle);
	} finally {
		closeSync(handle);
	}
}
