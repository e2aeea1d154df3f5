import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Op } from "../../query.ts";
import { type Match, matchExpression, parseQuery } from "../../search-query.ts";
import { searchTags, tag } from "../../search-text.ts";
import { Connection } from "../../sqlite/connection.ts";
import { divided, type Found, hitsOf, newestOf, newestOfRare } from "./newest.ts";

const ROWS = 12_000;
/** A row every 5 ids, so that bounds fall between rows, too. */
const STEP = 5;
const LAST = ROWS * STEP;

const place = (n: number) => ({ conversation: `c${n % 7}`, principal: null, profile: "p", platform: "x" });

/**
 * "a b" in every 3rd row, "b a" only in some old rows, "a c" in few, "c a" in many but the newest, "b b" on both sides of the part
 * that is probed first, "c b" in none.
 */
function textOf(n: number): string {
	const words = ["a", "x", "b", "x", "c"];
	if (n % 3 === 0) words.push("x a b");
	if (n > 1000 && n < 1100) words.push("x b a");
	if (n % 1500 === 7) words.push("x a c");
	if (n % 2 === 0 && n < 8000) words.push("x c a");
	if (n > ROWS - 400 && n < ROWS - 350) words.push("x b b");
	if (n === 3 || n === ROWS - 1) words.push("x b c a");
	return words.join(" ");
}

let connection: Connection;
beforeAll(() => {
	connection = Connection.inMemory();
	const insert = connection.db.prepare("INSERT INTO search (rowid, tags, text) VALUES (?, ?, ?)");
	connection.db.transaction(() => {
		for (let n = 1; n <= ROWS; n++)
			insert.run(n * STEP, searchTags({ ...place(n), role: n % 2 ? "user" : "assistant" }), textOf(n));
		for (let n = 1; n <= 50; n++)
			insert.run(-n, searchTags({ ...place(n), role: "title" }), n % 2 ? "a b c b a" : "c b a c");
	})();
	connection.db.prepare("DELETE FROM search WHERE rowid % 97 = 0").run();
});
afterAll(() => connection.db.close());

const word = fc.constantFrom("a", "b", "c", "x", "nowhere");
const phrase = fc.array(word, { minLength: 2, maxLength: 4 }).map((words) => `"${words.join(" ")}"`);
const query = fc.oneof(
	phrase,
	fc.tuple(phrase, fc.oneof(word, phrase)).map((parts) => parts.join(" ")),
);
const tags = fc.subarray([
	[tag("c", "c3")],
	[tag("c", "c1"), tag("c", "c2")],
	[tag("r", "user")],
	[tag("r", "assistant")],
]);
const bound = fc.oneof(
	fc.constantFrom(1, LAST - 1, LAST, LAST + 1, Number.MAX_SAFE_INTEGER),
	fc.integer({ min: 1, max: LAST + 10 }),
	fc.integer({ min: LAST - 2000, max: LAST + 10 }),
);

/** Read in halves, as two threads do, with a moment after each read of the index; undefined if the match is not rare. */
function inHalves(op: () => Op<number[]>, meanwhile: () => void = () => {}): number[] | undefined {
	const first = connection.run(divided(op(), 0));
	if (first.kind === "result") return undefined;
	const { read } = first;
	meanwhile();
	const older = connection.run(hitsOf(read, "older"));
	meanwhile();
	const newer = connection.run(hitsOf(read, "newer"));
	meanwhile();
	return resultOf(op(), { read, hits: [...older, ...newer] });
}

function resultOf(op: Op<number[]>, known: Found): number[] {
	const last = connection.run(divided(op, known));
	if (last.kind !== "result") throw new Error("it should be divided again");
	return last.result;
}

test("the newest rows of a rare phrase are those that reading from the newest gives", () => {
	fc.assert(
		fc.property(
			query,
			tags,
			fc.tuple(fc.oneof(fc.constant(1), bound), fc.oneof(fc.constant(Number.MAX_SAFE_INTEGER), bound)),
			fc.integer({ min: 1, max: 100 }),
			(asked, tagged, [low, top], count) => {
				const match = matchExpression(parseQuery(asked), tagged);
				const expected = connection.run(newestOf(match, low, top, count));
				const op = () => newestOfRare(match, low, top, count);
				expect(connection.run(op())).toEqual(expected);
				expect(inHalves(op) ?? expected).toEqual(expected);
			},
		),
		{ numRuns: 400 },
	);
});

test.each([
	['"c b"', 0],
	['"b c a"', 2],
	['"a c"', 7],
	['"b a"', 64],
	['"c a"', 64],
	['"a b"', 64],
	['"b b"', 48],
	['"a b" "b a"', 33],
])("%s is found from the newest to the oldest", (asked, hits) => {
	const match = matchExpression(parseQuery(asked), []);
	const found = connection.run(newestOfRare(match, 1, Number.MAX_SAFE_INTEGER, 64));
	expect(found).toHaveLength(hits);
	expect(found).toEqual(found.toSorted((a, b) => b - a));
});

test.each([
	['"c b"', 0],
	['"b c a"', 2],
	['"a c"', 7],
	['"b a"', 64],
	['"c a"', 64],
])("%s is found in two halves, too", (asked, hits) => {
	const match = matchExpression(parseQuery(asked), []);
	const found = inHalves(() => newestOfRare(match, 1, Number.MAX_SAFE_INTEGER, 64));
	expect(found).toHaveLength(hits);
	expect(found).toEqual(connection.run(newestOf(match, 1, Number.MAX_SAFE_INTEGER, 64)));
});

test.each(['"a b"', '"b nowhere"', '"b b"'])(
	"%s is divided only if it is rare and the rows are many",
	(asked) => {
		const op = () => newestOfRare(matchExpression(parseQuery(asked), []), 1, Number.MAX_SAFE_INTEGER, 64);
		const kind = (divideFrom: number) => connection.run(divided(op(), divideFrom)).kind;
		// 12,000 messages and 50 titles were written; FTS5 does not subtract those that were removed.
		const rows = ROWS + 50;
		expect(kind(rows)).toBe(asked === '"b nowhere"' ? "halves" : "result");
		expect(kind(rows + 1)).toBe("result");
	},
);

/** Rows between the others, so that each store has hits at places of its own: few of them among the newest, or the phrase is not rare. */
const rowsAt = (min: number, max: number, maxLength: number) =>
	fc.array(fc.tuple(fc.integer({ min, max }), fc.constantFrom("p q", "p q", "p q", "p x q")), {
		maxLength,
		size: "max",
	});
const someRows = fc
	.tuple(
		fc.oneof(rowsAt(1, ROWS - 400, 10), rowsAt(1, ROWS - 400, 500), rowsAt(1, 3000, 500)),
		rowsAt(ROWS - 350, ROWS + 20, 3),
	)
	.map((rows) => rows.flat());
const match = matchExpression(parseQuery('"p q"'), []);

function inStoreWith(rows: readonly (readonly [number, string])[], check: () => void): void {
	const { db } = connection;
	const insert = db.prepare("INSERT OR REPLACE INTO search (rowid, tags, text) VALUES (?, '', ?)");
	db.exec("BEGIN");
	try {
		for (const [n, text] of new Map(rows)) insert.run(n * STEP + 2, text);
		check();
	} finally {
		db.exec("ROLLBACK");
	}
}
/** Where other rows come: at ids that no row had before. */
const AT = [1, 3, 4];
const hits = () => connection.run(newestOf(match, 1, Number.MAX_SAFE_INTEGER, 1_000_000));

test("in any store, halves give the rows that one read gives", () => {
	let divisions = 0;
	fc.assert(
		fc.property(someRows, fc.integer({ min: 1, max: 300 }), (rows, count) => {
			inStoreWith(rows, () => {
				const op = () => newestOfRare(match, 1, Number.MAX_SAFE_INTEGER, count);
				const expected = hits().slice(0, count);
				expect(connection.run(op())).toEqual(expected);
				const found = inHalves(op);
				if (found) divisions++;
				expect(found ?? expected).toEqual(expected);
			});
		}),
		{ numRuns: 100 },
	);
	expect(divisions).toBeGreaterThan(20);
});

test("whatever is committed between the reads, rows that are gone are not found, and rows that stay are", () => {
	const change = fc.record({ gone: fc.array(fc.nat(), { maxLength: 8 }), come: rowsAt(1, ROWS + 20, 10) });
	let divisions = 0;
	fc.assert(
		fc.property(
			someRows,
			fc.tuple(change, change, change),
			fc.integer({ min: 1, max: 300 }),
			(rows, changes, count) => {
				inStoreWith(rows, () => {
					const { db } = connection;
					const insert = db.prepare("INSERT INTO search (rowid, tags, text) VALUES (?, '', ?)");
					const remove = db.prepare("DELETE FROM search WHERE rowid = ?");
					const stays = new Set(hits());
					const left = [...changes];
					const found = inHalves(
						() => newestOfRare(match, 1, Number.MAX_SAFE_INTEGER, count),
						() => {
							const { gone, come } = left.pop() as (typeof left)[number];
							const before = hits();
							for (const n of gone) {
								const id = before[n % before.length];
								if (id === undefined) continue;
								remove.run(id);
								stays.delete(id);
							}
							for (const [n, text] of new Map(come)) insert.run(n * STEP + (AT[left.length] as number), text);
							if (left.length === 1) db.exec("INSERT INTO search (search) VALUES ('optimize')");
						},
					);
					if (!found) return;
					divisions++;
					const now = new Set(hits());
					expect(found.filter((id) => !now.has(id))).toEqual([]);
					expect(found).toEqual([...new Set(found)].toSorted((a, b) => b - a));
					const end = found.length < count ? 0 : (found.at(-1) as number);
					expect([...stays].filter((id) => id >= end && !found.includes(id))).toEqual([]);
				});
			},
		),
		{ numRuns: 100 },
	);
	expect(divisions).toBeGreaterThan(20);
});

test("hits of other words or of another range are not taken", () => {
	const asked = matchExpression(parseQuery('"c b"'), []);
	const read = { fts: asked.fts, low: 1, middle: 2000, top: LAST, rows: ROWS };
	const found = (of: Partial<typeof read>) =>
		resultOf(newestOfRare(asked, 1, LAST, 64), { read: { ...read, ...of }, hits: [{ id: 10 }] });
	expect(found({ rows: ROWS + 1, middle: 2001 })).toEqual([10]);
	const other: Match = matchExpression(parseQuery('"a c"'), []);
	for (const of of [{ fts: other.fts }, { low: 2 }, { top: LAST - 1 }]) expect(found(of)).toEqual([]);
});

test("a row is found right after its commit", () => {
	const asked = matchExpression(parseQuery('"just written now"'), []);
	const find = () => connection.run(newestOfRare(asked, 1, Number.MAX_SAFE_INTEGER, 64));
	expect(find()).toEqual([]);
	connection.db
		.prepare("INSERT INTO search (rowid, tags, text) VALUES (?, '', 'just written now')")
		.run(LAST + 500);
	expect(find()).toEqual([LAST + 500]);
});
