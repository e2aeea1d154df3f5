// The conformance suite over each engine, and what only one of them can show.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openStore } from "../src/store/index.ts";
import { storeOn } from "../src/store/store.ts";
import { QUIET, refusal, Scene } from "./conformance/store/scene.ts";
import { type Opened, storeConformance } from "./conformance/store.ts";
import { countedIds, virtualClock } from "./support/clock.ts";
import { openPglite } from "./support/pglite-engine.ts";

// Each store starts a thread, and each thread reads the same sources: kept compiled, they cost half as much.
beforeAll(() => {
	process.env.NODE_COMPILE_CACHE = mkdtempSync(join(tmpdir(), "keryx-compiled-"));
});
afterAll(() => rmSync(process.env.NODE_COMPILE_CACHE ?? "", { recursive: true, force: true }));

storeConformance("sqlite::memory:", openInMemory, { reopens: false, apart: true });
storeConformance("a SQLite file", async () => (await openFile()).opened, { apart: true });

async function openInMemory(): Promise<Opened> {
	const clock = virtualClock();
	const store = await openStore({ url: "sqlite::memory:", clock, ids: countedIds() });
	return { store, clock, close: () => store.close() };
}

async function openFile(): Promise<{ readonly opened: Opened; readonly path: string }> {
	const folder = mkdtempSync(join(tmpdir(), "keryx-store-"));
	const path = join(folder, "store.db");
	const settings = { url: `sqlite:${path}`, clock: virtualClock(), ids: countedIds() };
	let store = await openStore(settings);
	const opened: Opened = {
		store,
		clock: settings.clock,
		reopen: async () => {
			await store.close();
			store = await openStore(settings);
			return store;
		},
		close: async () => {
			await store.close();
			rmSync(folder, { recursive: true });
		},
	};
	return { opened, path };
}

describe("PostgreSQL", () => {
	let db: PGlite;
	beforeAll(async () => {
		db = await PGlite.create();
	});
	afterAll(() => db.close());

	const open = async (): Promise<Opened> => {
		await db.exec("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
		const given = { clock: virtualClock(), ids: countedIds() };
		let store = storeOn(await openPglite(db), given);
		return {
			store,
			clock: given.clock,
			reopen: async () => {
				await store.close();
				store = storeOn(await openPglite(db), given);
				return store;
			},
			close: () => store.close(),
		};
	};
	storeConformance("PGlite", open, { searches: false });

	it("I6: the database refuses to change a message, and to set a disposition again", async () => {
		const opened = await open();
		await new Scene(opened).exchange("one", "1");
		await expect(db.exec("UPDATE messages SET body = '\"other\"'")).rejects.toThrow("a message is immutable");
		await expect(db.exec("UPDATE inbox SET disposition = 'failed'")).rejects.toThrow(
			"a disposition is set once",
		);
		await opened.close();
	});
});

describe("SQLite", () => {
	it("I6: the database refuses to change a message, and to set a disposition again", async () => {
		const { opened, path } = await openFile();
		const scene = new Scene(opened);
		const turn = await scene.exchange("one", "1");
		const raw = new Database(path);
		const change = (sql: string) => () => raw.prepare(sql).run();
		expect(change("UPDATE messages SET body = 'other'")).toThrow("a message is immutable");
		expect(change("UPDATE messages SET session = session")).toThrow("a message is immutable");
		expect(change("UPDATE inbox SET disposition = 'failed'")).toThrow("a disposition is set once");
		expect(change("UPDATE inbox SET disposition = NULL, disposed_at = NULL")).toThrow(
			"a disposition is set once",
		);
		raw.close();
		expect(await scene.texts(turn.conversation)).toEqual(["one", "1"]);
		await opened.close();
	});

	it("I2: the database refuses a second live session, I5: and a second open turn", async () => {
		const { opened, path } = await openFile();
		const scene = new Scene(opened);
		const turn = await scene.exchange("one", "1");
		await scene.store.newSession({ conversation: turn.conversation, policy: QUIET, context: "" });
		await scene.turn("two");
		const raw = new Database(path);
		expect(() => raw.exec("UPDATE sessions SET ended_at = NULL, end_reason = NULL")).toThrow("UNIQUE");
		expect(() => raw.exec("UPDATE turns SET state = 'interrupted'")).toThrow("UNIQUE");
		raw.close();
		await opened.close();
	});

	it("a session id that is taken is drawn again, as often as ids came with the operation", async () => {
		let draws: number[] = [];
		const ids = { ...countedIds(), bytes: () => Uint8Array.of(0, 0, 0, draws.shift() ?? 1) };
		const clock = virtualClock();
		const store = await openStore({ url: "sqlite::memory:", clock, ids });
		const scene = new Scene({ store, clock, close: () => store.close() });
		const { conversation, session } = await scene.exchange("one", "1");
		expect(session).toMatch(/_00000001$/);
		const drawing = async (...numbers: number[]) => {
			draws = numbers;
			return (await store.newSession({ conversation, policy: QUIET, context: "" })).session;
		};
		expect(await drawing(1, 2, 3, 4)).toMatch(/_00000002$/);
		expect(await drawing(1, 2, 1, 4)).toMatch(/_00000004$/);
		expect(await refusal(drawing(1, 2, 4, 1))).toBe("store.exhausted");
		expect((await scene.live(conversation)).id).toMatch(/_00000004$/);
		await store.close();
	});
});
