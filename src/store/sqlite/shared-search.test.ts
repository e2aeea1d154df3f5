// A search in real reader threads, on a file.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../../test/support/soon.ts";
import { type SearchArgs, type SearchResult, search } from "../operations/search/search.ts";
import { searchTags } from "../search-text.ts";
import { Connection } from "./connection.ts";
import { Readers } from "./readers.ts";
import { Thread } from "./thread.ts";

const ROWS = 11_000;
const IDS_PER_MS = 1024;
/** Each of these rows has the phrase. */
const HITS = [5, 3005, 6005, 9005];
const ARGS = { scope: { kind: "operator" }, query: '"brown fox"', limit: 3 } as const satisfies SearchArgs;

const folder = mkdtempSync(join(tmpdir(), "keryx-shared-search-"));
const path = join(folder, "store.db");
let writer: Connection;
beforeAll(() => {
	writer = Connection.writer(path);
	const { db } = writer;
	const index = db.prepare("INSERT INTO search (rowid, tags, text) VALUES (?, ?, ?)");
	const message = db.prepare(
		"INSERT INTO messages (id, session, seq, role, counted, created_at, body) VALUES (?, 1, ?, 'user', 1, ?, ?)",
	);
	db.transaction(() => {
		db.exec(`INSERT INTO conversations (id, key, platform, profile, chat_type, shared, created_at, last_activity_at, source_body,
			preview_body) VALUES ('c', 'k', 'x', 'p', 'dm', 0, 0, 0, '{}', '""');
		INSERT INTO sessions (key, id, conversation, opened_by, started_at, last_activity_at, cap, title_source, context_body)
			VALUES (1, 's', 'c', 'first', 0, 0, 0, 'derived', '""')`);
		for (let n = 1; n <= ROWS; n++) {
			const content = HITS.includes(n) ? "both words: brown fox" : "brown is no fox";
			const facts = { conversation: "c", principal: null, profile: "p", platform: "x", role: "user" };
			message.run(n * IDS_PER_MS, n, n, JSON.stringify({ content }));
			index.run(n * IDS_PER_MS, searchTags(facts), content);
		}
	})();
});
afterAll(() => {
	writer.db.close();
	rmSync(folder, { recursive: true });
});

/** Two readers that run; `after` is called with the kind of each request, when it is answered. */
async function twoReaders(after: (kind: string) => void) {
	let running = 0;
	const readers = new Readers(async () => {
		const thread = await Thread.start({
			role: "reader",
			path,
			startedAt: 0,
			alone: false,
			auditKey: null,
			auditWitness: null,
		});
		running++;
		return {
			ask: (request) => thread.ask(request).finally(() => after(request.kind)),
			close: () => thread.close(),
			onGone: (notify) => thread.onGone(notify),
		};
	});
	await readers.search(ARGS, ROWS);
	await eventually(() => expect(running).toBe(2));
	return readers;
}

test("two readers find what one finds, on every page", async () => {
	const kinds: string[] = [];
	const readers = await twoReaders((kind) => kinds.push(kind));
	expect(kinds.splice(0)).toEqual(["search", "search"]);
	const expected = writer.run(search(ARGS));
	expect(expected).toMatchObject({ total: { count: 4, more: false } });
	expect(await readers.search(ARGS, ROWS)).toEqual(expected);
	expect(kinds.splice(0)).toEqual(["search", "half", "half", "search"]);
	const next = { ...ARGS, cursor: expected.next as string };
	expect(await readers.search(next, ROWS)).toEqual(writer.run(search(next)));
	kinds.length = 0;
	for (const query of ['"brown is"', "brown", "nowhere", ""]) {
		expect(await readers.search({ ...ARGS, query }, ROWS)).toEqual(writer.run(search({ ...ARGS, query })));
		expect(kinds.splice(0)).toEqual(["search"]);
	}
	await expect(readers.search({ ...ARGS, limit: 0 }, ROWS)).rejects.toMatchObject({
		code: "argument.invalid",
	});
	await readers.close();
});

test("a message that is hidden after both halves were read is not shown", async () => {
	let halves = 0;
	const hidden = 6005 * IDS_PER_MS;
	const readers = await twoReaders((kind) => {
		if (kind === "half" && ++halves === 2)
			writer.db.prepare("DELETE FROM search WHERE rowid = ?").run(hidden);
	});
	const { hits, total } = (await readers.search(ARGS, ROWS)) as SearchResult;
	expect(halves).toBe(2);
	expect(hits.map((hit) => hit.kind === "message" && hit.seq).toSorted()).toEqual([3005, 5, 9005]);
	expect(total).toEqual({ count: 3, more: false });
	await readers.close();
});
