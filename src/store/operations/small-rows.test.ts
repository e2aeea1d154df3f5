// Rows leave out what is said elsewhere. Reading them gives it back.
import { afterEach, expect, test } from "vitest";
import { resolvePolicy } from "../../config/index.ts";
import { sessionId } from "../../domain/index.ts";
import type { WriteName } from "../engine.ts";
import { systemIds } from "../ids.ts";
import { Connection } from "../sqlite/connection.ts";
import type { Delivery } from "../types.ts";
import type { Accepted } from "./inbox/inbox.ts";
import type { EventsResult } from "./read-events.ts";
import { readOp, writeOp } from "./run.ts";
import type { BegunTurn } from "./turns/turns.ts";

const NOW = 1_800_000_000_000;
const SCOPE = { kind: "operator" } as const;
const connections: Connection[] = [];
afterEach(() => {
	for (const { db } of connections.splice(0)) db.close();
});

function answered(body: { readonly text: string; readonly plain: string }) {
	const connection = Connection.inMemory();
	connections.push(connection);
	const ids = systemIds({ now: () => NOW });
	const owner = { epoch: 1, auditKey: null };
	const write = (name: WriteName, args: unknown): unknown => {
		const drawn = {
			now: NOW,
			uuids: Array.from({ length: 4 }, ids.uuid),
			session: sessionId("20270115_080000_0000abcd"),
		};
		const result = connection.run(writeOp(name, args, drawn, owner));
		connection.runLater();
		return result;
	};
	const policy = resolvePolicy({ mode: "none" }, { platform: "telegram", chatType: "dm" });
	const { conversation, id } = write("accept", {
		kind: "person",
		source: { platform: "telegram", chat_id: "7", chat_type: "dm", user_id: "7", user_name: "Ada" },
		platformMessage: "1",
		content: "hello",
		routing: { groupSessionsPerUser: true, threadSessionsPerUser: false, profile: null },
		as: { kind: "accept" },
	}) as Accepted;
	const begun = write("beginTurn", {
		conversation,
		inbox: [id],
		policy,
		context: "",
		autoContinueFreshness: 0,
		deadlineAt: NOW + 1000,
	}) as BegunTurn;
	const { turn, token, destination, nextIndex } = begun;
	write("endTurn", {
		turn,
		token,
		outcome: { kind: "completed" },
		messages: [{ role: "assistant", content: "hi", index: nextIndex }],
		deliveries: [{ id: `${turn}:1`, kind: "reply", destination, body }],
		policy,
	});
	const read = (name: "events" | "delivery", args: object): unknown =>
		connection.run(readOp(name, { scope: SCOPE, ...args }, owner));
	const { events } = read("events", { after: "", limit: 100 }) as Extract<EventsResult, { kind: "events" }>;
	return {
		turn,
		events,
		delivery: read("delivery", { id: `${turn}:1` }) as Delivery,
		row: (sql: string) => connection.db.prepare(sql).get() as Record<string, unknown>,
	};
}

test("an event names its turn once, and usual facts are left out of its row", () => {
	const { turn, events, row } = answered({ text: "hi", plain: "hi" });
	expect(row("SELECT subject, facts FROM events WHERE type = 'delivery.pending'")).toEqual({
		subject: ":1",
		facts: null,
	});
	expect(row("SELECT facts FROM events WHERE type = 'turn.ended'")).toEqual({ facts: null });
	expect(events.find(({ type }) => type === "delivery.pending")).toMatchObject({
		turn,
		subject: `${turn}:1`,
		facts: { kind: "reply" },
	});
	expect(events.find(({ type }) => type === "turn.ended")?.facts).toEqual({
		outcome: "completed",
		disposition: "answered",
		items: 1,
	});
});

test.each([
	["hi", "hi", { text: "hi" }],
	["<b>hi</b>", "hi", { text: "<b>hi</b>", plain: "hi" }],
	["hi", "", { text: "hi", plain: "" }],
])("a delivery of %j, or plainly %j, is stored as %j", (text, plain, stored) => {
	const { delivery, row } = answered({ text, plain });
	expect(JSON.parse(String(row("SELECT body FROM deliveries").body))).toEqual(stored);
	expect(delivery.body).toEqual({ text, plain });
});

test("ids of one millisecond are in the order in which they were drawn, and differ", () => {
	const { uuid } = systemIds({ now: () => NOW });
	const drawn = Array.from({ length: 4096 }, () => uuid());
	expect(drawn.every((id, n) => n === 0 || id > (drawn[n - 1] as string))).toBe(true);
	expect(new Set([...drawn, ...Array.from({ length: 4096 }, () => uuid())]).size).toBe(8192);
	for (const id of drawn.slice(0, 3)) expect(id).toMatch(/^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
});
