// What the database itself refuses, whatever a gateway believes: tried on the rows that a real conversation left.
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Scene } from "./support.ts";

let scene: Scene;
let database: Database.Database;
beforeAll(async () => {
	scene = await Scene.start({
		durable: true,
		script: {
			rules: [{ when: "slow", steps: [{ hang: true }] }],
			otherwise: [{ text: "you said {{input}}" }],
		},
	});
	await scene.say("hello");
	await scene.say("slow");
	await scene.die();
	database = new Database(scene.path);
});
afterAll(async () => {
	database.close();
	await scene.end();
});

/** A copy of the row that fits, with these columns changed. */
function again(
	table: string,
	where: string,
	changed: Readonly<Record<string, string | number | null>>,
): () => void {
	const row = database.prepare(`SELECT * FROM ${table} WHERE ${where}`).get() as Record<string, unknown>;
	expect(row).toBeDefined();
	const copy = { ...row, ...changed };
	const columns = Object.keys(copy);
	const marks = columns.map(() => "?").join(", ");
	return () =>
		database
			.prepare(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${marks})`)
			.run(...Object.values(copy));
}

test("I2: a second live session in a conversation is refused", () => {
	expect(again("sessions", "ended_at IS NULL", { key: 99, id: "20260310_120000_ffffffff" })).toThrow(
		/UNIQUE.*sessions.conversation/,
	);
});

test("I3: a disposition, once set, cannot be set again", () => {
	const dispose = database.prepare("UPDATE inbox SET disposition = 'failed' WHERE disposition = 'answered'");
	expect(() => dispose.run()).toThrow(/a disposition is set once/);
});

test("I4: a platform's message id is in the inbox once per platform, account and chat", () => {
	expect(again("inbox", "disposition = 'answered'", { id: 99 })).toThrow(/UNIQUE.*inbox.platform/);
});

test("I5: a second open turn in a conversation is refused", () => {
	expect(again("turns", "state = 'running'", { id: "another" })).toThrow(/UNIQUE.*turns.conversation/);
});

test("I6: a message row cannot be changed", () => {
	expect(() => database.prepare("UPDATE messages SET body = '\"rewritten\"'").run()).toThrow(
		/a message is immutable/,
	);
});
