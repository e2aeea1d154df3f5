// A store from before conversations had titles and could be put away: all of them are open, and called by who and where.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { NO_SECRETS, openStore } from "../src/store/index.ts";
import { migration, SCHEMA_VERSION } from "../src/store/schema.ts";
import { countedIds, NOON } from "./support/clock.ts";

const OPERATOR = { kind: "operator" } as const;
const folder = mkdtempSync(join(tmpdir(), "keryx-filing-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("conversations of a store from before are open and called by who and where", async () => {
	const path = join(folder, "old.db");
	const db = new Database(path);
	for (let version = 0; version < SCHEMA_VERSION; version++) {
		const sql = migration(version, "sqlite");
		if (sql.includes("ADD COLUMN pinned_at")) break;
		db.exec(sql);
		db.pragma(`user_version = ${version + 1}`);
	}
	const source = { platform: "telegram", chat_id: "1", chat_type: "dm", user_id: "1", user_name: "Ada" };
	db.prepare(
		`INSERT INTO conversations (id, key, platform, profile, chat_type, shared, created_at, last_activity_at, source_body, preview_body)
		VALUES ('c1', 'agent:main:telegram:dm:1', 'telegram', '', 'dm', 0, ${NOON}, ${NOON}, ?, '""')`,
	).run(JSON.stringify(source));
	db.close();
	const store = await openStore({
		url: `sqlite:${path}`,
		clock: { now: () => NOON },
		ids: countedIds(),
		secrets: NO_SECRETS,
	});
	expect(await store.conversations({ scope: OPERATOR, limit: 10 })).toMatchObject([
		{ id: "c1", name: "Ada on Telegram", title: null, state: "open", stateAt: null, pinnedAt: null },
	]);
	expect((await store.checkIntegrity({ scope: OPERATOR })).problems).toEqual([]);
	await store.close();
});
