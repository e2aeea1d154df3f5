// Kill -9 while a store of an earlier version is brought up to date: the next start goes on, and everything is there.
import { once } from "node:events";
import { copyFileSync, rmSync, statSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { migration, SCHEMA_VERSION } from "../src/store/schema.ts";
import { open, Workbench } from "./crash/support.ts";
import { NOON } from "./support/clock.ts";

const CONVERSATIONS = Number(process.env.KERYX_MIGRATION_CONVERSATIONS ?? 500);
const KILLS = Number(process.env.KERYX_MIGRATION_KILLS ?? 5);
/** Before deliveries had lanes: the steps after it rewrite rows, build indexes and change constraints. */
const OLD = 8;
const OPERATOR = { kind: "operator" } as const;

const bench = new Workbench();
afterAll(() => bench.end());

test(
	`a store of version ${OLD} is whole after each of ${KILLS} kills while it is brought up to date`,
	async () => {
		const old = bench.file("old.db");
		makeOld(old);
		const path = bench.file("store.db");
		const whole = await upgrade(old, path, Number.POSITIVE_INFINITY);
		expect(whole.written).toBeGreaterThan(0);
		await expectWhole(path);
		const left: number[] = [];
		for (let kill = 1; kill <= KILLS; kill++) {
			const { killed } = await upgrade(old, path, (whole.written * kill) / (KILLS + 1));
			if (killed) left.push(versionOf(path));
			await expectWhole(path);
		}
		console.log(`migration: ${left.length} of ${KILLS} kills before the end, at versions ${left.join(" ")}`);
		expect(left.length).toBeGreaterThan(0);
	},
	120_000 + KILLS * (10_000 + CONVERSATIONS / 5),
);

/** Starts on a copy, and kills once so many bytes of the copy before the change and of the log are written. */
async function upgrade(
	old: string,
	path: string,
	killAt: number,
): Promise<{ readonly written: number; readonly killed: boolean }> {
	for (const rest of ["", "-wal", "-shm", ".owner", `.before-v${SCHEMA_VERSION}`])
		rmSync(path + rest, { force: true });
	copyFileSync(old, path);
	const child = bench.start("migrate-child.ts", [path]);
	const closed = once(child, "close");
	let written = 0;
	let killed = false;
	while (child.exitCode === null && child.signalCode === null) {
		written = Math.max(written, sizeOf(`${path}.before-v${SCHEMA_VERSION}`) + sizeOf(`${path}-wal`));
		if (!killed && written >= killAt) killed = child.kill("SIGKILL");
		await setImmediate();
	}
	await closed;
	return { written, killed };
}

function sizeOf(path: string): number {
	return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** What SQLite itself finds after the kill, the log included. */
function versionOf(path: string): number {
	const db = new Database(path, { readonly: true });
	const version = db.pragma("user_version", { simple: true }) as number;
	expect(db.pragma("quick_check", { simple: true })).toBe("ok");
	db.close();
	return version;
}

async function expectWhole(path: string): Promise<void> {
	const store = await open(path);
	expect((await store.checkIntegrity({ scope: OPERATOR })).problems).toEqual([]);
	await store.close();
	const db = new Database(path, { readonly: true });
	const count = (table: string) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
	expect(db.pragma("user_version", { simple: true })).toBe(SCHEMA_VERSION);
	expect(["conversations", "sessions", "deliveries"].map(count)).toEqual(Array(3).fill(CONVERSATIONS));
	expect(count("events WHERE type = 'conversation.created'")).toBe(CONVERSATIONS);
	expect(count("deliveries WHERE first_at IS NOT NULL AND lane <> ''")).toBe(CONVERSATIONS);
	db.close();
}

function makeOld(path: string): void {
	const db = new Database(path);
	for (let from = 0; from < OLD; from++) db.exec(migration(from, "sqlite"));
	db.pragma(`user_version = ${OLD}`);
	const conversation = db.prepare(
		`INSERT INTO conversations (id, key, platform, profile, chat_type, shared, created_at, last_activity_at, source_body, preview_body)
		VALUES (?, ?, 'telegram', '', 'dm', 0, ${NOON}, ${NOON}, ?, '""')`,
	);
	const session = db.prepare(
		`INSERT INTO sessions (id, conversation, opened_by, started_at, last_activity_at, cap, context_body)
		VALUES (?, ?, 'message', ${NOON}, ${NOON}, 0, '"You are Keryx."')`,
	);
	const delivery = db.prepare(
		`INSERT INTO deliveries (id, conversation, kind, state, platform, account, destination, created_at, body, due_at)
		VALUES (?, ?, 'reply', 'pending', 'telegram', '', ?, ${NOON}, '{"text":"hello","plain":"hello"}', ${NOON})`,
	);
	const event = db.prepare(
		`INSERT INTO events (at, type, conversation, subject) VALUES (${NOON}, 'conversation.created', ?, ?)`,
	);
	db.transaction(() => {
		for (let n = 0; n < CONVERSATIONS; n++) {
			const id = n.toString(16).padStart(32, "0");
			const chat = `chat ${n}`;
			const key = `agent:main:telegram:dm:${n}`;
			const source = { platform: "telegram", chat_id: chat, chat_type: "dm", user_id: chat };
			conversation.run(id, key, JSON.stringify(source));
			session.run(`20260310_120000_${n.toString(16).padStart(8, "0")}`, id);
			delivery.run(`d${n}`, id, JSON.stringify({ platform: "telegram", account: "", chatId: chat }));
			event.run(id, key);
		}
	})();
	db.close();
}
