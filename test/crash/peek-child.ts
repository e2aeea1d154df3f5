// Another program that opens and closes the store's files over and over, by SQLite and by hand, until it is killed.
// `peek-child.ts <path>`; says how many rows it saw, each time.
import "../support/keep-compiled.ts";
import { closeSync, existsSync, openSync, readSync } from "node:fs";
import Database from "better-sqlite3";

const path = process.argv[2] ?? "";
for (;;) {
	// Once to read, once as if to write: the second would fold the log into the database if it were the last one.
	for (const readonly of [true, false]) {
		const db = new Database(path, { readonly });
		const { rows } = db.prepare("SELECT count(*) AS rows FROM inbox").get() as { rows: number };
		db.close();
		process.stdout.write(`${rows}\n`);
	}
	for (const suffix of ["", "-wal", "-shm", ".owner"]) {
		if (!existsSync(path + suffix)) continue;
		const file = openSync(path + suffix, "r+");
		readSync(file, Buffer.alloc(100));
		closeSync(file);
	}
}
