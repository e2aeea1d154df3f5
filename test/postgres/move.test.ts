// A store moves from a file to a server and back: whole, resumable, and only while nobody uses it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { moveStore, NO_SECRETS, openStore } from "../../src/store/index.ts";
import { OPERATOR, refusal, Scene } from "../../src/testing/conformance/store/scene.ts";
import { AUDIT_KEY } from "../support/audit-key.ts";
import { countedIds, createWallClock } from "../support/clock.ts";
import { asJson, call } from "../support/keryx.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";

const folder = mkdtempSync(join(tmpdir(), "keryx-move-"));
const clock = createWallClock();
const ids = countedIds();
const file = (name: string) => `sqlite:${join(folder, name)}`;
const open = (url: string) => openStore({ url, clock, ids, secrets: NO_SECRETS, auditKey: AUDIT_KEY });

/** `npm run test:crash` moves more. */
const MESSAGES = Number(process.env.KERYX_MOVE_MESSAGES ?? 400);
/** So many in a turn. */
const AT_ONCE = 200;

describe("moving a store", () => {
	let server: PostgresServer;
	beforeAll(async () => {
		server = await startPostgres();
		const store = await open(file("first.db"));
		const scene = new Scene({ store, clock, close: () => store.close() });
		for (let n = 0; n < 8; n++) await scene.exchange(`question ${n}`, `answer ${n}`);
		// Half a character and a NUL, which only one of the engines can hold in a text.
		await scene.exchange("odd \0 \ud800", "yes");
		await store.link({ a: { platform: "telegram", id: "100" }, b: { platform: "web", id: "100" } });
		await store.close();
	});
	afterAll(async () => {
		await server.remove();
		rmSync(folder, { recursive: true });
	});

	it("is gone on with where it was broken off, and is the same on both sides and after the way back", async () => {
		const to = server.url();
		let pages = 0;
		const broken = moveStore({
			from: file("first.db"),
			to,
			clock,
			pageRows: 3,
			onProgress: () => {
				if (++pages === 40) throw new Error("broken off");
			},
		});
		await expect(broken).rejects.toThrow("broken off");
		expect(await refusal(open(to))).toBe("store.moving");
		const there = await moveStore({ from: file("first.db"), to, clock, pageRows: 3 });
		expect(there.find(({ table }) => table === "messages")?.rows).toBe(18);
		const back = await moveStore({ from: to, to: file("second.db"), clock });
		const digests = (tables: typeof there) =>
			Object.fromEntries(tables.map(({ table, digest }) => [table, digest]));
		expect(digests(back)).toEqual(digests(there));
		expect(await refusal(moveStore({ from: file("first.db"), to, clock }))).toBe("argument.invalid");
	});

	it(`of ${MESSAGES} messages goes on where it was broken off, both ways`, {
		timeout: 120_000 + MESSAGES * 5,
	}, async () => {
		const store = await open(file("large.db"));
		const scene = new Scene({ store, clock, close: () => store.close() });
		for (let from = 0; from < MESSAGES; from += AT_ONCE) {
			const turn = await scene.turn(`question ${from}`);
			const messages = Array.from({ length: AT_ONCE - 1 }, (_, n) => ({
				role: "assistant" as const,
				content: `answer ${from + n} about tulips before the frost`,
				index: n + 1,
			}));
			await scene.end(turn, { messages });
		}
		await store.close();
		const pageRows = Math.max(20, MESSAGES / 1000);
		/** Breaks off half-way through the messages, and goes on. */
		const moved = async (from: string, to: string) => {
			const broken = moveStore({
				from,
				to,
				clock,
				pageRows,
				onProgress: ({ table, rows }) => {
					if (table === "messages" && rows > MESSAGES / 2) throw new Error("broken off");
				},
			});
			await expect(broken).rejects.toThrow("broken off");
			return moveStore({ from, to, clock, pageRows });
		};
		const there = await moved(file("large.db"), `${server.url()}?schema=large`);
		expect(there.find(({ table }) => table === "messages")?.rows).toBe(MESSAGES);
		const back = await moved(`${server.url()}?schema=large`, file("back.db"));
		const digests = (tables: typeof there) =>
			tables.map(({ table, digest }) => `${table} ${digest}`).toSorted();
		expect(digests(back)).toEqual(digests(there));
	});

	it("is refused while somebody uses the source, and by the command the target is whole and can be searched", async () => {
		const store = await open(file("first.db"));
		expect(await refusal(moveStore({ from: file("first.db"), to: file("third.db"), clock }))).toBe(
			"store.owned",
		);
		await store.close();
		const env = { KERYX_HOME: join(folder, "home") };
		const to = `${server.url()}?schema=other`;
		const moved = await call(["store", "move", file("first.db"), to, "--json"], { env });
		expect(asJson(moved)).toMatchObject({
			tables: expect.arrayContaining([expect.objectContaining({ table: "messages", rows: 18 })]),
		});
		const target = await open(to);
		expect(await target.checkIntegrity({ scope: OPERATOR })).toEqual({ problems: [] });
		expect((await target.search({ scope: OPERATOR, query: "question", limit: 20 })).hits).toHaveLength(8);
		// Numbers go on after those that came with it.
		const accepted = await target.accept({
			kind: "person",
			source: { platform: "telegram", chat_id: "100", user_id: "100" },
			platformMessage: "after the move",
			content: "one more",
			routing: { groupSessionsPerUser: true, threadSessionsPerUser: false, profile: null },
			as: { kind: "accept" },
		});
		expect(accepted.id).toBe(10);
		await target.close();
	});
});
