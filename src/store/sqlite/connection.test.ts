import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { Connection } from "./connection.ts";

const folder = mkdtempSync(join(tmpdir(), "keryx-connection-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a file whose search index has SQLite's own settings gets those of a new file when it is opened", () => {
	const path = join(folder, "store.db");
	const settings = ({ db }: Connection): unknown =>
		db.prepare("SELECT k, v FROM search_config WHERE k LIKE '%merge' ORDER BY k").raw().all();
	const ours = [
		["automerge", 8],
		["crisismerge", 256],
	];
	const first = Connection.writer(path);
	expect(settings(first)).toEqual(ours);
	first.db.exec("INSERT INTO search (search, rank) VALUES ('automerge', 4), ('crisismerge', 16)");
	first.db.close();

	const next = Connection.writer(path);
	expect(settings(next)).toEqual(ours);
	next.db.close();
});
