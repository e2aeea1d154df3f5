// Stores of every version there was: each opens, is brought up to date without loss, and comes back from a backup.
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { restoreBackup, writeBackup } from "../../src/keeping/index.ts";
import {
	inspectStore,
	type Job,
	type NewJob,
	NO_SECRETS,
	openStore,
	type Store,
} from "../../src/store/index.ts";
import { migration, SCHEMA_VERSION } from "../../src/store/schema.ts";
import { countedIds, NOON } from "../support/clock.ts";

const OPERATOR = { kind: "operator" } as const;
const folder = mkdtempSync(join(tmpdir(), "keryx-schemas-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Of each step, for SQLite. A step that has landed is never edited: stores out there were made with it. Add a line for a new one. */
const STEPS = [
	"4c8c9dcb304fabff",
	"0daadc219b326d44",
	"ceca2b9b8e49242f",
	"80662830512bd17c",
	"72f8e5580e51ef73",
	"4fd795b6bcdffdad",
	"f73b25922981dea2",
	"ee36f02b0309bd01",
	"0a7f323c11f5c0c2",
	"eeac0707d3f203b8",
	"b0594027e3ad75c1",
	"7e2fb97a44fe1695",
	"6dd2e32d6677987d",
	"3a42c41dc80dc4f8",
	"886e18691865809f",
	"cb6fa0500a182887",
	"49dfa60badcab6d0",
	"111689f244f803e6",
	"2ca960249cff1ce2",
	"8bd82b86dc87db5d",
	"6c223e8e1739431f",
	"2a90357cf9c4d7f8",
	"bc5ed8915e273052",
	"484b07a63254004a",
];

test("no step of the schema was edited after it had landed, and each is listed here", () => {
	const digest = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 16);
	expect(Array.from({ length: SCHEMA_VERSION }, (_, from) => digest(migration(from, "sqlite")))).toEqual(
		STEPS,
	);
});

const versions = Array.from({ length: SCHEMA_VERSION }, (_, n) => n + 1);

/** A store with a past, made by the first version and brought to this one, as one that was updated now and then. */
function madeBy(version: number, name = `v${version}`): string {
	const path = join(folder, `${name}.db`);
	const db = new Database(path).unsafeMode();
	const step = (from: number) => {
		db.exec(migration(from, "sqlite"));
		db.pragma(`user_version = ${from + 1}`);
	};
	step(0);
	const source = { platform: "telegram", chat_id: "1", chat_type: "dm", user_id: "1", user_name: "Ada" };
	db.prepare(
		`INSERT INTO conversations (id, key, platform, profile, chat_type, shared, created_at, last_activity_at, source_body, preview_body)
		VALUES ('c1', 'agent:main:telegram:dm:1', 'telegram', '', 'dm', 0, ${NOON}, ${NOON}, ?, '""')`,
	).run(JSON.stringify(source));
	db.prepare(
		`INSERT INTO sessions (id, conversation, opened_by, started_at, last_activity_at, cap, context_body)
		VALUES ('20260310_120000_aaaaaaaa', 'c1', 'message', ${NOON}, ${NOON}, 0, ?)`,
	).run(JSON.stringify(source));
	db.prepare(
		`INSERT INTO deliveries (id, conversation, kind, state, platform, account, destination, created_at, body, due_at)
		VALUES ('d1', 'c1', 'reply', 'pending', 'telegram', '', ?, ${NOON}, '{"text":"hello","plain":"hello"}', ${NOON})`,
	).run(JSON.stringify({ platform: "telegram", account: "", chatId: "1" }));
	for (let from = 1; from < version; from++) step(from);
	db.close();
	return path;
}

function open(path: string): Promise<Store> {
	const url = `sqlite:${path}`;
	return openStore({ url, clock: { now: () => NOON }, ids: countedIds(), secrets: NO_SECRETS });
}

test.each(versions)("a store of version %i opens, and comes back from a backup", async (version) => {
	const path = madeBy(version);
	const file = join(folder, `v${version}.backup`);
	const facts = inspectStore(path);
	expect(facts).toMatchObject({ schema: version, conversations: 1, sessions: 1 });
	const entries = [
		{ name: "manifest.json", from: Buffer.from(JSON.stringify(facts)) },
		{ name: "keryx.db", from: path },
	] as const;
	await writeBackup(file, { madeAt: NOON, version: "0.0.1", entries }, null);

	const updated = await open(path);
	expect(await updated.conversations({ scope: OPERATOR, limit: 10 })).toMatchObject([{ id: "c1" }]);
	expect((await updated.checkIntegrity({ scope: OPERATOR })).problems).toEqual([]);
	await updated.close();

	const home = join(folder, `home-${version}`);
	mkdirSync(home);
	const storePath = join(home, "keryx.db");
	const restored = await restoreBackup({ file, home, storePath, passphrase: null, now: NOON });
	expect(restored).toMatchObject({ schema: version, conversations: 1, doubted: 1, version: "0.0.1" });
	const store = await open(storePath);
	expect(await store.conversations({ scope: OPERATOR, limit: 10 })).toMatchObject([{ id: "c1" }]);
	// What waited then may have been sent since: it is not sent again by itself.
	expect(await store.delivery({ scope: OPERATOR, id: "d1" })).toMatchObject({ state: "unknown" });
	await store.close();
});

test("what a column may hold is checked one value after another, and nothing else is let in", () => {
	const db = new Database(madeBy(SCHEMA_VERSION, "checks"));
	const tables = db
		.prepare("SELECT sql FROM sqlite_schema WHERE name IN ('turns', 'messages', 'inbox', 'deliveries')")
		.pluck()
		.all() as string[];
	expect(tables).toHaveLength(4);
	// A longer list becomes a table in memory for each statement.
	for (const sql of tables) expect(sql).not.toMatch(/ IN \((?:'\w+', ){2,}/);
	const refused = { code: "SQLITE_CONSTRAINT_CHECK" };
	for (const [column, value] of [
		["state", "lost"],
		["kind", "letter"],
	])
		expect(() => db.prepare(`UPDATE deliveries SET ${column} = ?`).run(value)).toThrow(
			expect.objectContaining(refused),
		);
	for (const state of ["open", "pending", "sending", "sent", "unknown", "dead"])
		expect(db.prepare("UPDATE deliveries SET state = ?").run(state).changes).toBe(1);
	expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
	db.close();
});

test("a job that came due since the backup was made does not run again", async () => {
	const HOUR = 3_600_000;
	const path = join(folder, "jobs.db");
	const before = await open(path);
	const made = (when: NewJob["when"]) =>
		before.createJob({
			most: 9,
			job: {
				name: "report",
				task: { kind: "text", text: "now" },
				when,
				zone: "UTC",
				catchUp: "all",
				maxDelaySeconds: null,
				conversation: null,
				deliver: null,
				failure: null,
				origin: null,
				profile: "",
				model: null,
				tools: null,
				owner: { principal: null, role: "owner", platform: "local" },
			},
		});
	const once = await made({ kind: "once", at: NOON + HOUR });
	const every = await made({ kind: "every", seconds: 3600 });
	const cron = await made({ kind: "cron", pattern: "30 * * * *" });
	const later = await made({ kind: "once", at: NOON + 9 * HOUR });
	await before.close();
	const file = join(folder, "jobs.backup");
	const entries = [
		{ name: "manifest.json", from: Buffer.from(JSON.stringify(inspectStore(path))) },
		{ name: "keryx.db", from: path },
	] as const;
	await writeBackup(file, { madeAt: NOON, version: "0.0.1", entries }, null);

	const home = join(folder, "home-jobs");
	mkdirSync(home);
	const storePath = join(home, "keryx.db");
	const now = NOON + 3 * HOUR + 1;
	expect(await restoreBackup({ file, home, storePath, passphrase: null, now })).toMatchObject({ missed: 3 });
	const store = await open(storePath);
	expect((await store.dueJobs({ scope: OPERATOR, now, limit: 9 })).jobs).toEqual([]);
	const seen = async ({ id }: Job) => {
		const { state, dueAt } = await store.job({ scope: OPERATOR, id });
		const runs = await store.runs({ scope: OPERATOR, job: id, limit: 9 });
		return [state, dueAt, ...runs.map((run) => [run.state, run.reason, run.scheduledAt])];
	};
	expect(await seen(once)).toEqual(["ended", null, ["missed", "restored", NOON + HOUR]]);
	expect(await seen(every)).toEqual(["active", NOON + 4 * HOUR, ["missed", "restored", NOON + HOUR]]);
	expect(await seen(cron)).toEqual(["active", NOON + 3.5 * HOUR, ["missed", "restored", NOON + HOUR / 2]]);
	expect(await seen(later)).toEqual(["active", NOON + 9 * HOUR]);
	await store.close();
});

test("a store of a newer version is refused", async () => {
	const path = madeBy(SCHEMA_VERSION, "newer");
	const db = new Database(path);
	db.pragma(`user_version = ${SCHEMA_VERSION + 1}`);
	db.close();
	expect(() => inspectStore(path)).toThrow(`the store has version ${SCHEMA_VERSION + 1}`);
});
