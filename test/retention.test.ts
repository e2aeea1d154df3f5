// What time takes away: conversations after they were archived, old events, refused messages. And whether all the rest is whole.
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { ConversationId, SessionId } from "../src/domain/index.ts";
import { archiveConversation, importJsonl, pruneConversation, type Store } from "../src/store/index.ts";
import { checkIntegrity } from "../src/store/operations/integrity.ts";
import { deleteConversation, retentionState } from "../src/store/operations/sessions/retention.ts";
import type { Context } from "../src/store/query.ts";
import { runToEnd } from "../src/store/query.ts";
import { Connection } from "../src/store/sqlite/connection.ts";
import {
	ADA,
	BOB,
	delivery,
	GROUP,
	OPERATOR,
	refusal,
	refused,
} from "../src/testing/conformance/store/scene.ts";
import { NOON } from "./support/clock.ts";
import {
	brief,
	endOfEvents,
	exported,
	fillStore,
	KINDS,
	type OpenSceneStore,
	openInFile,
	openInMemory,
	type Past,
	type SceneStore,
} from "./support/scene-store.ts";

const DAY = 86_400_000;
const CONTEXT: Context = {
	now: NOON,
	epoch: 1,
	uuid: () => "",
	sessionId: () => "" as SessionId,
	auditKey: null,
	witness: () => ({ kind: "unkept" as const }),
};
const AS_OPERATOR = { kind: "operator" } as const;
const closing: (() => Promise<void> | void)[] = [];

afterEach(async () => {
	for (const close of closing.splice(0)) await close();
});

async function opened(how: OpenSceneStore, ids = "aaaa"): Promise<SceneStore> {
	const filled = await how({ ids });
	closing.push(() => filled.close());
	return filled;
}

function folder(): string {
	const path = mkdtempSync(join(tmpdir(), "keryx-archive-"));
	closing.push(() => rmSync(path, { recursive: true, force: true }));
	return path;
}

async function candidates(store: Store, before: number): Promise<ConversationId[]> {
	return [...(await store.pruneCandidates({ scope: AS_OPERATOR, before, limit: 100 })).conversations];
}

async function isWhole(store: Store): Promise<void> {
	expect(await store.checkIntegrity({ scope: AS_OPERATOR })).toEqual({ problems: [] });
}

/** Ends and finalises everything of a conversation, as the watchers do in time. */
async function settle(store: Store, conversation: ConversationId): Promise<void> {
	const sessions = await store.sessions({ scope: OPERATOR, conversation, limit: 100 });
	for (const { id, endedAt } of sessions) if (endedAt !== null) await store.finaliseSession({ session: id });
	const { unchanged } = await store.retentionState({ scope: AS_OPERATOR, conversation });
	const { ended } = await store.retireConversation({ conversation, unchanged });
	if (ended) await store.finaliseSession({ session: ended });
}

describe.each(KINDS)("$kind", ({ open }) => {
	it("archives an idle conversation, deletes every row of it, and takes the archive back without loss", async () => {
		const filled = await opened(open);
		const { store } = filled;
		const past = await fillStore(filled);
		const directory = join(folder(), "archives");
		await settle(store, past.ada);
		const what = { kind: "conversation", id: past.ada } as const;
		const before = await exported(store, what);
		const others = await rowsWithout(filled, past.ada);
		const pruned = await pruneConversation(store, { conversation: past.ada, directory, held: false });

		expect(pruned.kind).toBe("deleted");
		const archive = pruned.kind === "deleted" ? pruned.archive : expect.fail("it was kept");
		expect(archive.lines).toBe(before.length);
		expect(readFileSync(archive.path, "utf8")).toBe(before.join(""));
		expect(archive.digest).toBe(createHash("sha256").update(before.join("")).digest("hex"));
		expect(archive.name).toBe(`${past.ada}.${archive.digest.slice(0, 16)}.jsonl`);
		expect(statSync(archive.path).mode & 0o777).toBe(0o600);
		expect(statSync(directory).mode & 0o777).toBe(0o700);
		expect(readdirSync(directory)).toEqual([archive.name]);

		expect(await refusal(store.conversation({ scope: OPERATOR, ref: { id: past.ada } }))).toBe(
			"store.not_found",
		);
		for (const query of ["heliotrope", "upon", "A cat", "branch"])
			expect((await store.search({ scope: OPERATOR, query, limit: 5 })).hits).toEqual([]);
		expect((await store.search({ scope: OPERATOR, query: "welcome", limit: 5 })).hits).toHaveLength(1);
		expect(await rowsOf(filled, past.ada)).toEqual({});
		expect(await rowsWithout(filled, past.ada)).toEqual(others);
		await isWhole(store);

		await importJsonl(store, readFileSync(archive.path, "utf8").trimEnd().split("\n"), { origin: "archive" });
		expect(brief(await exported(store, what))).toEqual(brief(before));
		expect((await store.search({ scope: OPERATOR, query: "heliotrope", limit: 5 })).hits).toHaveLength(1);
		await isWhole(store);
	});

	it("ends a live session first, and keeps the conversation until that is finalised", async () => {
		const { store, scene } = await opened(open);
		const { conversation, session } = await scene.exchange("one", "two");
		const directory = folder();
		const prune = { conversation, directory, held: false };

		expect(await pruneConversation(store, prune)).toEqual({ kind: "kept", reason: "finalising" });
		expect(await scene.session(session)).toMatchObject({ endReason: "retention", live: null });
		expect(await pruneConversation(store, prune)).toEqual({ kind: "kept", reason: "finalising" });
		const due = await store.dueSessions({ scope: OPERATOR, now: scene.clock.now(), limit: 10 });
		expect(due).toMatchObject([{ session, work: "finalise" }]);
		await store.finaliseSession({ session });
		expect(await pruneConversation(store, prune)).toMatchObject({ kind: "deleted" });
	});
});

/** The rows of every table that name a conversation or what belongs to it; the log of events is no part of it. */
async function rowsOf({ path }: SceneStore, conversation: ConversationId): Promise<Record<string, number>> {
	return await counted(path, (text) => text.includes(conversation));
}

async function rowsWithout(
	{ path }: SceneStore,
	conversation: ConversationId,
): Promise<Record<string, number>> {
	return await counted(path, (text) => !text.includes(conversation));
}

/** Tables whose rows name their conversation, or a turn or blob that only one has; the marked ids are found in their text. */
async function counted(
	path: string | null,
	isWanted: (row: string) => boolean,
): Promise<Record<string, number>> {
	if (path === null) return {};
	const db = new Database(path, { readonly: true });
	try {
		const joins: Record<string, string> = {
			conversations: "SELECT id FROM conversations",
			addresses: "SELECT conversation FROM addresses",
			sessions: "SELECT conversation FROM sessions",
			turns: "SELECT conversation FROM turns",
			messages: "SELECT s.conversation FROM messages m LEFT JOIN sessions s ON s.key = m.session",
			hidden_ranges: "SELECT s.conversation FROM hidden_ranges h LEFT JOIN sessions s ON s.key = h.session",
			blobs: "SELECT conversation FROM blobs",
			blob_chunks: "SELECT b.conversation FROM blob_chunks k LEFT JOIN blobs b ON b.id = k.blob",
			inbox: "SELECT conversation FROM inbox",
			deliveries: "SELECT conversation FROM deliveries",
			calls: "SELECT t.conversation FROM calls c LEFT JOIN turns t ON t.id = c.turn",
			model_calls: "SELECT t.conversation FROM model_calls c LEFT JOIN turns t ON t.id = c.turn",
		};
		const counts: Record<string, number> = {};
		for (const [table, sql] of Object.entries(joins)) {
			const rows = db
				.prepare(sql)
				.raw()
				.all()
				.filter((row) => isWanted(JSON.stringify(row)));
			if (rows.length > 0) counts[table] = rows.length;
		}
		return counts;
	} finally {
		db.close();
	}
}

describe("a conversation is kept", () => {
	interface Case {
		readonly reason: string;
		/** What holds it; answers how to let it go. */
		readonly hold: (
			filled: SceneStore,
			conversation: ConversationId,
		) => Promise<(() => Promise<unknown>) | undefined>;
	}
	const cases: readonly Case[] = [
		{
			reason: "turn",
			hold: async ({ scene, store }, conversation) => {
				await scene.turn("again");
				return () => store.stopTurn({ conversation });
			},
		},
		{
			reason: "inbox",
			hold: async ({ scene, store }, conversation) => {
				const { id } = await scene.say("waiting");
				return () => store.endItems({ conversation, inbox: [id], as: { kind: "dropped_by_user" } });
			},
		},
		{
			reason: "delivery",
			hold: async ({ scene, store }, conversation) => {
				await store.notify({ conversation, deliveries: [delivery("late", "late", "notice")] });
				return () => scene.deliverAll();
			},
		},
		{
			reason: "suspended",
			hold: async ({ scene }) => {
				await scene.suspend(await scene.turn("again"));
				await scene.deliverAll();
				return undefined;
			},
		},
	];

	it.each(cases)("while it has this: $reason", async ({ reason, hold }) => {
		const filled = await opened(openInFile);
		const { scene } = filled;
		const { conversation } = await scene.exchange("one", "two");
		const { unchanged } = await filled.store.retentionState({ scope: AS_OPERATOR, conversation });
		const letGo = await hold(filled, conversation);
		const { store } = filled;
		const soon = scene.clock.now() + 1;
		const directory = folder();
		const archive = { name: "x", digest: "x" };

		expect(await candidates(store, soon)).toEqual([]);
		expect(await pruneConversation(store, { conversation, directory, held: false })).toEqual({
			kind: "kept",
			reason,
		});
		expect(await store.deleteConversation({ conversation, unchanged, held: false, archive })).toEqual({
			kind: "kept",
			reason,
		});
		expect(readdirSync(directory)).toEqual([]);
		if (!letGo) return;
		await letGo();
		await settle(store, conversation);
		expect(await candidates(store, soon)).toEqual([conversation]);
		expect(await pruneConversation(store, { conversation, directory, held: false })).toMatchObject({
			kind: "deleted",
		});
	});

	it("while a process or a confirmation belongs to it", async () => {
		const { store, scene } = await opened(openInMemory);
		const { conversation } = await scene.exchange("one", "two");
		await settle(store, conversation);
		const { unchanged } = await store.retentionState({ scope: AS_OPERATOR, conversation });
		const archive = { name: "x", digest: "x" };
		const directory = folder();
		expect(await pruneConversation(store, { conversation, directory, held: true })).toEqual({
			kind: "kept",
			reason: "held",
		});
		expect(await store.deleteConversation({ conversation, unchanged, held: true, archive })).toEqual({
			kind: "kept",
			reason: "held",
		});
		expect(await store.sessions({ scope: OPERATOR, conversation, limit: 9 })).toHaveLength(1);
		expect(readdirSync(directory)).toEqual([]);
	});

	it("when anything has happened since its archive was begun", async () => {
		const { store, scene } = await opened(openInMemory);
		const { conversation, session } = await scene.exchange("one", "two");
		await settle(store, conversation);
		const directory = folder();
		const archive = await archiveConversation(store, { conversation, directory });
		await store.setTitle({ session, title: "Changed", source: "user" });
		const { unchanged, name, digest } = archive;
		const remove = { conversation, unchanged, held: false, archive: { name, digest } };
		expect(await store.deleteConversation(remove)).toEqual({ kind: "kept", reason: "changed" });

		const again = await archiveConversation(store, { conversation, directory });
		await scene.exchange("back again", "yes");
		expect(await store.deleteConversation({ ...remove, unchanged: again.unchanged })).toMatchObject({
			kind: "kept",
		});
		await settle(store, conversation);
		expect(await store.deleteConversation({ ...remove, unchanged: again.unchanged })).toEqual({
			kind: "kept",
			reason: "changed",
		});
		expect((await store.sessions({ scope: OPERATOR, conversation, limit: 9 })).length).toBe(2);
	});

	it("when somebody writes while its archive is written, and that archive goes", async () => {
		const { store, scene } = await opened(openInFile);
		const { conversation } = await scene.exchange("one", "two");
		await settle(store, conversation);
		const directory = folder();
		let isOver = false;
		const meddled: Store = {
			...store,
			exportSmall: async (args) => {
				if (!isOver) {
					isOver = true;
					await scene.say("wait for me");
				}
				return await store.exportSmall(args);
			},
		};
		expect(await pruneConversation(meddled, { conversation, directory, held: false })).toEqual({
			kind: "kept",
			reason: "inbox",
		});
		expect(readdirSync(directory)).toEqual([]);
		await isWhole(store);
	});

	it("when its archive cannot be written, or does not read back", async () => {
		const { store, scene } = await opened(openInMemory);
		const { conversation } = await scene.exchange("heliotrope", "two");
		await settle(store, conversation);
		const place = join(folder(), "file");
		writeFileSync(place, "not a folder");
		const error = await refused(pruneConversation(store, { conversation, directory: place, held: false }));
		expect(error).toMatchObject({ code: "archive.failed" });

		const directory = folder();
		const other = (await exported(store, { kind: "conversation", id: conversation }))
			.join("")
			.replaceAll("heliotrope", "marigolds!");
		for (const content of ["spoiled", other]) {
			const spoiled: Store = {
				...store,
				exportSmall: async (args) => {
					const part = join(directory, readdirSync(directory)[0] as string);
					rmSync(part);
					writeFileSync(part, content);
					return await store.exportSmall(args);
				},
			};
			expect(await refusal(pruneConversation(spoiled, { conversation, directory, held: false }))).toBe(
				"archive.failed",
			);
		}
		expect(readdirSync(directory)).toEqual([]);
		expect((await store.sessions({ scope: OPERATOR, conversation, limit: 9 })).length).toBe(1);
		expect(
			await refusal(archiveConversation(store, { conversation: "../x" as ConversationId, directory })),
		).toBe("argument.invalid");
	});
});

describe("retention", () => {
	it("names the conversations that were idle before a time, the longest idle first, page by page", async () => {
		const { store, scene } = await opened(openInMemory);
		const idle: ConversationId[] = [];
		for (let n = 0; n < 5; n++) {
			const place = { ...ADA, chat_id: `1${n}`, user_id: `1${n}` };
			idle.push((await scene.exchange(`hello ${n}`, "yes", place)).conversation);
			scene.clock.advance(DAY);
		}
		expect(await candidates(store, NOON)).toEqual([]);
		expect(await candidates(store, NOON + 2 * DAY + 1)).toEqual(idle.slice(0, 3));
		const first = await store.pruneCandidates({ scope: AS_OPERATOR, before: NOON + 9 * DAY, limit: 2 });
		expect(first.conversations).toEqual(idle.slice(0, 2));
		const page = { scope: AS_OPERATOR, before: NOON + 9 * DAY, limit: 10, after: first.next as never };
		expect(await store.pruneCandidates(page)).toEqual({ conversations: idle.slice(2), next: null });
	});

	it("that was cut off between archive and deletion is run again: the same archive, and the rows once", async () => {
		const filled = await opened(openInFile);
		const { store } = filled;
		const { ada } = await fillStore(filled);
		await settle(store, ada);
		const directory = folder();
		const first = await archiveConversation(store, { conversation: ada, directory });
		const end = await endOfEvents(store);
		const lines = readFileSync(first.path, "utf8").trimEnd().split("\n");
		await importJsonl(store, lines, { origin: "archive" });
		expect(await endOfEvents(store)).toBe(end);

		writeFileSync(join(directory, `${ada}.part`), "left by a crash");
		const pruned = await pruneConversation(store, { conversation: ada, directory, held: false });
		expect(pruned).toMatchObject({ kind: "deleted", archive: { name: first.name } });
		expect(readdirSync(directory)).toEqual([first.name]);
	});

	it("lets the person come back: a new conversation, and the old one beside it when it is imported", async () => {
		const filled = await opened(openInMemory);
		const { store, scene } = filled;
		const { ada } = await fillStore(filled);
		await settle(store, ada);
		const pruned = await pruneConversation(store, { conversation: ada, directory: folder(), held: false });
		const back = await scene.exchange("I am back", "welcome back");
		expect(back.conversation).not.toBe(ada);

		const path = pruned.kind === "deleted" ? pruned.archive.path : "";
		await importJsonl(store, readFileSync(path, "utf8").trimEnd().split("\n"), { origin: "archive" });
		expect((await scene.say("where am I")).conversation).toBe(back.conversation);
		expect((await store.sessions({ scope: OPERATOR, conversation: ada, limit: 9 })).length).toBe(3);
		await isWhole(store);
	});
});

describe("events", () => {
	it("older than what is kept go in bounded steps, and a cursor before them is told to read anew", async () => {
		const { store, scene } = await opened(openInMemory);
		await scene.exchange("one", "two");
		const early = (await scene.events())[1]?.cursor as string;
		const old = (await scene.events()).length;
		scene.clock.advance(31 * DAY);
		await scene.exchange("three", "four");
		const all = await scene.events();
		const first = await store.pruneEvents({ keepDays: 30, limit: 3 });
		expect(first).toEqual({ pruned: 3, more: true });
		let pruned = first.pruned;
		for (let more = true; more; ) {
			const step = await store.pruneEvents({ keepDays: 30, limit: 3 });
			pruned += step.pruned;
			more = step.more;
		}
		expect(pruned).toBe(old);
		expect(await scene.events()).toEqual(all.slice(old));
		expect(await store.events({ scope: OPERATOR, after: early, limit: 9 })).toMatchObject({ kind: "resync" });
		const last = all[old - 1]?.cursor as string;
		expect(await store.events({ scope: OPERATOR, after: last, limit: 1 })).toMatchObject({
			kind: "events",
			events: [{ cursor: all[old]?.cursor }],
		});
		await isWhole(store);
	});

	it("may all be gone, and followers go on", async () => {
		const { store, scene } = await opened(openInMemory);
		await scene.exchange("one", "two");
		scene.clock.advance(31 * DAY);
		await store.pruneEvents({ keepDays: 30, limit: 1000 });
		const end = await store.events({ scope: OPERATOR, after: "", limit: 9 });
		expect(end).toMatchObject({ kind: "events", events: [] });
		expect(await store.events({ scope: OPERATOR, after: "now", limit: 9 })).toEqual(end);
		await scene.say("three");
		expect(await store.events({ scope: OPERATOR, after: end.cursor, limit: 9 })).toMatchObject({
			events: [{ type: "inbound.accepted" }],
		});
	});

	it("go although the clock was ahead for a moment", async () => {
		const { store, scene } = await opened(openInMemory);
		await scene.say("one");
		scene.clock.advance(3650 * DAY);
		await scene.say("from the future");
		scene.clock.set(NOON);
		await scene.say("two");
		const all = await scene.events();
		scene.clock.advance(31 * DAY);
		await scene.say("three");
		expect(await store.pruneEvents({ keepDays: 30, limit: 100 })).toEqual({
			pruned: all.length,
			more: false,
		});
	});
});

describe("refused messages", () => {
	it("are forgotten after seven days, some at a time, and nothing else is", async () => {
		const { store, scene } = await opened(openInMemory);
		const refuse = async (n: number): Promise<void> => {
			const as = { kind: "refuse", reason: "not allowed" } as const;
			for (let i = 0; i < n; i++) await scene.accept("let me in", BOB, { as });
		};
		await refuse(5);
		const kept = await scene.say("hello");
		scene.clock.advance(7 * DAY);
		expect(await store.pruneRefused({ limit: 3 })).toEqual({ pruned: 0, more: false });
		await refuse(2);
		scene.clock.advance(1);
		expect(await store.pruneRefused({ limit: 3 })).toEqual({ pruned: 3, more: true });
		expect(await store.pruneRefused({ limit: 3 })).toEqual({ pruned: 2, more: false });
		expect(await store.inboxItem({ scope: OPERATOR, id: kept.id })).toMatchObject({ id: kept.id });
		expect(await store.inboxItem({ scope: OPERATOR, id: kept.id + 1 })).toMatchObject({
			disposition: { kind: "refused" },
		});
	});
});

describe("requests of strangers", () => {
	it("go with everything that was told of them, when they came to nothing", async () => {
		const { store, scene } = await opened(openInMemory);
		const digest = "d".repeat(64);
		const notice = (id: string) => ({ ...delivery(id, "a code"), kind: "notice" as const });
		const ids = ["1", "home0:1"].map((end) => `pairing:${digest.slice(0, 32)}:${end}`);
		const [first = "", home = ""] = ids;
		const pairing = { digest, deliveries: [notice(first)], questions: [notice(home)] };
		await scene.accept("let me in", BOB, { as: { kind: "refuse", reason: "not allowed", pairing } });
		for (const id of ids) await store.dropDelivery({ id });
		scene.clock.advance(7 * DAY + 1);
		await store.pruneRefused({ limit: 10 });
		for (const id of ids)
			await expect(store.delivery({ scope: OPERATOR, id })).rejects.toMatchObject({
				code: "store.not_found",
			});
	});
});

describe("the rows of a store", () => {
	let connection: Connection;
	let path: string;
	let past: Past;
	beforeAll(async () => {
		const filled = await openInFile();
		past = await fillStore(filled);
		await filled.scene.exchange("a turn with a delivery", "yes", GROUP);
		const turn = await filled.scene.turn("with a reply", BOB);
		await filled.scene.reply(turn, "yes", { deliveries: [delivery("d1", "yes")] });
		await filled.scene.say("waiting", BOB);
		await filled.scene.accept("let me in", ADA, { as: { kind: "refuse", reason: "no" } });
		await filled.store.close();
		path = filled.path as string;
		connection = Connection.writer(path);
		connection.db.pragma("foreign_keys = OFF");
	});
	afterAll(() => {
		connection.db.close();
		rmSync(dirname(path), { recursive: true });
	});

	const LOOSE = `DROP TRIGGER messages_immutable; DROP TRIGGER inbox_disposed_once; DROP INDEX one_live_session; DROP INDEX one_turn;`;
	const breaks: readonly (readonly [what: string, sql: string, problem: RegExp])[] = [
		["two live sessions", "UPDATE sessions SET ended_at = NULL, end_reason = NULL", /I2: .* 3 live sessions/],
		["two open turns", "UPDATE turns SET state = 'running'", /I5: .* open turns/],
		["a hole in seq", "DELETE FROM messages WHERE seq = 2", /seq of session .* is not dense/],
		["an item that is done and waits", "UPDATE inbox SET due_at = 1", /I3: .* still waits/],
		["an item that is nowhere", "UPDATE inbox SET due_at = NULL", /I3: .* neither waits/],
		[
			"a turn that ended without its items",
			"UPDATE inbox SET disposition = NULL, disposed_at = NULL WHERE turn IS NOT NULL",
			/I3: .* has no disposition, and its turn is completed/,
		],
		[
			"an answer without a turn",
			"UPDATE turns SET state = 'failed'",
			/I3: .* is answered, and its turn is failed/,
		],
		[
			"a text that is gone",
			"UPDATE inbox SET body = NULL, message = NULL",
			/I3: the text of inbound message/,
		],
		[
			"an item whose message is not there",
			"UPDATE inbox SET message = 7 WHERE message IS NOT NULL",
			/names message 7/,
		],
		["a stranger's text", "UPDATE inbox SET body = '{}' WHERE disposition = 'refused'", /has kept a text/],
		["a token from nowhere", "UPDATE turns SET token = 99", /has token 99/],
		[
			"a turn that has ended and is due",
			"UPDATE turns SET due_at = 1",
			/is completed, and its end or its due time/,
		],
		[
			"a turn in another conversation",
			"UPDATE turns SET conversation = 'x'",
			/of another conversation than its session/,
		],
		[
			"a message in another session than its turn",
			"UPDATE turns SET session = session + 1",
			/in another session than its turn/,
		],
		[
			"an item of no conversation",
			"UPDATE inbox SET conversation = 'x' WHERE conversation IS NOT NULL",
			/which is not there/,
		],
		[
			"a delivery of no conversation",
			"UPDATE deliveries SET conversation = 'x'",
			/delivery d1 is of conversation x/,
		],
		["a delivery nobody looks for", "UPDATE deliveries SET due_at = NULL", /I7: delivery d1 is pending/],
		[
			"an open delivery without a turn",
			"UPDATE deliveries SET state = 'open', due_at = NULL",
			/I7: delivery d1 is open/,
		],
		["a session nobody finalises", "UPDATE sessions SET due_at = NULL", /waits for no finalising/],
		[
			"a base that is not there",
			"UPDATE sessions SET base_seq = 99 WHERE base_session IS NOT NULL",
			/which it may not/,
		],
		["a range beyond the rows", "UPDATE hidden_ranges SET to_seq = 99", /outside its rows/],
		[
			"a wrong count",
			"UPDATE sessions SET messages = messages - 1",
			/session .* counts .* messages, its rows make/,
		],
		["a wrong count of errors", "UPDATE sessions SET tool_errors = 7", /counts 7 tool errors/],
		["a wrong count of calls", "UPDATE sessions SET tool_calls = 7", /counts 7 tool calls/],
		[
			"a wrong count of a conversation",
			"UPDATE conversations SET message_count = 7",
			/conversation .* counts 7 messages/,
		],
		["a blob cut short", "DELETE FROM blob_chunks WHERE n > 0", /lacks some of its/],
		[
			"a blob that is not there",
			"DELETE FROM blob_chunks; DELETE FROM blobs",
			/I8: message .* refers to blob/,
		],
		[
			"a body nobody can read",
			"UPDATE messages SET body = 'x'",
			/I8: the body of message .* is not readable/,
		],
		[
			"a row that counts and should not",
			"UPDATE messages SET counted = 1",
			/is counted, and should be the other way/,
		],
		["an alias of somebody merged", "UPDATE principals SET merged_into = id", /which is merged into another/],
		[
			"events that were pruned",
			"INSERT INTO settings VALUES ('events_pruned_to', '5')",
			/is there and said to be pruned/,
		],
		[
			"a message that search does not find",
			"DELETE FROM search WHERE rowid = (SELECT max(rowid) FROM search)",
			/the search index has/,
		],
		["a title that search still finds", "UPDATE sessions SET title_body = NULL", /the search index has/],
	];

	it("are whole", () => {
		expect(problems()).toEqual([]);
		expect(past.sessions).toHaveLength(3);
	});

	it.each(breaks)("tell of %s", (_, sql, problem) => {
		connection.db.exec(`BEGIN; ${LOOSE}`);
		try {
			connection.db.exec(sql);
			expect(problems()).toContainEqual(expect.stringMatching(problem));
		} finally {
			connection.db.exec("ROLLBACK");
		}
	});

	it("of one conversation are deleted without reading any table through", () => {
		const { db } = connection;
		db.exec("BEGIN");
		try {
			db.exec("DELETE FROM deliveries; UPDATE inbox SET due_at = NULL; UPDATE sessions SET finalised = 1");
			db.exec("UPDATE sessions SET ended_at = 1, end_reason = 'retention' WHERE ended_at IS NULL");
			const { unchanged } = connection.run(retentionState({ scope: AS_OPERATOR, conversation: past.ada }));
			const archive = { name: "x", digest: "x" };
			const args = { conversation: past.ada, unchanged, held: false, archive };
			const scans: string[] = [];
			const result = runToEnd(deleteConversation(CONTEXT, args), ({ statement, params, mode }) => {
				if (mode === "later") return undefined;
				const plan = db
					.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${statement.sql}`)
					.all(...params);
				if (plan.some(({ detail }) => detail.startsWith("SCAN"))) scans.push(statement.sql);
				const prepared = db.prepare(statement.sql);
				if (mode === "run") return prepared.run(...params).changes;
				return mode === "get" ? prepared.get(...params) : prepared.all(...params);
			});
			expect(result).toEqual({ kind: "deleted" });
			expect(scans).toEqual([]);
		} finally {
			db.exec("ROLLBACK");
		}
	});

	function problems(): readonly string[] {
		return connection.run(checkIntegrity({ scope: AS_OPERATOR })).problems;
	}
});
