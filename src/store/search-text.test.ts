import Database from "better-sqlite3";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { migration } from "./schema.ts";
import { foldBetween, searchTags, searchText, tag, wordsOf } from "./search-text.ts";

const db = new Database(":memory:");
db.exec(migration(0, "sqlite"));
db.exec("CREATE VIRTUAL TABLE terms USING fts5vocab (search, 'instance')");
afterAll(() => db.close());

/** The words that SQLite itself parts a column into. */
function termsOf({ tags = "", text = "" }: { tags?: string; text?: string }): string[] {
	db.prepare("INSERT INTO search (rowid, tags, text) VALUES (1, ?, ?)").run(tags, text);
	const terms = db.prepare("SELECT term FROM terms ORDER BY offset").pluck().all() as string[];
	db.prepare("DELETE FROM search WHERE rowid = 1").run();
	return terms;
}

function words(text: string): string[] {
	return wordsOf(text).map(({ word }) => word);
}

const INTERESTING = [
	..."aZ09 .-_'’\"*\0\t\n\ud800\udc00ßéèñÅøİıΣςйЙёЁאַبًـأ東京あがカｶﾞー々〇한ㅎ\u1112\u1161\u11abทีกำ\u0e48ကខລາକି\u0300\u0301\u0306\u3099\u200d\u200c\u00ad\ufe0f½²ﬁ①㈠㎏™©€→↔‼▶️❤👍🏽👨🇩🇪🇫\u20e3#\ue000\ue001\u{f0000}\u{1f6d8}\u{2a700}\u{323b0}᙭",
];
const text = fc.oneof(
	fc.string({ unit: "binary", maxLength: 40 }),
	fc.string({ unit: "grapheme", maxLength: 40 }),
	fc.string({ unit: fc.constantFrom(...INTERESTING), maxLength: 30 }),
);

describe("words", () => {
	test("SQLite parts what is indexed into the very words that the marks are made from, whatever the text", () => {
		fc.assert(
			fc.property(text, (text) => {
				const ours = words(text);
				const found = termsOf({ text: searchText(text) });
				expect(found).toHaveLength(ours.length);
				// SQLite may fold a letter further than we do, the same way each time.
				for (const [index, word] of ours.entries()) expect(termsOf({ text: word })).toEqual([found[index]]);
			}),
			{ numRuns: 1500 },
		);
	});

	test("a word stands in the text between its start and its end", () => {
		fc.assert(
			fc.property(text, (text) => {
				for (const { start, end, head } of wordsOf(text)) {
					expect(0 <= start && start < head && head <= end && end <= text.length).toBe(true);
					expect(words(text.slice(start, end)).length).toBeGreaterThan(0);
				}
			}),
			{ numRuns: 1000 },
		);
	});

	test.each([
		["case and diacritics", "Größe ÀÉÎ Ångström", "große aei angstrom"],
		["a letter and its mark as one or as two", "caf\u00e9 cafe\u0301", "cafe cafe"],
		["a final sigma", "ΟΔΟΣ οδός", "οδοσ οδοσ"],
		["й stays, ё is е", "Йод ёлка", "йод елка"],
		["Arabic without its vowels and its lengthening", "أَحْمَد مـحـمد", "احمد محمد"],
		["Hebrew without its points", "שָׁלוֹם", "שלום"],
		["wide and narrow forms", "Ｋｅｒｙｘ ｶﾞｲﾄﾞ", "keryx ガイ イド ド"],
		["a ligature and a raised number", "ﬁn m²", "fin m2"],
		["what is invisible inside a word", "Donau\u00addampf می\u200cخواهم", "donaudampf میخواهم"],
		[
			"signs that part words",
			"it's user@example.com /usr/bin C++ snake_case",
			"it s user example com usr bin c snake case",
		],
		["Hindi with its vowel signs", "हिन्दी", "हिन्दी"],
	])("%s", (_, text, expected) => {
		expect(words(text).join(" ")).toBe(expected);
	});

	test.each([
		["Chinese and Japanese", "東京都", "東京 京都 都"],
		["one character", "水", "水"],
		["beside Latin", "iPhone手机壳!", "iphone 手机 机壳 壳"],
		["a long vowel belongs to its run", "タワー", "タワ ワー ー"],
		["Thai", "ไทย", "ไท ทย ย"],
		["Korean, because particles are written onto the word", "서울에서", "서울 울에 에서 서"],
		["Korean in parts", "\u1112\u1161\u11ab\u1100\u116e\u11a8", "한국 국"],
	])("a run without spaces becomes overlapping pairs and its last character: %s", (_, text, expected) => {
		expect(words(text).join(" ")).toBe(expected);
	});

	test("each sign is a word of its own, however it is joined", () => {
		const [thumb] = words("👍");
		expect(words("great👍👍🏽👍")).toEqual(["great", thumb, thumb, thumb]);
		expect(words("👨‍👩‍👧")).toEqual([...words("👨"), ...words("👩"), ...words("👧")]);
		expect(words("❤️")).toEqual(words("❤"));
		expect(words("🇩🇪🇫🇷")).toEqual([...words("🇩🇪"), ...words("🇫🇷")]);
		expect(words("🇩🇪")).not.toEqual(words("🇪🇩"));
		expect(words("1️⃣")).not.toEqual(words("1"));
		for (const sign of ["‼️", "↔️", "▶️", "〰️", "™", "©", "🫩"]) expect(words(`a${sign}b`)).toHaveLength(3);
	});

	test("text of plain letters is indexed as it is", () => {
		expect(searchText("Hello, World!")).toBe("Hello, World!");
	});
});

describe("tags", () => {
	const name = fc.oneof(
		fc.string({ maxLength: 12 }),
		fc.string({ unit: fc.constantFrom(..."aAé_-. 0\ue000"), maxLength: 6 }),
	);

	test("two names never give one tag, and no text gives a tag", () => {
		fc.assert(
			fc.property(name, name, (a, b) => {
				const [first, second] = [termsOf({ tags: tag("c", a) }), termsOf({ tags: tag("c", b) })];
				expect(first).toHaveLength(1);
				expect(first[0] === second[0]).toBe(a === b);
				expect(words(tag("c", a))).not.toContain(first[0]);
			}),
			{ numRuns: 700 },
		);
	});

	test("a row has a tag for each thing it can be asked by; a shared conversation has no owner", () => {
		const row = { conversation: "c1", principal: "p1", profile: "", platform: "telegram", role: "user" };
		expect(searchTags(row).split(" ")).toEqual([
			tag("c", "c1"),
			tag("o", "p1"),
			tag("f", ""),
			tag("p", "telegram"),
			tag("r", "user"),
		]);
		expect(searchTags({ ...row, principal: null })).not.toContain(`\ue000o`);
	});
});

test("between words, quotes and dashes of any kind are one kind", () => {
	expect(foldBetween("’")).toBe("'");
	expect(foldBetween(" „")).toBe(' "');
	expect(foldBetween("—")).toBe("-");
	expect(foldBetween("％ \n\t")).toBe("% ");
	expect(foldBetween("\ufe0f\u200d")).toBe("\u200d");
});
