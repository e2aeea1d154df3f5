import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { Connection } from "./connection.ts";

const folder = mkdtempSync(join(tmpdir(), "keryx-connection-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a file with SQLite's own setting joins as many parts of the search index as a new one, from its next opening on", () => {
	const path = join(folder, "store.db");
	const joined = ({ db }: Connection): unknown =>
		db.prepare("SELECT v FROM search_config WHERE k = 'automerge'").pluck().get();
	const first = Connection.writer(path);
	expect(joined(first)).toBe(12);
	first.db.exec("INSERT INTO search (search, rank) VALUES ('automerge', 4)");
	first.db.close();

	const next = Connection.writer(path);
	expect(joined(next)).toBe(12);
	next.db.close();
});
