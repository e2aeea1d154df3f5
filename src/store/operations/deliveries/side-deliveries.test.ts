import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import type { ConversationId } from "../../../domain/index.ts";
import { runToEnd } from "../../query.ts";
import { migration, SCHEMA_VERSION } from "../../schema.ts";
import { sideDeliveries } from "./side-deliveries.ts";

const db = new Database(":memory:");
db.unsafeMode();
for (let version = 0; version < SCHEMA_VERSION; version++) db.exec(migration(version, "sqlite"));
afterAll(() => db.close());

test("what was said beside a transcript is found without reading any other delivery", () => {
	const plans: string[] = [];
	const args = {
		scope: { kind: "operator" },
		conversation: "c" as ConversationId,
		kinds: ["notice", "failure"],
		limit: 10,
	} as const;
	runToEnd(sideDeliveries(args), ({ statement, params, mode }) => {
		if (mode === "get") return { id: "c", principal: null, profile: "" };
		const plan = db
			.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${statement.sql}`)
			.all(...params);
		plans.push(plan.map(({ detail }) => detail).join("; "));
		return [];
	});
	expect(plans).toEqual([
		"SEARCH deliveries USING INDEX deliveries_beside (conversation=? AND kind=? AND n<?)",
		expect.stringMatching(
			/^SEARCH deliveries USING INDEX deliveries_turn \(turn=\?\); .*turns_failed \(conversation=\?\).*; USE TEMP B-TREE FOR ORDER BY$/,
		),
	]);
});
