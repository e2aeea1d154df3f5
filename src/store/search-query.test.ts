import Database from "better-sqlite3";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { KeryxError } from "../errors.ts";
import { migration } from "./schema.ts";
import { asPhrase, matchExpression, parseQuery, shortened } from "./search-query.ts";
import { tag } from "./search-text.ts";

const db = new Database(":memory:");
db.exec(migration(0, "sqlite"));
afterAll(() => db.close());
const ask = db.prepare("SELECT rowid FROM search WHERE search MATCH ?");

/** The query as the index is asked, and what the texts are asked. */
function asked(query: string): string {
	return matchExpression(parseQuery(query), []).fts.replace(/^text : \((.*)\)$/, "$1");
}

function literals(query: string): (readonly string[] | null)[] {
	return parseQuery(query).map(({ literal }) => literal);
}

describe("what is typed", () => {
	test.each([
		["deploy", '"deploy"'],
		["Deploy DATABASE", '"deploy" AND "database"'],
		["NOT deploy", '"not" AND "deploy"'],
		["AND", '"and"'],
		["a OR b NEAR(c)", '"a" AND "or" AND "b" AND "near c"'],
		["text:deploy {tags}:x ^y", '"text deploy" AND "tags x" AND "y"'],
		["it's", '"it s"'],
		["user@example.com", '"user example com"'],
		["/usr/bin", '"usr bin"'],
		["the the the", '"the"'],
		['"exact phrase"', '"exact phrase"'],
		["“exact phrase”", '"exact phrase"'],
		['before "exact phrase" after', '"before" AND "exact phrase" AND "after"'],
		['"unbalanced phrase', '"unbalanced" AND "phrase"'],
		['say "', '"say"'],
		["dep*", '"dep" *'],
		["dep* data*", '"dep" * AND "data" *'],
		['"exact phr"*', '"exact phr" *'],
		["a*b", '"a b"'],
		["***", ""],
		["(deploy),", '"deploy"'],
		["東", '"東" *'],
		["東京", '"東京"'],
		["東京都", '"東京 京都"'],
		["東京 大阪", '"東京" AND "大阪"'],
		["手机app", '"手机 机 app"'],
		["app東", '"app 東" *'],
		["東京*", '"東京" *'],
		["東京％", '"東京 京"'],
		["東#", '"東"'],
	])("%s asks for %s", (query, expected) => {
		expect(parseQuery(query).length === 0 ? "" : asked(query)).toBe(expected);
	});

	test.each([
		"",
		" ",
		"\n\t",
		'"',
		'""',
		'" "',
		"*",
		'"*"',
		"+-/%",
		"...",
		"\0",
		"\ud800",
		"\udc00",
		"\u200d",
		"→",
		"\ufe0f",
	])("%j asks for nothing", (query) => {
		expect(parseQuery(query)).toEqual([]);
	});

	test.each([
		["C++", ["", "++"]],
		["100%", ["", "%"]],
		["#1", ["#", ""]],
		[".env", [".", ""]],
		["/usr/bin", ["/", "/", ""]],
		["user@example.com", ["", "@", ".", ""]],
		["it’s", ["", "'", ""]],
		["--flag", ["--", ""]],
		["snake_case", ["", "_", ""]],
		["foo-ba*", ["", "-", ""]],
		["C++*", ["", "++"]],
		['"hello,  world"', ["", ", ", ""]],
		['"C++ code"', ["", "++ ", ""]],
		["👍🏽", ["", "🏽"]],
		["👨‍👩", ["", "\u200d", ""]],
	])("%s is meant literally", (query, expected) => {
		expect(literals(query)).toEqual([expected]);
	});

	test.each([
		"hello,",
		"what?!",
		"(deploy)",
		"Error:",
		"‘deploy’",
		'"exact phrase"',
		"👍",
		"❤️",
		"great👍",
		"東京",
		"„Zitat“",
		"¿qué?",
		"好。",
	])("in %s nothing is meant literally", (query) => {
		expect(literals(query)).toEqual([null]);
	});

	test.each([
		["a".repeat(2001), "characters"],
		["a ".repeat(10_000), "characters"],
		[Array.from({ length: 201 }, (_, n) => n).join(" "), "words"],
	])("a query that is too long is refused by name", (query, of) => {
		const error = refusedWith(() => parseQuery(query));
		expect(error).toMatchObject({ code: "argument.invalid", field: "query" });
		expect(error.message).toContain(of);
	});

	function refusedWith(work: () => unknown): KeryxError {
		try {
			work();
		} catch (error) {
			if (error instanceof KeryxError) return error;
			throw error;
		}
		return expect.fail("it was not refused");
	}
});

describe("what SQLite is asked", () => {
	const query = fc.oneof(
		fc.string({ unit: "binary", maxLength: 60 }),
		fc.string({ unit: fc.constantFrom(..."ab \"'*()^+-:{}ANDORT\0\ue000東👍\ud800"), maxLength: 60 }),
	);
	const tags = fc.array(fc.array(fc.string({ maxLength: 8 }), { minLength: 1, maxLength: 3 }), {
		maxLength: 3,
	});

	test("no text and no tag is ever an error of SQLite's", () => {
		fc.assert(
			fc.property(query, tags, (query, tags) => {
				const groups = parseQuery(query);
				if (groups.length === 0) return;
				const sets = tags.map((set) => set.map((name) => tag("c", name)));
				expect(ask.all(matchExpression(groups, sets).fts)).toEqual([]);
				expect(ask.all(matchExpression(groups.map(shortened), sets).fts)).toEqual([]);
				const phrase = asPhrase(groups);
				if (phrase) expect(ask.all(matchExpression([phrase], sets).fts)).toEqual([]);
			}),
			{ numRuns: 1000 },
		);
	});

	test("as many words as are allowed are not too many for SQLite", () => {
		const words = Array.from({ length: 200 }, (_, n) => `w${n}`);
		expect(ask.all(matchExpression(parseQuery(words.join(" ")), [[tag("c", "x")]]).fts)).toEqual([]);
		expect(ask.all(matchExpression(parseQuery(`"${words.join(" ")}"`), []).fts)).toEqual([]);
	});
});

describe("several words as a phrase", () => {
	test.each([
		["quick brown", '"quick brown"'],
		["東京 大阪", '"東京 京 大阪"'],
		["東 大阪", '"東 大阪"'],
		["quick bro*", '"quick bro" *'],
		["C++ code", '"c code"'],
	])("%s is %s", (query, expected) => {
		const phrase = asPhrase(parseQuery(query));
		expect(phrase && matchExpression([phrase], []).fts).toBe(`text : (${expected})`);
	});

	test("one word, or a prefix before another word, is none", () => {
		expect(asPhrase(parseQuery("quick"))).toBeUndefined();
		expect(asPhrase(parseQuery("qui* brown"))).toBeUndefined();
	});
});

test("a prefix longer than the index has is asked for by its first letters", () => {
	const [long, short, word] = parseQuery("deploy* dep* deployment").map(shortened);
	expect(long?.words).toEqual(["dep"]);
	expect(short?.words).toEqual(["dep"]);
	expect(word?.words).toEqual(["deployment"]);
});
