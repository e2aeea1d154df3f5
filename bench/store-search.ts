// Full-text search over a million messages, through the store: from the call to its answer. The messages are written by hand
// into the same tables, with the same search text, because a million turns would take an hour.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import Database from "better-sqlite3";
import type { ConversationId } from "../src/domain/index.ts";
import { NO_SECRETS, openStore, type Store, systemClock, systemIds } from "../src/store/index.ts";
import { searchTags, searchText } from "../src/store/search-text.ts";
import { atMost, measured, type Row } from "./harness.ts";

const MESSAGES = 1_000_000;
const BAR_MS = 30;
const LIMIT = 20;
const FIRST_MS = Date.UTC(2024, 0, 1);
const STEP_MS = 60_000;
const IDS_PER_MS = 1024;
const LENGTH = 500;

/** The conversation of 2,000 old messages: a tenth of those between the 10,000th and the 30,000th. */
const OLD = 0;
const OLD_FROM = 10_000;
const OLD_TO = 30_000;
const EVERYWHERE = "keryx";
const RARE = "needleword";

export async function searchRows(messages: number = MESSAGES): Promise<Row[]> {
	const folder = mkdtempSync(join(tmpdir(), "keryx-search-"));
	try {
		const path = join(folder, "store.db");
		await buildSearchStore(path, messages);
		return await measureSearch(path);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

/** A store with that many messages of about 500 bytes, in conversations of about 100. */
export async function buildSearchStore(path: string, messages: number): Promise<void> {
	await (await open(path)).close();
	const db = new Database(path);
	db.pragma("synchronous = OFF");
	db.pragma("cache_size = -400000");
	const conversations = Math.max(10, Math.floor(messages / 100));
	db.transaction(() => insertConversations(db, conversations))();
	const insertMessage = db.prepare(
		"INSERT INTO messages (id, session, seq, role, counted, created_at, body) VALUES (?, ?, ?, ?, 1, ?, ?)",
	);
	const insertSearch = db.prepare("INSERT INTO search (rowid, tags, text) VALUES (?, ?, ?)");
	const random = randomNumbers(1);
	const seqs = new Uint32Array(conversations + 1);
	const text = textMaker(random);
	const insertMany = db.transaction((from: number, to: number) => {
		for (let n = from; n < to; n++) {
			const isOld = n >= OLD_FROM && n < OLD_TO && n % 10 === 0;
			const conversation = isOld ? OLD : 1 + Math.floor(random() * conversations);
			const seq = (seqs[conversation] as number) + 1;
			seqs[conversation] = seq;
			const role = seq % 2 === 1 ? "user" : "assistant";
			const at = FIRST_MS + n * STEP_MS;
			const content = text(n);
			insertMessage.run(at * IDS_PER_MS, conversation + 1, seq, role, at, JSON.stringify({ content }));
			insertSearch.run(at * IDS_PER_MS, searchTags({ ...placeOf(conversation), role }), searchText(content));
		}
	});
	for (let n = 0; n < messages; n += 10_000) insertMany(n, Math.min(messages, n + 10_000));
	db.pragma("wal_checkpoint(TRUNCATE)");
	db.close();
}

function placeOf(n: number): {
	conversation: string;
	principal: string;
	profile: string;
	platform: string;
} {
	const id = n.toString(16).padStart(32, "0");
	return {
		conversation: `c${id}`,
		principal: `p${id}`,
		profile: "default",
		platform: n % 3 ? "telegram" : "discord",
	};
}

function insertConversations(db: Database.Database, count: number): void {
	const principal = db.prepare("INSERT INTO principals (id, created_at) VALUES (?, ?)");
	const conversation = db.prepare(
		`INSERT INTO conversations (id, key, platform, profile, chat_type, principal, shared, created_at, last_activity_at,
			source_body, preview_body) VALUES (?, ?, ?, ?, 'dm', ?, 0, ?, ?, '{}', '""')`,
	);
	const session = db.prepare(
		`INSERT INTO sessions (key, id, conversation, opened_by, started_at, last_activity_at, cap, title_digest, title_source,
			title_body, context_body) VALUES (?, ?, ?, 'first', ?, ?, 0, ?, 'derived', ?, '""')`,
	);
	const search = db.prepare("INSERT INTO search (rowid, tags, text) VALUES (?, ?, ?)");
	const random = randomNumbers(2);
	for (let n = 0; n <= count; n++) {
		const facts = placeOf(n);
		const title = `${EVERYWHERE} ${wordAt(random())} ${wordAt(random())}`;
		principal.run(facts.principal, FIRST_MS);
		conversation.run(
			facts.conversation,
			`agent:main:${facts.platform}:dm:${n}`,
			facts.platform,
			facts.profile,
			facts.principal,
			FIRST_MS,
			FIRST_MS,
		);
		session.run(
			n + 1,
			`session${n}`,
			facts.conversation,
			FIRST_MS,
			FIRST_MS,
			String(n),
			JSON.stringify(title),
		);
		search.run(-(n + 1), searchTags({ ...facts, role: "title" }), searchText(title));
	}
}

export async function measureSearch(path: string): Promise<Row[]> {
	const store = await open(path);
	try {
		const rows: Row[] = [];
		const phrases = somePhrases(path);
		for (const [name, { queries, hasBar = true }] of Object.entries(querySets(phrases)))
			rows.push(...(await timed(store, `search, 1,000,000 messages, 20 hits: ${name}`, queries, hasBar)));
		rows.push(...(await timedScope(store)));
		return rows;
	} finally {
		await store.close();
	}
}

const SAMPLES = 100;

/** Neighbouring words of messages from all over the store. */
function somePhrases(path: string): (words: number) => string {
	const db = new Database(path, { readonly: true });
	const { first, last } = db.prepare("SELECT min(id) AS first, max(id) AS last FROM messages").get() as {
		first: number;
		last: number;
	};
	const near = db.prepare("SELECT body FROM messages WHERE id >= ? ORDER BY id LIMIT 1").pluck();
	const random = randomNumbers(4);
	const texts = Array.from({ length: 4 * SAMPLES }, () => {
		const body = near.get(first + Math.floor(random() * (last - first))) as string;
		return (JSON.parse(body) as { content: string }).content.split(" ");
	});
	db.close();
	let next = 0;
	return (words) => {
		const text = texts[next++ % texts.length] as string[];
		const at = 8 + Math.floor(random() * (text.length - words - 8));
		return text.slice(at, at + words).join(" ");
	};
}

function querySets(
	phrase: (words: number) => string,
): Record<string, { readonly queries: readonly string[]; readonly hasBar?: boolean }> {
	const random = randomNumbers(3);
	const some = (query: () => string): readonly string[] => Array.from({ length: SAMPLES }, query);
	const letters = (length: number): string => `${wordAt(random()).padEnd(length, "a").slice(0, length)}*`;
	return {
		"a rare word": { queries: some(() => RARE) },
		"a word in every message": { queries: some(() => EVERYWHERE) },
		"any word": { queries: some(() => wordAt(random())) },
		"two words": { queries: some(() => `${wordAt(random())} ${wordAt(random())}`) },
		"a phrase of two neighbouring words": { queries: some(() => `"${phrase(2)}"`) },
		"a phrase of three neighbouring words": { queries: some(() => `"${phrase(3)}"`) },
		"a phrase in 1 % of messages, its words in all": { queries: some(() => '"zebra brown"') },
		"a phrase in none, its words in all": { queries: some(() => '"brown keryx"'), hasBar: false },
		"a prefix of 1 character": { queries: some(() => letters(1)) },
		"a prefix of 2 characters": { queries: some(() => letters(2)) },
		"a prefix of 3 characters": { queries: some(() => letters(3)) },
		"a prefix of 4 characters": { queries: some(() => letters(4)), hasBar: false },
		"a Chinese or Japanese word of 2 characters": { queries: some(() => cjk(random, 2)) },
		"a Chinese or Japanese character": { queries: some(() => cjk(random, 1)) },
		"C++, literally, in 20 messages, C in all": { queries: some(() => "C++"), hasBar: false },
	};
}

async function timed(
	store: Store,
	name: string,
	queries: readonly string[],
	hasBar: boolean,
): Promise<Row[]> {
	const times: number[] = [];
	for (const query of queries) {
		const began = performance.now();
		await store.search({ scope: { kind: "operator" }, query, limit: LIMIT });
		times.push(performance.now() - began);
	}
	return percentiles(name, times, hasBar);
}

/** The word that is everywhere, for the person whose 2,000 messages are old: each page, until every hit was seen. */
async function timedScope(store: Store): Promise<Row[]> {
	const { conversation, principal, profile } = placeOf(OLD);
	const scope = {
		kind: "principal",
		principal,
		profile,
		conversation: conversation as ConversationId,
	} as const;
	const times: number[] = [];
	const seen = new Set<number>();
	for (let cursor: string | undefined, isOver = false; !isOver; ) {
		const began = performance.now();
		const { hits, next } = await store.search({ scope, query: EVERYWHERE, limit: LIMIT, cursor });
		times.push(performance.now() - began);
		for (const hit of hits) if (hit.kind === "message") seen.add(hit.id);
		isOver = next === null;
		cursor = next ?? undefined;
	}
	return [
		...percentiles(
			"search in a scope of 2,000 old messages, a word in every message, each page of 20",
			times,
			true,
		),
		measured("messages found in that scope, all pages", seen.size, "of 2000"),
	];
}

function percentiles(name: string, times: readonly number[], hasBar: boolean): Row[] {
	const sorted = times.toSorted((a, b) => a - b);
	const at = (part: number): number =>
		sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] as number;
	const p95 = measured(`${name}, p95`, at(0.95), "ms");
	return [measured(`${name}, p50`, at(0.5), "ms"), hasBar ? atMost(BAR_MS, p95) : p95];
}

function open(path: string): Promise<Store> {
	return openStore({
		url: `sqlite:${path}`,
		clock: systemClock,
		ids: systemIds(systemClock),
		secrets: NO_SECRETS,
	});
}

/** The same numbers in every run. */
function randomNumbers(seed: number): () => number {
	let state = seed;
	return () => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return state / 2 ** 32;
	};
}

const SYLLABLES =
	"ba be bi bo bu da de di do du fa fen gle go ha hup ja jax ka ke ki la le lo ma me mo na ne no ox pa pra quin ra re ro sa se sho sta stra ta te to un va ve wa wor yel za".split(
		" ",
	);
const VOCABULARY = vocabulary(50_000);
/** How often a word comes falls with its rank, as in any language. */
const WEIGHTS = weights(VOCABULARY.length);

function vocabulary(size: number): readonly string[] {
	const random = randomNumbers(5);
	const words = new Set<string>();
	while (words.size < size) {
		let word = "";
		for (let left = 1 + Math.floor(random() * 4); left > 0; left--)
			word += SYLLABLES[Math.floor(random() * SYLLABLES.length)];
		words.add(word);
	}
	return [...words];
}

function weights(size: number): Float64Array {
	const sums = new Float64Array(size);
	let sum = 0;
	for (let rank = 0; rank < size; rank++) {
		sum += 1 / (rank + 3);
		sums[rank] = sum;
	}
	return sums.map((value) => value / sum);
}

/** The word for a number from 0 to 1. */
function wordAt(part: number): string {
	let low = 0;
	let high = WEIGHTS.length - 1;
	while (low < high) {
		const middle = (low + high) >> 1;
		if ((WEIGHTS[middle] as number) < part) low = middle + 1;
		else high = middle;
	}
	return VOCABULARY[low] as string;
}

/** Every message has keryx, brown, zebra and C; one in a hundred `zebra brown`; one in twenty some Japanese; a few what is rare. */
function textMaker(random: () => number): (n: number) => string {
	return (n) => {
		const words = [EVERYWHERE, "C", "brown", wordAt(random()), "zebra"];
		if (n % 100 === 0) words.push("brown");
		if (n % 50_000 === 7) words.push(RARE, "C++");
		if (n % 20 === 0) words.push(cjk(random, 8));
		for (let length = 40; length < LENGTH; ) {
			const word = wordAt(random());
			words.push(word);
			length += word.length + 1;
		}
		return words.join(" ");
	};
}

const CHARACTERS = Array.from("東京大阪都会議予定明日今天気電車時間仕事学校日本語勉強中国北上海");

function cjk(random: () => number, length: number): string {
	let text = "";
	while (text.length < length) text += CHARACTERS[Math.floor(random() ** 2 * CHARACTERS.length)];
	return text;
}
