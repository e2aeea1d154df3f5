// Full-text search over messages and titles. Scope and filters are part of the index query, never applied afterwards. The index returns
// candidates; matching and ranking are decided here, the same for both databases.
import type { ConversationId, SessionId } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import type { Op } from "../../query.ts";
import { closenessOf, firstMatchesIn, frequencyOf, matchesIn } from "../../search-match.ts";
import { type Group, parseQuery } from "../../search-query.ts";
import { type SnippetPiece, snippetOf } from "../../search-snippet.ts";
import { searchable, tag } from "../../search-text.ts";
import type { Scope } from "../../types.ts";
import { samePrincipals } from "../people/principals.ts";
import { isOfProfile } from "../people/scope.ts";
import { IDS_PER_MS } from "../transcript/append.ts";
import { type Bounds, type Candidate, isLooselyAsked, isOver, type Wanted, windowOf } from "./candidates.ts";
import { type FoundRow, type Neighbour, neighboursOf, readRows, rowText, wholeText } from "./rows.ts";

const MAX_LIMIT = 100;
/** A literal may be rare among the index's hits: this many rows are read per page, and the next page continues. */
const ROWS_READ = 20_000;
/** How much of a text is scored. */
const SCORED_LENGTH = 8192;

const LATEST = Number.MAX_SAFE_INTEGER;
/** The last millisecond a message id can represent. */
const LAST_MS = Math.floor(LATEST / IDS_PER_MS);

const ROLES = ["user", "assistant", "tool", "title"] as const;
export type SearchRole = (typeof ROLES)[number];

export interface SearchArgs {
	readonly scope: Scope;
	/** Words; "a phrase"; pre*. Everything else is text, `C++` and `user@example.com` literally. */
	readonly query: string;
	readonly conversation?: ConversationId;
	readonly platform?: string;
	readonly role?: SearchRole;
	/** Messages from this time on and before the other; titles of sessions active in between. */
	readonly from?: number;
	readonly to?: number;
	/** 1 to 100. */
	readonly limit: number;
	/** `next` of the previous page, with the same query. */
	readonly cursor?: string;
}

interface Hit {
	readonly session: SessionId;
	readonly conversation: ConversationId;
	readonly createdAt: number;
	/** Higher is better; comparable only within one page. */
	readonly score: number;
	readonly snippet: readonly SnippetPiece[];
}

export interface MessageHit extends Hit {
	readonly kind: "message";
	readonly id: number;
	readonly seq: number;
	readonly role: Exclude<SearchRole, "title">;
	readonly before: Neighbour | null;
	readonly after: Neighbour | null;
}

/** A session's title; createdAt is the session's start. */
export interface TitleHit extends Hit {
	readonly kind: "title";
}

export type SearchHit = MessageHit | TitleHit;

export interface SearchResult {
	readonly hits: readonly SearchHit[];
	/** At least `count`, as far as searched; more: there may be others. */
	readonly total: { readonly count: number; readonly more: boolean };
	/** Pass it back for the next page; null if there is none. A page may be empty and still have a next one. */
	readonly next: string | null;
}

/**
 * Ranked among the newest 5,000 hits, best first; then the 5,000 before them, and so on. Every hit appears once, and
 * new messages change nothing about it. If between two pages a hit is deleted, or a session whose title is a hit is written to, the next page
 * may show another one twice or leave it out: a cursor says how far the order was shown, not what was.
 */
export function* search(args: SearchArgs): Op<SearchResult> {
	const start = checked(args);
	const groups = parseQuery(args.query);
	if (groups.length === 0) return { hits: [], total: { count: 0, more: false }, next: null };
	const readers = yield* readersOf(args.scope);
	const asked = wantedOf(args, groups, readers);
	const loose = start ? start.loose : yield* isLooselyAsked(asked);
	const { chosen, total, next } = yield* pageFrom(
		{ ...asked, loose },
		readers,
		start ?? BEGINNING,
		args.limit,
	);
	const hits: SearchHit[] = [];
	for (const one of chosen) hits.push(yield* toHit(one, groups));
	return { hits, total, next: next && written({ ...next, loose }) };
}

/** A position in the order of hits. */
interface HitPosition extends Bounds {
	readonly block: number;
	/** Hits of the block shown by earlier pages. */
	readonly shown: number;
	/** Hits of earlier windows. */
	readonly counted: number;
}

const BEGINNING: HitPosition = { message: LATEST, title: LATEST, block: 0, shown: 0, counted: 0 };

interface Chosen {
	readonly row: FoundRow;
	readonly score: number;
}

interface Page {
	readonly chosen: readonly Chosen[];
	readonly total: SearchResult["total"];
	readonly next: HitPosition | null;
}

function* pageFrom(wanted: Wanted, readers: Readers, from: HitPosition, limit: number): Op<Page> {
	const chosen: Chosen[] = [];
	let position = from;
	for (let read = 0; !isOver(position) && chosen.length < limit && read < ROWS_READ; ) {
		const window = yield* windowOf(wanted, position);
		const count = position.counted + window.count;
		read += window.read;
		for (let { block, shown } = position; block < window.blocks.length; block++, shown = 0) {
			const ranked = yield* rankedBlock(window.blocks[block] as readonly Candidate[], wanted.groups, readers);
			const taken = ranked.slice(shown, shown + limit - chosen.length);
			chosen.push(...taken);
			const rest = shown + taken.length < ranked.length;
			if (chosen.length < limit || (!rest && block === window.blocks.length - 1)) continue;
			const at = rest ? { block, shown: shown + taken.length } : { block: block + 1, shown: 0 };
			const next = { ...position, ...window.bounds, ...at };
			return { chosen, total: { count, more: window.next !== null }, next };
		}
		position = { ...(window.next ?? { message: 0, title: 0 }), block: 0, shown: 0, counted: count };
	}
	const more = !isOver(position);
	return { chosen, total: { count: position.counted, more }, next: more ? position : null };
}

/** The rows of a block, scored by ids and texts. */
function* rankedBlock(
	candidates: readonly Candidate[],
	groups: readonly Group[],
	readers: Readers,
): Op<Chosen[]> {
	const scores = new Map(candidates.map(({ id, score }) => [id, score]));
	const chosen: Chosen[] = [];
	for (const row of yield* readRows([...scores.keys()])) {
		if (!mayRead(readers, row)) continue;
		const matches = matchesIn(searchable(rowText(row)).slice(0, SCORED_LENGTH), groups);
		const near = groups.length > 1 ? 0.5 * closenessOf(matches, groups) : 0;
		const first = scores.get(row.id) as number;
		chosen.push({ row, score: first + frequencyOf(matches, groups.length) + near });
	}
	return chosen.sort((a, b) => b.score - a.score || b.row.id - a.row.id);
}

function* toHit({ row, score }: Chosen, groups: readonly Group[]): Op<SearchHit> {
	const text = yield* wholeText(row);
	const { session, conversation, created_at: createdAt } = row;
	const snippet = snippetOf(text, firstMatchesIn(text, groups));
	const hit = { session, conversation, createdAt, score: Math.round(score * 1000) / 1000, snippet };
	if (row.id < 0) return { kind: "title", ...hit };
	const role = row.role as MessageHit["role"];
	return { kind: "message", id: row.id, seq: row.seq, role, ...hit, ...(yield* neighboursOf(row)) };
}

/** The reader's scope as tags; null for the operator. */
type Readers = {
	readonly principals: readonly string[];
	readonly profile: string | null;
	readonly conversation?: string;
} | null;

function* readersOf(scope: Scope): Op<Readers> {
	if (scope.kind === "operator") return null;
	const { profile, conversation } = scope;
	return { principals: yield* samePrincipals(scope.principal), profile, conversation };
}

/** The tags already ensure this; if one were ever wrong, nothing is shown to a stranger. */
function mayRead(readers: Readers, row: FoundRow): boolean {
	if (!readers) return true;
	if (!isOfProfile(readers, row)) return false;
	if (row.conversation === readers.conversation) return true;
	return row.principal !== null && readers.principals.includes(row.principal);
}

function wantedOf(args: SearchArgs, groups: readonly Group[], readers: Readers): Wanted {
	const tags: string[][] = [];
	if (readers) {
		const owners = readers.principals.map((principal) => tag("o", principal));
		if (readers.conversation !== undefined) owners.push(tag("c", readers.conversation));
		tags.push(owners);
		if (readers.profile !== null) tags.push([tag("f", readers.profile)]);
	}
	if (args.conversation !== undefined) tags.push([tag("c", args.conversation)]);
	if (args.platform !== undefined) tags.push([tag("p", args.platform)]);
	if (args.role !== undefined) tags.push([tag("r", args.role)]);
	return {
		groups,
		tags,
		from: args.from ?? 0,
		to: args.to ?? LAST_MS,
		messages: args.role !== "title",
		titles: args.role === undefined || args.role === "title",
		loose: false,
	};
}

/** The position to continue from, if a cursor is given. */
function checked({ query, limit, from = 0, to = 0, role, cursor }: SearchArgs): CursorPosition | undefined {
	const refuse = (field: string, must: string): never => {
		throw new KeryxError("argument.invalid", `${field} must be ${must}`, { field });
	};
	if (typeof query !== "string") refuse("query", "a string");
	if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
		refuse("limit", `a whole number from 1 to ${MAX_LIMIT}`);
	for (const [field, time] of Object.entries({ from, to }))
		if (!Number.isInteger(time) || Math.abs(time) > LAST_MS) refuse(field, "a time in milliseconds");
	if (role !== undefined && !ROLES.includes(role)) refuse("role", `one of ${ROLES.join(", ")}`);
	return cursor === undefined
		? undefined
		: (positionIn(cursor) ?? refuse("cursor", "the cursor of an earlier page"));
}

interface CursorPosition extends HitPosition {
	readonly loose: boolean;
}

function written({ message, title, block, shown, counted, loose }: CursorPosition): string {
	return [message, title, block, shown, counted, loose ? 1 : 0].map((n) => n.toString(36)).join(".");
}

function positionIn(cursor: string): CursorPosition | undefined {
	if (!/^(?:[0-9a-z]{1,11}\.){5}[01]$/.test(cursor)) return undefined;
	const numbers = cursor.split(".").map((part) => Number.parseInt(part, 36));
	if (!numbers.every((n) => Number.isSafeInteger(n))) return undefined;
	const [message = 0, title = 0, block = 0, shown = 0, counted = 0, loose] = numbers;
	return { message, title, block, shown, counted, loose: loose === 1 };
}
