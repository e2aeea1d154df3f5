import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { matchExpression, parseQuery } from "../../search-query.ts";
import { searchTags, tag } from "../../search-text.ts";
import { Connection } from "../../sqlite/connection.ts";
import { newestOf, newestOfRare } from "./newest.ts";

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

test("the newest rows of a rare phrase are those that reading from the newest gives", () => {
	fc.assert(
		fc.property(
			query,
			tags,
			fc.tuple(fc.oneof(fc.constant(1), bound), fc.oneof(fc.constant(Number.MAX_SAFE_INTEGER), bound)),
			fc.integer({ min: 1, max: 100 }),
			(asked, tagged, [low, top], count) => {
				const match = matchExpression(parseQuery(asked), tagged);
				const found = connection.run(newestOfRare(match, low, top, count));
				expect(found).toEqual(connection.run(newestOf(match, low, top, count)));
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

test("a row is found right after its commit", () => {
	const asked = matchExpression(parseQuery('"just written now"'), []);
	const find = () => connection.run(newestOfRare(asked, 1, Number.MAX_SAFE_INTEGER, 64));
	expect(find()).toEqual([]);
	connection.db
		.prepare("INSERT INTO search (rowid, tags, text) VALUES (?, '', 'just written now')")
		.run(LAST + 500);
	expect(find()).toEqual([LAST + 500]);
});
