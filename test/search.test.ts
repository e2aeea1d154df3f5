import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import fc from "fast-check";
import { describe, expect } from "vitest";
import type { ConversationId } from "../src/domain/index.ts";
import { NO_SECRETS, openStore, type Scope, type Store } from "../src/store/index.ts";
import { holdsAll } from "../src/store/search-match.ts";
import { parseQuery } from "../src/store/search-query.ts";
import {
	ADA,
	type Begun,
	BOB,
	GROUP,
	OPERATOR,
	principalScope,
	refused,
	Scene,
	type SourceFields,
	teller,
} from "../src/testing/conformance/store/scene.ts";
import { countedIds, createWallClock, HOUR, MINUTE } from "./support/clock.ts";

type SearchArgs = Parameters<Store["search"]>[0];
type SearchResult = Awaited<ReturnType<Store["search"]>>;
type Hit = SearchResult["hits"][number];

const tell = teller(async () => {
	const clock = createWallClock();
	const store = await openStore({ url: "sqlite::memory:", clock, ids: countedIds(), secrets: NO_SECRETS });
	return { store, clock, close: () => store.close() };
});

function search(scene: Scene, query: string, more: Partial<SearchArgs> = {}): Promise<SearchResult> {
	return scene.store.search({ scope: OPERATOR, query, limit: 20, ...more });
}

/** The texts of the hits as they are shown, marks in brackets; in order of the text, for comparing. */
async function found(scene: Scene, query: string, more: Partial<SearchArgs> = {}): Promise<string[]> {
	return (await search(scene, query, more)).hits.map(shown).sort();
}

function shown({ snippet }: Hit): string {
	return snippet.map(({ text, marked }) => (marked ? `[${text}]` : text)).join("");
}

const NONE = { count: 0, more: false };

/** Every page until there is none left. */
async function everyPage(scene: Scene, query: string, more: Partial<SearchArgs> = {}): Promise<Hit[]> {
	const hits: Hit[] = [];
	for (let cursor: string | undefined; ; ) {
		const page = await search(scene, query, { ...more, ...(cursor !== undefined && { cursor }) });
		hits.push(...page.hits);
		if (page.next === null) return hits;
		cursor = page.next;
	}
}

/** A person's message with many more rows after it, in one turn that goes on. */
async function saying(scene: Scene, texts: readonly string[], place: SourceFields = ADA): Promise<Begun> {
	const turn = await scene.turn("begin", place);
	for (let from = 0; from < texts.length; from += 1000) {
		scene.clock.advance(1000);
		const part = texts.slice(from, from + 1000);
		await scene.append(
			turn,
			part.map((content, n) => ({ role: "assistant", content, index: turn.nextIndex + from + n })),
		);
	}
	return turn;
}

describe("what is typed", () => {
	const SAID = [
		"It's late, isn't it?",
		"it s not the same",
		"write to user@example.com today",
		"the user of example dot com",
		"we are 100% sure",
		"100 people",
		"look in /usr/bin first",
		"usr and bin",
		"I like C++ more",
		"I like C more",
		"do NOT deploy",
		"please deploy AND test a:b",
		"an exact phrase here",
		"a phrase, not exact",
		"prefixed and prefixes",
		"我们明天去东京开会",
		"水を飲む",
		"東京タワーに行きたい",
		"ฉันรักเมืองไทย",
		"서울에서 만나요",
		"مرحبا يا أَحْمَد",
		"Café au lait, déjà vu",
		"well done 👍🏽",
		"the family 👨‍👩‍👧 is here",
		"from 🇩🇪 with love",
		"ΟΔΟΣ",
	];

	const scenes = {
		"it's": ["[It's] late, isn't it?"],
		"IT’S": ["[It's] late, isn't it?"],
		"user@example.com": ["write to [user@example.com] today"],
		"100%": ["we are [100%] sure"],
		"/usr/bin": ["look in [/usr/bin] first"],
		"C++": ["I like [C++] more"],
		"c++": ["I like [C++] more"],
		"NOT deploy": ["do [NOT] [deploy]"],
		AND: ["please deploy [AND] test a:b", "usr [and] bin", "prefixed [and] prefixes"],
		"a:b": ["please deploy AND test [a:b]"],
		'"exact phrase"': ["an [exact phrase] here"],
		"exact phrase": ["a [phrase], not [exact]", "an [exact] [phrase] here"],
		"prefix*": ["[prefixed] and [prefixes]"],
		"pre*": ["[prefixed] and [prefixes]"],
		prefix: [],
		明: ["我们[明]天去东京开会"],
		明天: ["我们[明天]去东京开会"],
		东京开会: ["我们明天去[东京开会]"],
		水: ["[水]を飲む"],
		飲む: ["水を[飲む]"],
		東京タワー: ["[東京タワー]に行きたい"],
		ワー: ["東京タ[ワー]に行きたい"],
		東天: [],
		เมือง: ["ฉันรัก[เมือง]ไทย"],
		서울: ["[서울]에서 만나요"],
		احمد: ["مرحبا يا [أَحْمَد]"],
		cafe: ["[Café] au lait, déjà vu"],
		DÉJÀ: ["Café au lait, [déjà] vu"],
		"deja\u0300": ["Café au lait, [déjà] vu"],
		"👍": ["well done [👍]🏽"],
		"👍🏽": ["well done [👍🏽]"],
		"👍🏿": [],
		"👨‍👩‍👧": ["the family [👨‍👩‍👧] is here"],
		"👩": ["the family 👨‍[👩]‍👧 is here"],
		"👧👨": [],
		"🇩🇪": ["from [🇩🇪] with love"],
		"🇪🇩": [],
		οδός: ["[ΟΔΟΣ]"],
		'"phrase': ["a [phrase], not exact", "an exact [phrase] here"],
		"": [],
		"   ": [],
		"*": [],
		'"': [],
		"!?+-": [],
		"\0": [],
		"\ud800": [],
		"deploy\0test": [],
		nowhere: [],
	} satisfies Record<string, string[]>;

	tell("is found as it is meant, and only there", async (scene) => {
		await saying(scene, SAID);
		for (const [query, expected] of Object.entries(scenes))
			expect([query, await found(scene, query)]).toEqual([query, expected.toSorted()]);
	});

	tell("is refused by name when it is too long, and so is everything else that is wrong", async (scene) => {
		await saying(scene, SAID);
		for (const [wrong, field] of [
			[{ query: "x".repeat(10_000) }, "query"],
			[{ query: "x ".repeat(500) }, "query"],
			[{ query: 7 as never }, "query"],
			[{ limit: 0 }, "limit"],
			[{ limit: 101 }, "limit"],
			[{ limit: 1.5 }, "limit"],
			[{ from: Number.NaN }, "from"],
			[{ to: Number.POSITIVE_INFINITY }, "to"],
			[{ role: "nobody" as never }, "role"],
			[{ cursor: "" }, "cursor"],
			[{ cursor: "1.2.3" }, "cursor"],
			[{ cursor: "zzzzzzzzzzz.0.0.0.0.0" }, "cursor"],
		] as [Partial<SearchArgs>, string][])
			expect(await refused(search(scene, "deploy", wrong))).toMatchObject({
				code: "argument.invalid",
				field,
			});
	});

	const unit = fc.oneof(
		fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
		fc.constantFrom(..."abc \n\"*'+-()^:.{}\0\ud800\udc00東京あร👍🏽\u200d🇩🇪\ufe0f\u0301é한ـβΣ%"),
	);
	const anything = fc.array(unit, { maxLength: 25 }).map((units) => units.join(""));

	tell("never fails otherwise, whatever it is", async (scene) => {
		await saying(scene, [...SAID, "\0\ud800", "\ufeff"]);
		await fc.assert(
			fc.asyncProperty(anything, async (query) => {
				const { hits, total, next } = await search(scene, query, { limit: 5 });
				expect(hits.length).toBeLessThanOrEqual(5);
				expect(total.count).toBeGreaterThanOrEqual(hits.length);
				expect(next === null || hits.length === 5).toBe(true);
			}),
			{ numRuns: 500 },
		);
	});

	tell("finds exactly the texts in which all of it stands", async (scene) => {
		const word = fc.constantFrom(
			..."a b ab C++ C a-b it's 東 東京 京都 東京都 ที่ ที 👍 👍🏽 é 한국 100% .env".split(" "),
		);
		const texts = fc.sample(fc.array(word, { minLength: 1, maxLength: 6 }), { numRuns: 120, seed: 7 });
		const said = texts.map((words, n) => words.join(n % 2 === 0 ? " " : ""));
		await saying(scene, said);
		const term = fc.oneof(
			word,
			fc.tuple(word, word).map(([a, b]) => `"${a} ${b}"`),
			word.map((one) => `${one}*`),
		);
		await fc.assert(
			fc.asyncProperty(fc.array(term, { minLength: 1, maxLength: 3 }), async (terms) => {
				const query = terms.join(" ");
				const ids = (await everyPage(scene, query, { limit: 100, role: "assistant" })).map((hit) =>
					hit.kind === "message" ? hit.seq - 2 : -1,
				);
				const expected = said.flatMap((text, n) => (holdsAll(text, parseQuery(query)) ? [n] : []));
				expect(ids.toSorted((a, b) => a - b)).toEqual(expected);
			}),
			{ numRuns: 200 },
		);
	});

	tell("finds whatever was said, by any part of it between two spaces", async (scene) => {
		const turn = await scene.turn("begin");
		let index = turn.nextIndex;
		await fc.assert(
			fc.asyncProperty(anything, async (text) => {
				const { rows } = await scene.append(turn, [{ role: "assistant", content: text, index: index++ }]);
				for (const part of text.split(/\s+/)) {
					if (/["“”„‟*]/.test(part) || parseQuery(part).length === 0) continue;
					const ids = (await everyPage(scene, part)).map((hit) => hit.kind === "message" && hit.id);
					expect(ids).toContain(rows[0]?.id);
				}
			}),
			{ numRuns: 150 },
		);
	});
});

describe("who searches", () => {
	tell("sees their own conversations and the one they speak in, and no other", async (scene) => {
		const ada = await scene.say("secret of Ada");
		const bob = await scene.say("secret of Bob", BOB);
		const group = await scene.say("secret of the group", { ...GROUP, user_id: "100" });
		for (const { id, conversation } of [ada, bob, group]) await scene.begin(conversation, [id]);
		expect(await found(scene, "secret")).toHaveLength(3);
		const mine = principalScope(ada.principal);
		expect(await found(scene, "secret", { scope: mine })).toEqual(["[secret] of Ada"]);
		const here = principalScope(ada.principal, { conversation: group.conversation });
		expect(await found(scene, "secret", { scope: here })).toEqual([
			"[secret] of Ada",
			"[secret] of the group",
		]);
		for (const scope of [
			principalScope(ada.principal, { profile: "other" }),
			principalScope("nobody"),
			principalScope(null),
			principalScope(`${ada.principal}x`),
		] satisfies Scope[])
			expect(await search(scene, "secret", { scope })).toEqual({ hits: [], total: NONE, next: null });
		expect(await found(scene, "secret", { scope: mine, conversation: bob.conversation })).toEqual([]);
		expect(await search(scene, "secret", { scope: mine })).toMatchObject({
			total: { count: 1, more: false },
		});
	});

	tell("sees what was said under every id that is now the same person", async (scene) => {
		const first = await scene.say("cake on Telegram");
		const second = await scene.say("cake on Discord", { platform: "discord", chat_id: "9", user_id: "9" });
		for (const { id, conversation } of [first, second]) await scene.begin(conversation, [id]);
		const scopes = [principalScope(first.principal), principalScope(second.principal)];
		for (const scope of scopes) expect(await found(scene, "cake", { scope })).toHaveLength(1);
		await scene.store.link({ a: { platform: "telegram", id: "100" }, b: { platform: "discord", id: "9" } });
		for (const scope of scopes)
			expect(await found(scene, "cake", { scope })).toEqual(["[cake] on Discord", "[cake] on Telegram"]);
	});

	tell("is shown nothing that the index holds by mistake", async () => {
		const folder = mkdtempSync(join(tmpdir(), "keryx-search-"));
		const clock = createWallClock();
		const open = (): Promise<Store> =>
			openStore({ url: `sqlite:${join(folder, "store.db")}`, clock, ids: countedIds(), secrets: NO_SECRETS });
		try {
			const scene = new Scene({ store: await open(), clock, close: () => Promise.resolve() });
			const ada = await scene.say("secret of Ada");
			const bob = await scene.say("hello from Bob", BOB);
			for (const { id, conversation } of [ada, bob]) await scene.begin(conversation, [id]);
			await scene.store.close();
			const db = new Database(join(folder, "store.db"));
			const ids = db.prepare("SELECT id FROM messages ORDER BY id").pluck().all() as number[];
			const { principal: owner } = bob;
			const tags = `\ue000o${owner} \ue000f \ue000ruser`;
			db.prepare("DELETE FROM search WHERE rowid = ?").run(ids[0]);
			db.prepare("INSERT INTO search (rowid, tags, text) VALUES (?, ?, 'secret of Ada')").run(ids[0], tags);
			db.prepare("INSERT INTO search (rowid, tags, text) VALUES (12345, ?, 'secret')").run(tags);
			db.close();
			scene.store = await open();
			expect(await found(scene, "hello", { scope: principalScope(owner) })).toEqual(["[hello] from Bob"]);
			expect(await found(scene, "secret", { scope: principalScope(owner) })).toEqual([]);
			await scene.store.close();
		} finally {
			rmSync(folder, { recursive: true, force: true });
		}
	});
});

describe("filters", () => {
	tell("are conversation, platform, role and time", async (scene) => {
		const first = await scene.turn("tea at noon");
		scene.clock.advance(HOUR);
		await scene.append(first, [
			{ role: "assistant", content: "tea is ready", index: 1 },
			{ role: "tool", content: "tea: 90 degrees", toolCallId: "1", toolName: "kettle", index: 2 },
			{ role: "system", content: "tea for the system", index: 3 },
		]);
		scene.clock.advance(HOUR);
		const second = await scene.turn("tea on Discord", { platform: "discord", chat_id: "9", user_id: "9" });
		const now = scene.clock.now();
		expect(await found(scene, "tea")).toHaveLength(4);
		for (const [filter, expected] of [
			[{ conversation: second.conversation }, ["[tea] on Discord"]],
			[{ conversation: "nowhere" as ConversationId }, []],
			[{ platform: "telegram" }, ["[tea] at noon", "[tea] is ready", "[tea]: 90 degrees"]],
			[{ platform: "tele" }, []],
			[{ role: "tool" }, ["[tea]: 90 degrees"]],
			[{ role: "user", platform: "telegram" }, ["[tea] at noon"]],
			[{ from: now }, ["[tea] on Discord"]],
			[{ from: now + 1 }, []],
			[{ to: now - HOUR }, ["[tea] at noon"]],
			[{ from: now - HOUR, to: now }, ["[tea] is ready", "[tea]: 90 degrees"]],
			[{ from: now, to: now }, []],
			[{ from: -1, to: -1 }, []],
		] as [Partial<SearchArgs>, string[]][])
			expect([filter, await found(scene, "tea", filter)]).toEqual([filter, expected]);
	});

	tell("find all hits of an old scope, however many newer ones others have", async (scene) => {
		const own = Array.from({ length: 250 }, (_, n) => `the everywhere word, mine ${n}`);
		const { conversation } = await saying(scene, own, ADA);
		const others = Array.from({ length: 6000 }, (_, n) => `the everywhere word, others ${n}`);
		await saying(scene, others, BOB);
		const { principal } = await scene.say("again");
		for (const more of [
			{ scope: principalScope(principal), limit: 100 },
			{ conversation, limit: 99 },
			{ scope: principalScope(principal), conversation, platform: "telegram", role: "assistant", limit: 100 },
		] as Partial<SearchArgs>[]) {
			const hits = await everyPage(scene, "everywhere", more);
			expect(hits).toHaveLength(250);
			expect(new Set(hits.map((hit) => hit.conversation))).toEqual(new Set([conversation]));
		}
		expect((await search(scene, "everywhere", { scope: principalScope(principal) })).total).toEqual({
			count: 250,
			more: false,
		});
	});
});

describe("hits", () => {
	tell("name their message and show what was said before and after it", async (scene) => {
		const turn = await scene.turn("where is the cake?");
		await scene.append(turn, [
			{ role: "assistant", content: "I look into\nthe\u001b fridge", index: 1 },
			{ role: "meta", kind: "note", content: "a note about cake", index: 2 },
			{ role: "tool", content: "one cake", toolCallId: "1", toolName: "fridge", index: 3 },
			{ role: "assistant", content: "there", index: 4 },
		]);
		const { hits } = await search(scene, "one cake", { role: "tool" });
		const rows = await scene.rows(turn.session);
		expect(hits).toEqual([
			{
				kind: "message",
				id: rows[3]?.id,
				session: turn.session,
				conversation: turn.conversation,
				seq: 4,
				role: "tool",
				createdAt: scene.clock.now(),
				score: expect.any(Number),
				snippet: [
					{ text: "one", marked: true },
					{ text: " ", marked: false },
					{ text: "cake", marked: true },
				],
				before: { id: rows[1]?.id, seq: 2, role: "assistant", preview: "I look into the fridge" },
				after: { id: rows[4]?.id, seq: 5, role: "assistant", preview: "there" },
			},
		]);
		const [first] = (await search(scene, "where", { role: "user" })).hits;
		expect(first).toMatchObject({ before: null, after: { seq: 2 } });
	});

	tell("are titles too, under their present name", async (scene) => {
		const { session, conversation } = await scene.exchange("hello", "hi");
		await scene.store.setTitle({ session, title: "Plans for Tōkyō", source: "user" });
		const { startedAt } = await scene.session(session);
		expect((await search(scene, "tokyo")).hits).toEqual([
			{
				kind: "title",
				session,
				conversation,
				createdAt: startedAt,
				score: expect.any(Number),
				snippet: [
					{ text: "Plans for ", marked: false },
					{ text: "Tōkyō", marked: true },
				],
			},
		]);
		expect(await found(scene, "tokyo", { role: "title" })).toHaveLength(1);
		expect(await found(scene, "tokyo", { role: "user" })).toEqual([]);
		expect(await found(scene, "tokyo", { scope: principalScope("nobody") })).toEqual([]);
		expect(await found(scene, "tokyo", { from: scene.clock.now() + 1 })).toEqual([]);
		expect(await found(scene, "tokyo", { from: startedAt, to: startedAt + 1 })).toHaveLength(1);
		expect(await found(scene, "tokyo", { to: startedAt })).toEqual([]);
		await scene.store.setTitle({ session, title: "C++ or C", source: "user" });
		expect(await found(scene, "tokyo")).toEqual([]);
		expect(await found(scene, "C++")).toEqual(["[C++] or C"]);
	});

	tell("are not what was undone, until it is redone", async (scene) => {
		const { conversation } = await scene.exchange("first cake", "a cake");
		await scene.exchange("second cake", "another cake");
		expect(await found(scene, "cake")).toHaveLength(4);
		await scene.store.undo({ conversation, turns: 1 });
		expect(await found(scene, "cake")).toEqual(["a [cake]", "first [cake]"]);
		expect((await search(scene, "a cake", { role: "assistant" })).hits[0]).toMatchObject({ after: null });
		await scene.store.redo({ conversation });
		expect(await found(scene, "cake")).toHaveLength(4);
		expect((await search(scene, "a cake", { role: "assistant" })).hits[0]).toMatchObject({
			after: { seq: 3 },
		});
		await scene.store.retry({ conversation, deadlineAt: scene.clock.now() + MINUTE });
		expect(await found(scene, "cake")).toEqual(["a [cake]", "first [cake]", "second [cake]"]);
	});

	tell("are found at the end of a text that is too large for its row", async (scene) => {
		await saying(scene, [`${"filler words ".repeat(20_000)} the needle at last C++`, "needle C"]);
		const hits = await found(scene, "needle");
		expect(hits).toHaveLength(2);
		expect(hits.find((hit) => hit.startsWith("…"))).toMatch(/the \[needle\] at last C\+\+$/);
		expect(await found(scene, "C++")).toEqual([expect.stringMatching(/at last \[C\+\+\]$/)]);
	});

	tell("come best first: the phrase before the words, the newer before the older", async (scene) => {
		const day = 24 * HOUR;
		const { turn, token, nextIndex } = await scene.turn("begin");
		let index = nextIndex;
		const say = async (content: string): Promise<void> => {
			await scene.append({ turn, token }, [{ role: "assistant", content, index: index++ }]);
			scene.clock.advance(day);
		};
		await say("the quick brown fox, long ago");
		scene.clock.advance(300 * day);
		await say("brown is not what a quick animal would be, nor a fox of any sort, as everybody knows by now");
		await say("the quick brown fox, now");
		for (let n = 0; n < 200; n++)
			await say(`quick, and then very much later brown ${"word ".repeat(40)} fox ${n}`);
		const hits = (await search(scene, "quick brown fox", { limit: 3 })).hits.map(shown);
		expect(hits[0]).toBe("the [quick] [brown] [fox], now");
		const old = await everyPage(scene, "quick brown fox", { limit: 100 });
		const place = old.findIndex((hit) => shown(hit).includes("long ago"));
		expect(place).toBeGreaterThan(0);
		expect(place).toBeLessThan(64);
		expect(old).toHaveLength(203);
	});
});

describe("pages", () => {
	tell(
		"give every hit once, also beyond the newest 5,000, and new messages do not disturb them",
		async (scene) => {
			const turn = await saying(
				scene,
				Array.from({ length: 7300 }, (_, n) => `word number ${n}`),
			);
			const { session } = turn;
			await scene.store.setTitle({ session, title: "word of a title", source: "user" });
			const first = await search(scene, "word", { limit: 100 });
			expect(first.total).toEqual({ count: 5001, more: true });
			await scene.append(turn, [{ role: "assistant", content: "a late word", index: 9000 }]);
			const rest = await everyPage(scene, "word", { limit: 100, cursor: first.next as string });
			const seen = [...first.hits, ...rest].map((hit) => (hit.kind === "message" ? hit.id : hit.kind));
			expect(seen).toHaveLength(7301);
			expect(new Set(seen).size).toBe(7301);
			expect(await found(scene, "late")).toHaveLength(1);
		},
	);

	tell("give every hit once for phrases, prefixes and several words", async (scene) => {
		const texts = Array.from({ length: 1500 }, (_, n) =>
			n % 3 === 0 ? `deployment of server ${n}` : n % 3 === 1 ? `server deployment ${n}` : `nothing ${n}`,
		);
		const { session } = await saying(scene, texts);
		for (let n = 0; n < 3; n++)
			await scene.store.setTitle({ session, title: `server deployment ${n}`, source: "user" });
		for (const [query, expected] of [
			['"deployment of server"', 500],
			['"server deployment"', 501],
			["deployment server", 1001],
			["dep*", 1001],
			["deplo* serv*", 1001],
			["deployment,", 1001],
		] as const) {
			const hits = await everyPage(scene, query, { limit: 37 });
			const seen = new Set(hits.map((hit) => (hit.kind === "message" ? hit.id : hit.kind)));
			expect([query, hits.length, seen.size]).toEqual([query, expected, expected]);
			const { total } = await search(scene, query);
			if (!total.more) expect([query, total.count]).toEqual([query, expected]);
		}
	});

	tell("find what is literally rare among thousands that only look like it", async (scene) => {
		const texts = Array.from({ length: 11_000 }, (_, n) => `C and ${n}`);
		texts[5] = "this one is about C++ alone";
		texts[6000] = "another one about C++";
		await saying(scene, texts);
		const { hits, total, next } = await search(scene, "C++");
		expect(hits.map(shown)).toEqual(["another one about [C++]", "this one is about [C++] alone"]);
		expect(total).toEqual({ count: 2, more: false });
		expect(next).toBeNull();
	});

	tell("find a long prefix, common or rare", async (scene) => {
		const texts = Array.from({ length: 1200 }, (_, n) => (n % 2 ? `straight ${n}` : `strange ${n}`));
		texts[3] = "straightforward";
		await saying(scene, texts);
		expect(await everyPage(scene, "stra*", { limit: 100 })).toHaveLength(1200);
		expect(await everyPage(scene, "straig*", { limit: 100 })).toHaveLength(600);
		expect(await found(scene, "straightf*")).toEqual(["[straightforward]"]);
		expect(await found(scene, "STRAIGHTF*")).toEqual(["[straightforward]"]);
		expect(await found(scene, "straightg*")).toEqual([]);
	});
});

describe("rebuilding", () => {
	const QUERIES = ["cake", "C++", '"a cake"', "東", "plan*", "hidden"];

	async function results(scene: Scene): Promise<unknown> {
		const all: unknown[] = [];
		for (const query of QUERIES) all.push((await search(scene, query)).hits);
		return all;
	}

	async function rebuild(scene: Scene, limit: number, more: { wipe?: boolean } = {}): Promise<number> {
		let indexed = 0;
		for (let cursor: string | undefined; ; ) {
			const step = await scene.store.rebuildSearch({
				limit,
				...more,
				...(cursor !== undefined && { cursor }),
			});
			expect(step.indexed).toBeLessThanOrEqual(limit);
			indexed += step.indexed;
			if (step.next === null) return indexed;
			cursor = step.next;
		}
	}

	async function story(scene: Scene): Promise<ConversationId> {
		const { conversation, session } = await scene.exchange("a cake in C++", "東京 a cake");
		await scene.exchange("hidden cake", "hidden too");
		await scene.store.undo({ conversation, turns: 1 });
		await scene.exchange("cake for Bob", "a cake", BOB);
		await scene.store.setTitle({ session, title: "plans with cake", source: "user" });
		const large = `${"large ".repeat(90_000)} cake`;
		await saying(scene, [large, large], BOB);
		return conversation;
	}

	for (const wipe of [false, true])
		for (const limit of [1, 200])
			tell(
				`in steps of ${limit}${wipe ? " from nothing" : ""} gives the same results as before`,
				async (scene) => {
					await story(scene);
					const before = await results(scene);
					expect(await rebuild(scene, limit, { wipe })).toBe(8);
					expect(await results(scene)).toEqual(before);
					expect(await rebuild(scene, limit)).toBe(8);
					expect(await results(scene)).toEqual(before);
					expect((await scene.store.checkIntegrity({ scope: { kind: "operator" } })).problems).toEqual([]);
				},
			);

	tell("goes on beside what happens meanwhile", async (scene) => {
		const conversation = await story(scene);
		const { next } = await scene.store.rebuildSearch({ limit: 2, wipe: true });
		await scene.store.redo({ conversation });
		const turn = await scene.turn("cake meanwhile", { ...ADA, chat_id: "300", user_id: "300" });
		for (let cursor = next; cursor !== null; )
			cursor = (await scene.store.rebuildSearch({ limit: 2, cursor })).next;
		expect(await found(scene, "hidden")).toHaveLength(2);
		expect(await found(scene, "meanwhile", { conversation: turn.conversation })).toEqual([
			"cake [meanwhile]",
		]);
		expect(await found(scene, "cake")).toHaveLength(9);
	});

	tell("drops what no message has, and brings back what was missing", async () => {
		const folder = mkdtempSync(join(tmpdir(), "keryx-search-"));
		const clock = createWallClock();
		const path = join(folder, "store.db");
		const open = (): Promise<Store> =>
			openStore({ url: `sqlite:${path}`, clock, ids: countedIds(), secrets: NO_SECRETS });
		try {
			const scene = new Scene({ store: await open(), clock, close: () => Promise.resolve() });
			await story(scene);
			const before = await results(scene);
			await scene.store.close();
			const db = new Database(path);
			const some = db.prepare("SELECT id FROM messages ORDER BY id LIMIT 1").pluck().get() as number;
			db.prepare("DELETE FROM search WHERE rowid = ?").run(some);
			for (const stray of [1, some + 1, Number.MAX_SAFE_INTEGER, -99])
				db.prepare("INSERT INTO search (rowid, tags, text) VALUES (?, '', 'cake')").run(stray);
			db.close();
			scene.store = await open();
			const { problems } = await scene.store.checkIntegrity({ scope: { kind: "operator" } });
			expect(problems).toHaveLength(1);
			await rebuild(scene, 3);
			expect(await results(scene)).toEqual(before);
			expect((await scene.store.checkIntegrity({ scope: { kind: "operator" } })).problems).toEqual([]);
			await scene.store.close();
		} finally {
			rmSync(folder, { recursive: true, force: true });
		}
	});

	tell("takes only its own cursors and a bounded step", async (scene) => {
		for (const [args, field] of [
			[{ cursor: "x1" }, "cursor"],
			[{ cursor: "m" }, "cursor"],
			[{ limit: 0 }, "limit"],
			[{ limit: 1001 }, "limit"],
		] as const)
			expect(await refused(scene.store.rebuildSearch(args))).toMatchObject({
				code: "argument.invalid",
				field,
			});
		expect(await rebuild(scene, 1)).toBe(0);
	});
});
