// Finds the newest rows of a match. FTS5 starts at any row id, in either direction, but stops at the other end of the range only at a
// match, and reads a third faster from old to new. So a phrase with few hits is read from old to new, and all of its hits are known.
// That read can be divided: one part from a row in the middle to the newest, the other from there back to the oldest.
import { all, allWith, get, type Op, type Query, type Statement, sql, type Value } from "../../query.ts";
import type { Match } from "../../search-query.ts";

/** A phrase is rare if it has at most one hit in this part of the rows, the newest. */
const PROBED_PART = 32;
/** With fewer rows in all, it makes no difference. */
const MANY_ROWS = 10_000;
/** If more old rows than this match, it is not rare after all. */
const RARE = 256;
/** The part of the rows that takes half of the time if it is read from new to old, which is slower. */
const OLDER_PART = 0.46;

/** A read of all hits between two ids, in two halves: from the middle up, and from there down. */
export interface Divisible {
	readonly fts: string;
	readonly low: number;
	readonly middle: number;
	readonly top: number;
	/** In the whole index. */
	readonly rows: number;
}

export type Half = "older" | "newer";

/** The hits of both halves. */
export interface Found {
	readonly read: Divisible;
	readonly hits: readonly { id: number }[];
}

export type Divided<Result> =
	| { readonly kind: "result"; readonly result: Result }
	/** Both halves should be read first. Then the operation runs again, with what they found. */
	| { readonly kind: "halves"; readonly read: Divisible };

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
const rowFromEnd = sql<{ start: number; first: number }>(
	`SELECT coalesce((SELECT id FROM search_docsize WHERE id >= CAST(? AS BIGINT)
		ORDER BY id DESC LIMIT 1 OFFSET CAST(? AS INTEGER)), CAST(? AS BIGINT)) AS start,
		(SELECT min(id) FROM search_docsize WHERE id >= CAST(? AS BIGINT)) AS first
	WHERE NOT EXISTS (SELECT 1 FROM search_docsize WHERE id > CAST(? AS BIGINT))`,
);
const stillIndexed = sql<{ id: number }>(
	"SELECT id FROM search_docsize WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id DESC LIMIT ?",
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
	const probed = yield* probedPart(match, low, top);
	if (!probed) return yield* newestOf(match, low, top, count);
	const { start, divisible } = probed;
	const params = [match.fts, start, top, count];
	// Yielded, not asked: `divided` may know the answer.
	const answer = yield { statement: oldestFirst, params, mode: "all", divisible } as Query;
	if (!Array.isArray(answer)) return yield* newestAmong(answer as Found, match, count);
	const recent = (answer as { id: number }[]).map(({ id }) => id);
	if (recent.length === count) return yield* newestOf(match, low, top, count);
	if (start === low) return recent.toReversed();
	if (isRare(recent)) {
		const all = yield* oldestOf(match, low, top, RARE);
		if (all.length < RARE) return all.toReversed().slice(0, count);
	}
	return [...recent.toReversed(), ...(yield* newestOf(match, low, start - 1, count - recent.length))];
}

/** Runs an operation to its end, or until it looks for a rare phrase among at least so many rows whose hits are not known. */
export function* divided<Result>(op: Op<Result>, known: number | Found): Op<Divided<Result>> {
	let step = op.next();
	while (!step.done) {
		const query: Query & { readonly divisible?: Divisible } = step.value;
		const read = query.divisible;
		const answer = read && typeof known === "object" && isSame(read, known.read) ? known : yield query;
		if (read && typeof known === "number" && read.rows >= known && isRare(answer as []))
			return { kind: "halves", read };
		step = op.next(answer);
	}
	return { kind: "result", result: step.value };
}

/** In ascending order. */
export function* hitsOf({ fts, low, middle, top }: Divisible, half: Half): Op<{ id: number }[]> {
	if (half === "newer") return yield* all(oldestFirst, fts, middle, top, RARE);
	return (yield* all(newestFirst, fts, low, middle - 1, RARE)).reverse();
}

/** The halves were read earlier. What a row matches never changes, but the row may be gone since then, or hidden. */
function* newestAmong({ read: { low, top }, hits }: Found, match: Match, count: number): Op<number[]> {
	if (hits.length >= RARE) return yield* newestOf(match, low, top, count);
	const rows = yield* all(stillIndexed, JSON.stringify(hits.map(({ id }) => id)), count);
	return rows.map(({ id }) => id);
}

function isRare(recent: readonly unknown[]): boolean {
	return recent.length <= 1;
}

/** The scope may have changed, and with it the words to look for. */
function isSame(one: Divisible, other: Divisible): boolean {
	return one.fts === other.fts && one.low === other.low && one.top === other.top;
}

function* oldestOf(match: Match, low: number, top: number, count: number): Op<number[]> {
	return (yield* matched(oldestFirst, match, low, top, count)).map(({ id }) => id);
}

function* probedPart({ fts }: Match, low: number, top: number): Op<Probed | undefined> {
	const rows = numberIn((yield* get(totals))?.block);
	if (rows < MANY_ROWS) return undefined;
	const found = yield* get(rowFromEnd, low, Math.floor(rows / PROBED_PART), low, low, top);
	if (!found) return undefined;
	const { start, first } = found;
	const middle = Math.floor(first + OLDER_PART * (start - first));
	return { start, divisible: start === low ? undefined : { fts, low, middle, top, rows } };
}

interface Probed {
	readonly start: number;
	readonly divisible: Divisible | undefined;
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
