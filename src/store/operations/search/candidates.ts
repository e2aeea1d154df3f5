// Selects the rows a query is ranked among: the newest matches, by id, with a first score from the id. bm25() would count every hit of
// the whole store first; here the cost is limited by the rows looked at. SQLite uses FTS5's MATCH, which continues beyond a range of row
// ids until it finds a match; PostgreSQL uses words in a GIN index, and the text for adjacent words. Both return the same rows.
import { get, type Op, sql } from "../../query.ts";
import { holdsAll, plainSign } from "../../search-match.ts";
import { anyOf, asPhrase, type Group, matchExpression, shortened } from "../../search-query.ts";
import { tag } from "../../search-text.ts";
import { IDS_PER_MS } from "../transcript/append.ts";
import { MATCHES, matched, newestOf, newestOfRare } from "./newest.ts";
import { textsOf } from "./rows.ts";

/** Ranking covers this many of the newest hits; fewer if their text must be split into words first. */
const CANDIDATES = 5000;
const PARTED_CANDIDATES = 500;
const TITLES = 1000;
/** Initial number of hits for several words, and for a phrase; more only while about this many rows are read. */
const FIRST_OF_WORDS = 500;
const FIRST_OF_PHRASE = 64;
const ROWS_LOOKED_AT = 50_000;
/** A long prefix is common if this many of this many rows with its first letters have it. */
const PROBED = 300;
const COMMON = 15;

/** Bodies are read and ranked in blocks of this size; this many may be titles while there are messages. */
const BLOCK = 64;
const TITLES_IN_BLOCK = 8;

const DAY_MS = 86_400_000;
const LESS_BY_HALF_DAYS = 30;

const TITLES_BETWEEN =
	"s.last_activity_at >= CAST(? AS BIGINT) AND s.started_at < CAST(? AS BIGINT) ORDER BY x.rowid LIMIT ?";
const matchingTitles = sql<{ key: number; at: number }>(
	`SELECT s.key, s.last_activity_at AS at FROM search x JOIN sessions s ON s.key = -x.rowid
	WHERE x.search MATCH ? AND x.rowid BETWEEN CAST(? AS BIGINT) AND -1 AND ${TITLES_BETWEEN}`,
	`SELECT s.key, s.last_activity_at AS at FROM search x JOIN sessions s ON s.key = -x.rowid
	WHERE ${MATCHES} AND x.rowid BETWEEN ?::bigint AND -1 AND ${TITLES_BETWEEN}`,
);
const rowsBetween = sql<{ n: number }>(
	`SELECT count(*) AS n FROM (SELECT 1 FROM search_docsize
		WHERE id BETWEEN CAST(? AS BIGINT) AND CAST(? AS BIGINT) LIMIT ${ROWS_LOOKED_AT})`,
	`SELECT count(*) AS n FROM (SELECT 1 FROM search
		WHERE rowid BETWEEN ?::bigint AND ?::bigint LIMIT ${ROWS_LOOKED_AT}) r`,
);

const conversationOf = sql<{ conversation: string }>(
	"SELECT s.conversation FROM messages m JOIN sessions s ON s.key = m.session WHERE m.id = ?",
);

export interface Wanted {
	readonly groups: readonly Group[];
	/** The row must have one of each set: scope and filters. */
	readonly tags: readonly (readonly string[])[];
	/** From (inclusive) to (exclusive), in milliseconds. */
	readonly from: number;
	readonly to: number;
	readonly messages: boolean;
	readonly titles: boolean;
	/** Long prefixes are searched by their first letters and checked in the text. */
	readonly loose: boolean;
}

/** How far the search has come: only messages up to this id and titles of sessions up to this key remain. */
export interface Bounds {
	readonly message: number;
	readonly title: number;
}

/** Whether there is nothing more to find. */
export function isOver({ message, title }: Bounds): boolean {
	return message <= 0 && title <= 0;
}

export interface Candidate {
	/** A message's id, or a session's key as a negative number for its title. */
	readonly id: number;
	readonly score: number;
}

export interface Window {
	/** Reproduces the same window, however many messages have arrived since. */
	readonly bounds: Bounds;
	readonly count: number;
	/** How many rows were read to find the hits. */
	readonly read: number;
	/** Best first. */
	readonly blocks: readonly (readonly Candidate[])[];
	/** Where the next window starts; null if this was the last. */
	readonly next: Bounds | null;
}

export function* windowOf(wanted: Wanted, bounds: Bounds): Op<Window> {
	const messages =
		wanted.messages && bounds.message > 0 ? yield* newestMessages(wanted, bounds.message) : NOTHING;
	const titles = wanted.titles && bounds.title > 0 ? yield* newestTitles(wanted, bounds.title) : NOTHING;
	const next = { message: messages.next, title: titles.next };
	const newest = Math.max(messages.hits[0]?.at ?? 0, ...titles.hits.map(({ at }) => at));
	return {
		bounds: { message: messages.first, title: titles.first },
		count: messages.hits.length + titles.hits.length,
		read: messages.read + titles.read,
		blocks: inBlocks(ranked(messages.hits, newest), ranked(titles.hits, newest)),
		next: isOver(next) ? null : next,
	};
}

/**
 * For a prefix longer than the index knows, SQLite reads every row of every matching word: cheap while they are few. If they are many, it
 * is better to search the first letters and check the text. Decided once per search.
 */
export function* isLooselyAsked(wanted: Wanted): Op<boolean> {
	const checked = wanted.groups.filter((group) => shortened(group) !== group);
	if (checked.length === 0) return false;
	const match = matchExpression(wanted.groups.map(shortened), wanted.tags);
	const texts = yield* textsOf(yield* newestOf(match, ...idRange(wanted), PROBED));
	let hits = 0;
	for (const text of texts.values()) if (holdsAll(text, checked)) hits++;
	return hits >= COMMON;
}

interface Hit {
	readonly id: number;
	readonly at: number;
	readonly bonus: number;
}

interface Found {
	readonly hits: readonly Hit[];
	readonly read: number;
	/** The bound that finds these again, and the one for the next; 0: none. */
	readonly first: number;
	readonly next: number;
}

const NOTHING: Found = { hits: [], read: 0, first: 0, next: 0 };

/** The weight of an exact phrase and of a title; being new is worth at most 0.5. */
const PHRASE_BONUS = 0.5;
const TITLE_BONUS = 0.3;

function* newestMessages(wanted: Wanted, bound: number): Op<Found> {
	const [low, latest] = idRange(wanted);
	const top = Math.min(bound, latest);
	if (top < low) return NOTHING;
	const { ids, full } = yield* newestIds(wanted, low, top);
	const { held, read } = yield* checkedIn(wanted, ids);
	const phrased = held.length > BLOCK ? yield* phrasesAmong(wanted, ids, full) : new Set();
	return {
		hits: held.map((id) => ({ id, at: id / IDS_PER_MS, bonus: phrased.has(id) ? PHRASE_BONUS : 0 })),
		read,
		first: ids[0] ?? 0,
		next: full ? (ids.at(-1) as number) - 1 : 0,
	};
}

function* newestIds(wanted: Wanted, low: number, top: number): Op<{ ids: readonly number[]; full: boolean }> {
	const asked = askedOf(wanted);
	const match = matchExpression(asked, wanted.tags);
	const most = wanted.loose ? PARTED_CANDIDATES : CANDIDATES;
	// Words that are common but rarely together make SQLite read many rows per hit.
	const isPhrase = asked.some((group) => group.words.length > 1);
	const first = isPhrase ? FIRST_OF_PHRASE : asked.length > 1 ? FIRST_OF_WORDS : most;
	const ids = yield* (isPhrase ? newestOfRare : newestOf)(match, low, top, first);
	if (ids.length < first || first === most) return { ids, full: ids.length === first };
	const last = ids.at(-1) as number;
	const { n: rows } = (yield* get(rowsBetween, last, ids[0] as number)) ?? { n: first };
	const more = Math.min(most, Math.floor((first * ROWS_LOOKED_AT) / Math.max(rows, 1))) - first;
	if (more <= 0) return { ids, full: true };
	const others = yield* newestOf(match, low, last - 1, more);
	return { ids: [...ids, ...others], full: others.length === more };
}

/**
 * Hits with the words as they were typed. Without a match just outside the range, SQLite would search to the end of the store; the last
 * hit serves as one, by its conversation.
 */
function* phrasesAmong(wanted: Wanted, ids: readonly number[], full: boolean): Op<Set<number>> {
	const { tags } = wanted;
	const asked = askedOf(wanted);
	const phrase = asPhrase(asked);
	const last = ids.at(-1) as number;
	const end = phrase && full ? (yield* get(conversationOf, last))?.conversation : undefined;
	if (!phrase || (full && end === undefined)) return new Set();
	const exact = matchExpression([phrase], tags);
	const match = end === undefined ? exact : anyOf(exact, matchExpression(asked, [...tags, [tag("c", end)]]));
	return new Set(yield* newestOf(match, full ? last + 1 : last, ids[0] as number, CANDIDATES));
}

function* newestTitles(wanted: Wanted, bound: number): Op<Found> {
	// The role keeps SQLite among the titles.
	const match = matchExpression(askedOf(wanted), [...wanted.tags, [tag("r", "title")]]);
	const rows = yield* matched(matchingTitles, match, -bound, wanted.from, wanted.to, TITLES);
	const { held, read } = yield* checkedIn(
		wanted,
		rows.map(({ key }) => -key),
	);
	const times = new Map(rows.map(({ key, at }) => [-key, at]));
	return {
		hits: held.map((id) => ({ id, at: times.get(id) as number, bonus: TITLE_BONUS })),
		read,
		first: rows[0]?.key ?? 0,
		next: rows.length === TITLES ? (rows.at(-1) as { key: number }).key - 1 : 0,
	};
}

/** What the index cannot decide is checked in the texts. */
function* checkedIn(
	{ groups, loose }: Wanted,
	ids: readonly number[],
): Op<{ held: readonly number[]; read: number }> {
	const checked = groups.filter((group) => group.literal !== null || (loose && shortened(group) !== group));
	if (checked.length === 0) return { held: ids, read: 0 };
	const texts = yield* textsOf(ids, plainSign(checked));
	const held = ids.filter((id) => {
		const text = texts.get(id);
		return text !== undefined && holdsAll(text, checked);
	});
	return { held, read: ids.length };
}

function askedOf({ groups, loose }: Wanted): readonly Group[] {
	return loose ? groups.map(shortened) : groups;
}

function idRange({ from, to }: Wanted): [low: number, top: number] {
	return [Math.max(1, from * IDS_PER_MS), to * IDS_PER_MS - 1];
}

/** Half for being new, halved after a month, plus the weight of its kind. */
function ranked(hits: readonly Hit[], newest: number): Candidate[] {
	return hits
		.map(({ id, at, bonus }) => {
			const days = Math.max(0, newest - at) / DAY_MS;
			return { id, score: 0.5 / (1 + days / LESS_BY_HALF_DAYS) + bonus };
		})
		.sort((a, b) => b.score - a.score || b.id - a.id);
}

function inBlocks(messages: readonly Candidate[], titles: readonly Candidate[]): Candidate[][] {
	const blocks: Candidate[][] = [];
	let message = 0;
	let title = 0;
	while (message < messages.length || title < titles.length) {
		const left = messages.length - message;
		const some = titles.slice(title, title + Math.max(TITLES_IN_BLOCK, BLOCK - left));
		const rest = messages.slice(message, message + BLOCK - some.length);
		title += some.length;
		message += rest.length;
		blocks.push([...some, ...rest]);
	}
	return blocks;
}
