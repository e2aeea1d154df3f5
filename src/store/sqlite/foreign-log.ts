// A database that was overwritten in place keeps its name, and the log next to it belongs to the old contents. SQLite cannot tell, and
// would merge that log at the next start. So the log is left alone, and a note prevents anyone from opening the two together.
import { rmSync, statSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import Database from "better-sqlite3";
import { KeryxError } from "../../errors.ts";
import { isStorageFault } from "./faults.ts";

function notePathOf(path: string): string {
	return `${path}.overwritten`;
}

export function noteOverwritten(path: string): void {
	const name = basename(path);
	const text = `${name} was overwritten while Keryx had it open; ${name}-wal does not belong to what it holds now.\n`;
	try {
		writeFileSync(notePathOf(path), text, { mode: 0o600, flag: "wx" });
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code !== "EEXIST" && !isStorageFault(error)) throw error;
	}
}

/** Before any opening of the store. Without the log there is nothing to mix. */
export function refuseForeignLog(path: string): void {
	const note = notePathOf(path);
	if (!statSync(note, { throwIfNoEntry: false })) return;
	const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
	if (!log || log.size === 0) return;
	const name = basename(path);
	throw new KeryxError(
		"store.replaced",
		`${path} was overwritten while Keryx had it open, and ${name}-wal does not belong to it`,
		{
			hint: `delete ${name}-wal and ${name}-shm to use ${name} as it is; delete ${basename(note)} if nothing but its date was changed`,
		},
	);
}

/** By the next owner, once the log is gone. */
export function forgetOverwritten(path: string): void {
	rmSync(notePathOf(path), { force: true });
}

/** The last connection to close checkpoints the log; a read-only one does not, and is the last one here. */
export function closeKeepingLog(path: string, db: Database.Database): void {
	const keeper = openKeeper(path);
	db.close();
	keeper?.close();
}

/** None where the file is no database at all. */
function openKeeper(path: string): Database.Database | null {
	const keeper = new Database(path, { readonly: true });
	try {
		keeper.pragma("user_version");
		return keeper;
	} catch {
		keeper.close();
		return null;
	}
}
