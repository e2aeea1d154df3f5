// Search gives the same answers on PostgreSQL as on SQLite, for any words in any script.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NO_SECRETS, openStore, type Store, storeOn } from "../../src/store/index.ts";
import { OPERATOR, Scene } from "../../src/testing/conformance/store/scene.ts";
import { countedIds, createWallClock } from "../support/clock.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { openOn } from "../support/postgres-store.ts";

/** `npm run test:crash` asks more. */
const QUERIES = Number(process.env.KERYX_SEARCH_QUERIES ?? 150);
const MESSAGES = Number(process.env.KERYX_SEARCH_MESSAGES ?? 120);
/** So many in a turn. */
const AT_ONCE = 20;

/** Of five scripts, with signs, numbers, accents and long runs. */
const WORDS = [
	..."hello world quick brown fox foxes jumps C++ C# 100% user@example.com .env naïve café Straße I İ don't".split(
		" ",
	),
	..."привет мир миру как дела ёлка Йод".split(" "),
	..."東京都 東京 京都 に行く 日本語 カタカナ 한국어 안녕하세요".split(" "),
	..."مرحبا بالعالم العالم كِتاب".split(" "),
	..."नमस्ते दुनिया สวัสดีชาวโลก ชาวโลก 😀 👍🏽 ½ ﬁ".split(" "),
	"x".repeat(600),
	"\u0024{secret:DB_PASSWORD}",
];

describe("search", () => {
	let server: PostgresServer;
	let stores: readonly Store[];
	beforeAll(async () => {
		server = await startPostgres();
		const texts = fc.sample(fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 12 }), {
			numRuns: MESSAGES,
			seed: 7,
		});
		stores = await Promise.all(
			[() => openOn(server.url()), null].map(async (open) => {
				const clock = createWallClock();
				const given = { clock, ids: countedIds(), secrets: NO_SECRETS };
				const store = open
					? storeOn(await open(), given)
					: await openStore({ url: "sqlite::memory:", ...given });
				const scene = new Scene({ store, clock, close: () => store.close() });
				for (let from = 0; from < texts.length; from += AT_ONCE) {
					const [first = [], ...rest] = texts.slice(from, from + AT_ONCE);
					const turn = await scene.turn(first.join(" "));
					const messages = rest.map((words, n) => ({
						role: "assistant" as const,
						content: words.join(n % 2 === 0 ? " " : ", "),
						index: n + 1,
					}));
					await scene.end(turn, { messages });
				}
				return store;
			}),
		);
	}, 1_800_000);
	afterAll(async () => {
		for (const store of stores ?? []) await store.close();
		await server.remove();
	});

	const word = fc.constantFrom(...WORDS);
	const part = fc.tuple(word, fc.nat(4)).map(
		([text, length]) =>
			`${Array.from(text)
				.slice(0, length + 1)
				.join("")}*`,
	);
	const phrase = fc.array(word, { minLength: 2, maxLength: 3 }).map((words) => `"${words.join(" ")}"`);
	const query = fc
		.array(fc.oneof(word, part, phrase, fc.string({ maxLength: 6 })), { minLength: 1, maxLength: 3 })
		.map((parts) => parts.join(" "));

	it("answers the same on both engines, page by page", { timeout: 1_800_000 }, async () => {
		let found = 0;
		await fc.assert(
			fc.asyncProperty(query, fc.integer({ min: 1, max: 20 }), async (asked, limit) => {
				const [there, here] = stores.map((store) => store.search({ scope: OPERATOR, query: asked, limit }));
				const [ours, expected] = [await there, await here];
				expect(ours).toEqual(expected);
				found += expected?.hits.length ?? 0;
				if (!expected?.next) return;
				const [more, wanted] = await Promise.all(
					stores.map((store) =>
						store.search({ scope: OPERATOR, query: asked, limit, cursor: expected.next as string }),
					),
				);
				expect(more).toEqual(wanted);
			}),
			{ numRuns: QUERIES },
		);
		expect(found).toBeGreaterThan(QUERIES);
	});
});
