// Events of one conversation are found by stretches of the log: the same ones in the same order, whatever lies between them.
import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import type { ConversationId } from "../../domain/index.ts";
import { runToEnd } from "../query.ts";
import { migration, SCHEMA_VERSION } from "../schema.ts";
import { events } from "./read-events.ts";

const db = new Database(":memory:");
db.unsafeMode();
for (let version = 0; version < SCHEMA_VERSION; version++) db.exec(migration(version, "sqlite"));
afterAll(() => db.close());

/** Some of them many stretches apart, as where others have spoken in between, or events were pruned. */
const IDS = [1, 2, 1023, 1024, 1025, 5000, 262_143, 262_144, 262_145, 600_000, 600_001];
const insert = db.prepare("INSERT INTO events (id, at, type, conversation) VALUES (?, 0, 'turn.begun', ?)");
for (const id of IDS) insert.run(id, "ours");
for (const id of IDS) insert.run(id + 10, "theirs");

function pageAfter(after: number, limit: number, plans: string[] = []): number[] {
	const args = { scope: { kind: "operator" }, conversation: "ours" as ConversationId } as const;
	const op = events({ ...args, after: after === 0 ? "" : `e${after.toString(36)}`, limit });
	const page = runToEnd(op, ({ statement, params, mode }) => {
		if (mode === "get" && statement.sql.includes("conversations"))
			return { id: "ours", principal: null, profile: "" };
		if (mode === "get") return db.prepare(statement.sql).get(...params);
		const plan = db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${statement.sql}`);
		plans.push(...plan.all(...params).map(({ detail }) => detail));
		return db.prepare(statement.sql).all(...params);
	});
	if (page.kind === "resync") throw new Error("the cursor was refused");
	return page.events.map(({ cursor }) => Number.parseInt(cursor.slice(1), 36));
}

test("events of a conversation are found in order, across stretches and page by page", () => {
	expect(pageAfter(0, 100)).toEqual(IDS);
	expect(pageAfter(0, 4)).toEqual(IDS.slice(0, 4));
	for (const [n, id] of IDS.entries()) expect(pageAfter(id, 3)).toEqual(IDS.slice(n + 1, n + 4));
});

test("events of other conversations are not read", () => {
	const plans: string[] = [];
	pageAfter(0, 100, plans);
	expect(plans.filter((detail) => / e\b|\bevents\b/.test(detail))).toEqual(
		Array(3).fill(expect.stringMatching(/^SEARCH e USING INDEX events_stretch \(<expr>=\? AND <expr>=\?/)),
	);
});
