// A store from before deliveries had lanes: what was on its way goes on, in one order per destination (I19), and a preview that may have
// been sent is not sent again (I7).
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { NO_SECRETS, openStore } from "../src/store/index.ts";
import { migration, SCHEMA_VERSION } from "../src/store/schema.ts";
import { countedIds, MINUTE, NOON } from "./support/clock.ts";

const OPERATOR = { kind: "operator" } as const;
const folder = mkdtempSync(join(tmpdir(), "keryx-lanes-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("deliveries that were on their way before there were lanes go on in one order", async () => {
	const path = join(folder, "old.db");
	old(path, [
		["done", "1", "sent", null],
		["a1", "1", "pending", null],
		["b1", "1", "pending", null],
		["sending", "2", "sending", null],
		["behind", "2", "pending", null],
		["thread", "1", "pending", "t"],
		["preview", "3", "open", null],
		["behind the preview", "3", "pending", null],
		["given up", "4", "dead", null],
	]);
	const clock = { now: () => NOON + MINUTE };
	const store = await openStore({ url: `sqlite:${path}`, clock, ids: countedIds(), secrets: NO_SECRETS });
	expect((await store.recoverDeliveries({ canAsk: [] })).unknown.map(({ id }) => id)).toEqual([
		"sending",
		"preview",
	]);
	const claim = async () => (await store.claimDeliveries({ limit: 10, timeoutMs: MINUTE })).deliveries;
	const first = await claim();
	expect(first.map(({ id }) => id).sort()).toEqual(["a1", "behind", "behind the preview", "thread"]);
	for (const one of first)
		await store.settleDelivery({ ...one, settlement: { kind: "sent", receipt: one.id } });
	expect((await claim()).map(({ id }) => id)).toEqual(["b1"]);
	const again = { kind: "retry", at: NOON, reason: "by hand" } as const;
	await store.resolveDelivery({ id: "given up", settlement: again });
	expect((await claim()).map(({ id }) => id)).toEqual(["given up"]);
	const { problems } = await store.checkIntegrity({ scope: OPERATOR });
	expect(problems.filter((problem) => problem.startsWith("I19"))).toEqual([]);
	await store.close();
});

type Row = readonly [id: string, chat: string, state: string, thread: string | null];

/** A store as the last version without lanes left it. */
function old(path: string, rows: readonly Row[]): void {
	const db = new Database(path);
	const hasLanes = (sql: string) => sql.includes("ADD COLUMN lane ");
	for (let version = 0; version < SCHEMA_VERSION; version++) {
		const sql = migration(version, "sqlite");
		if (hasLanes(sql)) break;
		db.exec(sql);
		db.pragma(`user_version = ${version + 1}`);
	}
	const insert = db.prepare(
		`INSERT INTO deliveries (id, conversation, kind, state, platform, account, destination, created_at, body, due_at, claim)
		VALUES (?, ?, 'reply', ?, 'telegram', '', ?, ${NOON}, '{"text":"t","plain":"t"}', ?, ?)`,
	);
	for (const [id, chatId, state, threadId] of rows) {
		const destination = { platform: "telegram", account: "", chatId, ...(threadId && { threadId }) };
		const dueAt = state === "pending" || state === "sending" ? NOON : null;
		insert.run(id, `@${id}`, state, JSON.stringify(destination), dueAt, state === "sending" ? "0:c" : null);
	}
	db.close();
}
