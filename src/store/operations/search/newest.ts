// Finds the newest rows of a match. FTS5 starts at any row id, in either direction, but stops at the other end of the range only at a
// match, and reads a third faster from old to new. So a phrase with few hits is read from old to new, and all of its hits are known.
import { allWith, get, type Op, type Statement, sql, type Value } from "../../query.ts";
import type { Match } from "../../search-query.ts";

/** A phrase is rare if it has at most one hit in this part of the rows, the newest. */
const PROBED_PART = 32;
/** With fewer rows in all, it makes no difference. */
const MANY_ROWS = 10_000;
/** If more old rows than this match, it is not rare after all. */
const RARE = 256;

/** The index says that the words are in the row; if that is not enough, one of the alternatives is checked in the text. */
export const MATCHES = `x.tokens @@ ?::tsquery AND (?::text IS NULL OR search_matches(x.words, x.tokens, ?::json))`;

const between = (direction: "ASC" | "DESC"): Statement<{ id: number }> =>
	sql<{ id: number }>(
		`SELECT rowid AS id FROM search WHERE search MATCH ? AND rowid BETWEEN CAST(? AS BIGINT) AND CAST(? AS BIGINT)
		ORDER BY rowid ${direction} LIMIT ?`,
		`SELECT x.rowid AS id FROM search x WHERE ${MATCHES} AND x.rowid BETWEEN ?::bigint AND ?::bigint
		ORDER BY x.rowid ${direction} LIMIT ?`,
	);
const newestFirst = between("DESC");
const oldestFirst = between("ASC");
/** FTS5's own totals, which begin with the number of rows. In PostgreSQL a phrase is found in another way. */
const totals = sql<{ block: Uint8Array }>(
	"SELECT block FROM search_data WHERE id = 1",
	"SELECT NULL::bytea AS block WHERE false",
);
/** The row so many rows before the newest, or where the range begins; none if the range ends before the newest. */
const rowFromEnd = sql<{ id: number }>(
	`SELECT coalesce((SELECT id FROM search_docsize WHERE id >= CAST(? AS BIGINT)
		ORDER BY id DESC LIMIT 1 OFFSET CAST(? AS INTEGER)), CAST(? AS BIGINT)) AS id
	WHERE NOT EXISTS (SELECT 1 FROM search_docsize WHERE id > CAST(? AS BIGINT))`,
);

export function matched<Row>(
	statement: Statement<Row>,
	{ fts, tokens, check }: Match,
	...rest: readonly Value[]
): Op<Row[]> {
	return allWith(statement, [fts, ...rest], [tokens, check, check, ...rest]);
}

/** The newest hits between two ids, the newest first. */
export function* newestOf(match: Match, low: number, top: number, count: number): Op<number[]> {
	return (yield* matched(newestFirst, match, low, top, count)).map(({ id }) => id);
}

/** The same for a match that may have few hits among many rows that FTS5 has to compare. */
export function* newestOfRare(match: Match, low: number, top: number, count: number): Op<number[]> {
	const start = yield* probeStart(low, top);
	if (start === undefined) return yield* newestOf(match, low, top, count);
	const recent = yield* oldestOf(match, start, top, count);
	if (recent.length === count) return yield* newestOf(match, low, top, count);
	if (start === low) return recent.toReversed();
	if (recent.length <= 1) {
		const all = yield* oldestOf(match, low, top, RARE);
		if (all.length < RARE) return all.toReversed().slice(0, count);
	}
	return [...recent.toReversed(), ...(yield* newestOf(match, low, start - 1, count - recent.length))];
}

function* oldestOf(match: Match, low: number, top: number, count: number): Op<number[]> {
	return (yield* matched(oldestFirst, match, low, top, count)).map(({ id }) => id);
}

function* probeStart(low: number, top: number): Op<number | undefined> {
	const rows = numberIn((yield* get(totals))?.block);
	if (rows < MANY_ROWS) return undefined;
	return (yield* get(rowFromEnd, low, Math.floor(rows / PROBED_PART), low, top))?.id;
}

/** The first number of a record of FTS5: seven bits per byte, the highest first. */
function numberIn(block: Uint8Array = new Uint8Array()): number {
	let number = 0;
	for (const byte of block) {
		number = number * 128 + (byte % 128);
		if (byte < 128) break;
	}
	return number;
}
