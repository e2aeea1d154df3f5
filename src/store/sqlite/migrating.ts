// Brings a store's file up to date: first a copy of a store with data, then each step in its own transaction. After a kill the next start
// goes on with the next step, and leaves the copy alone: only that one is as the version before knows it.
import { existsSync, rmSync } from "node:fs";
import { performance } from "node:perf_hooks";
import type Database from "better-sqlite3";
import type { MigrationProgress } from "../engine.ts";
import { migration, SCHEMA_VERSION } from "../schema.ts";
import { createPrivately } from "./files.ts";

export type TellMigration = (progress: MigrationProgress) => void;

export function migrate(db: Database.Database, path: string, tell: TellMigration): void {
	const version = versionOf(db);
	if (version === SCHEMA_VERSION) return;
	const isNew = version === 0;
	const began = performance.now();
	const bytes = sizeOf(db);
	const copied = isNew ? null : keepCopy(db, path, tell);
	const step = db.transaction((from: number) => {
		db.exec(migration(from, "sqlite"));
		db.pragma(`user_version = ${from + 1}`);
		if (from + 1 === SCHEMA_VERSION) db.exec("DELETE FROM settings WHERE name = 'migrating'");
		else if (from === version && copied !== null) db.prepare(MARK).run(copied);
	});
	const steps = (): void => {
		for (let from = version; from < SCHEMA_VERSION; from++) {
			if (!isNew) tell({ kind: "step", bytes, step: from - version + 1, of: SCHEMA_VERSION - version });
			step(from);
		}
	};
	// A step may change the text of a constraint.
	db.unsafeMode(true);
	try {
		if (isNew) db.transaction(steps)();
		else steps();
	} finally {
		db.unsafeMode(false);
	}
	if (!isNew) tell({ kind: "done", bytes, ms: performance.now() - began });
}

/** Steps were made, and others are missing. The value: the version in the name of the copy from before the first. */
const MARK =
	"INSERT INTO settings (name, value) VALUES ('migrating', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value";

/** Returns the version in the copy's name. */
function keepCopy(db: Database.Database, path: string, tell: TellMigration): string {
	const marked = db.prepare("SELECT value FROM settings WHERE name = 'migrating'").pluck().get();
	if (typeof marked === "string" && existsSync(copyOf(path, marked))) return marked;
	const copy = copyOf(path, String(SCHEMA_VERSION));
	const bytes = sizeOf(db);
	const began = performance.now();
	tell({ kind: "copying", bytes });
	remove(copy);
	createPrivately(copy);
	try {
		// SQLite syncs it before it returns.
		db.prepare("VACUUM INTO ?").run(copy);
	} catch (error) {
		// On a full disk, half a copy would take the space that is needed.
		remove(copy);
		throw error;
	}
	tell({ kind: "copied", bytes, path: copy, ms: performance.now() - began });
	return String(SCHEMA_VERSION);
}

function copyOf(path: string, version: string): string {
	return `${path}.before-v${version}`;
}

function remove(copy: string): void {
	for (const ending of ["", "-journal"]) rmSync(copy + ending, { force: true });
}

export function versionOf(db: Database.Database): number {
	return db.pragma("user_version", { simple: true }) as number;
}

function sizeOf(db: Database.Database): number {
	const of = (name: string) => db.pragma(name, { simple: true }) as number;
	return of("page_count") * of("page_size");
}
