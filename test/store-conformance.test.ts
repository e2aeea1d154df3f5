// The conformance suite over SQLite, and what only SQLite can show. test/postgres/conformance.test.ts runs it over PostgreSQL.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { NO_SECRETS, openStore } from "../src/store/index.ts";
import { QUIET, refusal, Scene } from "../src/testing/conformance/store/scene.ts";
import { type Opened, storeConformance } from "../src/testing/conformance/store.ts";
import { AUDIT_KEY } from "./support/audit-key.ts";
import { countedIds, createWallClock } from "./support/clock.ts";

storeConformance("sqlite::memory:", openInMemory, { reopens: false, apart: true });
storeConformance("a SQLite file", async () => (await openFile()).opened, { apart: true });

async function openInMemory(): Promise<Opened> {
	const clock = createWallClock();
	const store = await openStore({
		url: "sqlite::memory:",
		clock,
		ids: countedIds(),
		secrets: NO_SECRETS,
		auditKey: AUDIT_KEY,
	});
	return { store, clock, close: () => store.close() };
}

async function openFile(): Promise<{ readonly opened: Opened; readonly path: string }> {
	const folder = mkdtempSync(join(tmpdir(), "keryx-store-"));
	const path = join(folder, "store.db");
	const settings = {
		url: `sqlite:${path}`,
		clock: createWallClock(),
		ids: countedIds(),
		secrets: NO_SECRETS,
		auditKey: AUDIT_KEY,
	};
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

	it("I14: the database refuses to decide twice, to use twice, and to change what was asked or the audit", async () => {
		const { opened, path } = await openFile();
		const { store } = opened;
		const raw = new Database(path);
		const change = (sql: string) => () => raw.prepare(sql).run();
		const by = { by: "operator", via: "cli", useWithinMs: 1000 } as const;
		const [used, denied] = [await askedIn(store, "c1"), await askedIn(store, "c2")];
		// Two triggers refuse it; which of them speaks first is the database's choice.
		expect(change("UPDATE confirmations SET action = 'other'")).toThrow(/does not change|once/);
		expect(change("UPDATE confirmations SET status = 'consumed', used_at = 1, resolved_at = 1")).toThrow(
			"once",
		);
		await store.resolveConfirmation({ id: used, decision: "approved", ...by });
		await store.resolveConfirmation({ id: denied, decision: "denied", ...by });
		expect(change(`UPDATE confirmations SET status = 'approved' WHERE id = '${denied}'`)).toThrow("once");
		await store.consumeConfirmation({ id: used, digest: "d", by: "token:robot", via: "api" });
		expect(
			change(`UPDATE confirmations SET status = 'approved', used_at = NULL WHERE id = '${used}'`),
		).toThrow("once");
		expect(change(`UPDATE confirmations SET used_at = 5 WHERE id = '${used}'`)).toThrow("once");
		expect(change("UPDATE audit SET who = 'me'")).toThrow("append-only");
		expect(change("DELETE FROM audit")).toThrow("append-only");
		raw.close();
		await opened.close();
	});

	it("an altered entry of the audit, a missing one, a cut tail and an altered head are named", async () => {
		const { opened, path } = await openFile();
		const { store } = opened;
		for (const id of ["c1", "c2", "c3", "c4"]) await askedIn(store, id);
		const verdict = async (sql: string) => {
			const raw = new Database(path);
			for (const name of ["unchanged", "kept", "begun", "head_kept", "head_grows"])
				raw.exec(`DROP TRIGGER IF EXISTS audit_${name}`);
			raw.exec("SAVEPOINT kept");
			raw.exec(
				`CREATE TEMP TABLE a AS SELECT * FROM audit; CREATE TEMP TABLE h AS SELECT * FROM audit_head; RELEASE kept`,
			);
			raw.exec(sql);
			const { bad } = await store.verifyAudit({ scope: { kind: "operator" } });
			raw.exec(
				"DELETE FROM audit; INSERT INTO audit SELECT * FROM a; DELETE FROM audit_head; INSERT INTO audit_head SELECT * FROM h",
			);
			raw.close();
			return bad;
		};
		expect(await verdict("UPDATE audit SET who = 'me' WHERE n = 2")).toMatchObject({ n: 2 });
		const forged = `INSERT INTO audit (n, at, kind, confirmation, who, via, body, body_key, mac)
			SELECT -3, at + 1000, 'approved', confirmation, 'operator', 'page', body, NULL, mac FROM audit WHERE n = 1`;
		expect(await verdict(forged)).toEqual({ n: -3, problem: "it was added before the first" });
		expect(await verdict("DELETE FROM audit WHERE n = 2")).toEqual({ n: 2, problem: "it is missing" });
		expect(await verdict("DELETE FROM audit WHERE n > 2")).toMatchObject({
			n: 3,
			problem: expect.stringContaining("the end was cut off, there were 4 entries"),
		});
		expect(await verdict("DELETE FROM audit WHERE n > 2; UPDATE audit_head SET count = 2")).toMatchObject({
			problem: "the head was changed",
		});
		expect(await verdict("DELETE FROM audit_head")).toMatchObject({ problem: "the head is missing" });
		// What takes more along, or puts older rows back, shows against the witness: audit-witness.test.ts.
		expect(await verdict("DELETE FROM audit; DELETE FROM audit_head; SELECT 1")).toMatchObject({
			n: 1,
			problem: expect.stringContaining("empty"),
		});
		expect(await verdict("SELECT 1")).toBeNull();
		const raw = new Database(path);
		raw.exec("UPDATE audit_head SET count = 3");
		raw.close();
		expect(await refusal(askedIn(store, "c5"))).toBe("audit.broken");
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

	it("instead of a session id that is taken, a session gets the next one", async () => {
		let drawn = [0, 0, 0, 1];
		const ids = { ...countedIds(), bytes: () => Uint8Array.from(drawn) };
		const clock = createWallClock();
		const store = await openStore({ url: "sqlite::memory:", clock, ids, secrets: NO_SECRETS });
		const scene = new Scene({ store, clock, close: () => store.close() });
		const { conversation, session } = await scene.exchange("one", "1");
		expect(session).toMatch(/_00000001$/);
		const drawing = async (...bytes: number[]) => {
			drawn = bytes;
			return (await store.newSession({ conversation, policy: QUIET, context: "" })).session;
		};
		expect(await drawing(0, 0, 0, 1)).toMatch(/_00000002$/);
		expect(await drawing(0, 0, 0, 1)).toMatch(/_00000003$/);
		expect(await drawing(255, 255, 255, 255)).toMatch(/_ffffffff$/);
		expect(await drawing(255, 255, 255, 255)).toMatch(/_00000000$/);
		expect((await scene.live(conversation)).id).toMatch(/_00000000$/);
		await store.close();
	});
});

async function askedIn(store: Opened["store"], id: string): Promise<string> {
	await store.requestConfirmation({
		id,
		action: "deploy",
		description: "ship it",
		details: {},
		digest: "d",
		requester: "agent",
		sessionKey: "",
		timeoutSeconds: 300,
		askedBy: "token:robot",
		via: "api",
		limits: { perAction: 100, inAll: 100, windowMs: 1000 },
		once: false,
		grantable: true,
		useWithinMs: 1000,
		notices: { deliveries: [], webhooks: [] },
	});
	return id;
}
