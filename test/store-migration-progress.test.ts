// What the owner sees while a store of an earlier version is brought up to date.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { createKeryx } from "../src/app/index.ts";
import { tellMigration } from "../src/app/report/store-migration.ts";
import { type MigrationProgress, NO_SECRETS, openStore } from "../src/store/index.ts";
import { SCHEMA_VERSION } from "../src/store/schema.ts";
import { makeOld } from "./crash/old-store.ts";
import { countedIds, NOON } from "./support/clock.ts";

const folder = mkdtempSync(join(tmpdir(), "keryx-progress-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const STEPS = SCHEMA_VERSION - 1;
/** As many bytes as a store has that takes noticeable time. */
const BALLAST = 52_000_000;

test("each part of bringing a store up to date is told once, before the store is open", async () => {
	const path = join(folder, "told.db");
	makeOld(path, 1);
	const bytes = statSync(path).size;
	const told: MigrationProgress[] = [];
	const opening = () =>
		openStore({
			url: `sqlite:${path}`,
			clock: { now: () => NOON },
			ids: countedIds(),
			secrets: NO_SECRETS,
			onMigration: (progress) => told.push(progress),
		});
	const store = await opening();
	expect(told).toEqual([
		{ kind: "copying", bytes },
		{ kind: "copied", bytes, path: `${path}.before-v${SCHEMA_VERSION}`, ms: expect.any(Number) },
		...Array.from({ length: STEPS }, (_, n) => ({ kind: "step", bytes, step: n + 1, of: STEPS })),
		{ kind: "done", bytes, ms: expect.any(Number) },
	]);
	await store.close();
	await (await opening()).close();
	expect(told).toHaveLength(STEPS + 3);
});

test("nothing is told about a new store", async () => {
	const store = await openStore({
		url: `sqlite:${join(folder, "new.db")}`,
		clock: { now: () => NOON },
		ids: countedIds(),
		secrets: NO_SECRETS,
		onMigration: ({ kind }) => expect.unreachable(kind),
	});
	await store.close();
});

test("a start with a large store says what it does, and writes it into the log", async () => {
	const { home, notes } = await startedWith(BALLAST);
	expect(notes[0]).toBe("Updating the store: copying it first (52 MB)");
	expect(notes[1]).toMatch(/^Updating the store: copy made \(\d+ s\): \/.*\/keryx\.db\.before-v\d+$/);
	expect(notes.slice(2, -1)).toEqual(
		Array.from({ length: STEPS }, (_, n) => `Updating the store: step ${n + 1} of ${STEPS}`),
	);
	expect(notes.at(-1)).toMatch(/^Updating the store: done \(\d+ s\)$/);
	expect(readFileSync(join(home, "logs", "gateway.log"), "utf8")).toContain(`step ${STEPS} of ${STEPS}`);
});

test("a start with a small store says nothing about it", async () => {
	expect((await startedWith(0)).notes).toEqual([]);
});

test("times are told in words", () => {
	const notes: string[] = [];
	const tell = tellMigration({ note: (text) => notes.push(text) });
	tell({ kind: "copied", bytes: 1_200_000_000, path: "/home/ada/.keryx/keryx.db.before-v24", ms: 8400 });
	tell({ kind: "done", bytes: 1_200_000_000, ms: 125_000 });
	expect(notes).toEqual([
		"Updating the store: copy made (8 s): /home/ada/.keryx/keryx.db.before-v24",
		"Updating the store: done (2 min)",
	]);
});

/** A Keryx on a store of the first version, and its notes about updating it. */
async function startedWith(ballast: number): Promise<{ readonly home: string; readonly notes: string[] }> {
	const home = join(folder, `home-${ballast}`);
	mkdirSync(home, { mode: 0o700 });
	const path = join(home, "keryx.db");
	makeOld(path, 1);
	const db = new Database(path);
	const blob =
		"INSERT INTO blobs (id, digest, media_type, size, created_at) VALUES ('b', 'd', 'text/plain', 0, 0)";
	db.exec(blob);
	db.prepare("INSERT INTO blob_chunks (blob, n, body) VALUES ('b', 0, zeroblob(?))").run(ballast);
	db.close();
	const notes: string[] = [];
	const keryx = await createKeryx({
		home,
		env: { HOME: folder, TZ: "UTC" },
		config: {},
		report: { warn: () => {}, note: (text) => text.includes("store") && notes.push(text) },
	});
	await keryx.stop();
	return { home, notes };
}
