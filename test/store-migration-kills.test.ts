// A store of the first version is brought up to date: large, with kill -9 at many moments, and on a full disk. The next start goes on, and
// everything is there. The copy beside it stays as the store was before.
import { copyFileSync, existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { setImmediate } from "node:timers/promises";
import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { SCHEMA_VERSION } from "../src/store/schema.ts";
import { makeOld, ROWS_OF_ONE, waitingIn } from "./crash/old-store.ts";
import { open, output, Workbench } from "./crash/support.ts";
import { COPY, writtenBy } from "./crash/written.ts";

const CONVERSATIONS = Number(process.env.KERYX_MIGRATION_CONVERSATIONS ?? 300);
const KILLS = Number(process.env.KERYX_MIGRATION_KILLS ?? 5);
const LARGE = Number(process.env.KERYX_MIGRATION_LARGE ?? 1000);
const OPERATOR = { kind: "operator" } as const;

const bench = new Workbench();
afterAll(() => bench.end());

test(
	`a store of the first version with ${LARGE} conversations is brought up to date`,
	async () => {
		const path = bench.file("large.db");
		makeOld(path, LARGE);
		const { size } = statSync(path);
		const began = performance.now();
		await (await open(path)).close();
		const seconds = (performance.now() - began) / 1000;
		console.log(
			`migration: ${LARGE} conversations, ${Math.round(size / 1e6)} MB, took ${seconds.toFixed(1)} s`,
		);
		await expectWhole(path, LARGE);
		removeStore(path);
	},
	120_000 + LARGE * 3,
);

test(
	`a store is whole after each of ${KILLS} kills while it is brought up to date, and its copy is from before`,
	async () => {
		const old = bench.file("old.db");
		makeOld(old, CONVERSATIONS);
		const path = bench.file("store.db");
		const whole = await upgrade(old, path, Number.POSITIVE_INFINITY);
		expect(whole.copied).toBeGreaterThan(whole.copying);
		expect(whole.done).toBeGreaterThan(whole.copied);
		await expectWhole(path, CONVERSATIONS);
		const left: number[] = [];
		for (let kill = 1; kill <= KILLS; kill++) {
			const { done } = await upgrade(old, path, killAt(kill, whole));
			if (done === 0) left.push(versionAfterKill(path));
			await expectWhole(path, CONVERSATIONS);
		}
		console.log(`migration: ${left.length} of ${KILLS} kills before the end, at versions ${left.join(" ")}`);
		// A few may all come too late on a busy machine; of many, some do not.
		if (KILLS >= 50) expect(left.length).toBeGreaterThan(0);
	},
	120_000 + KILLS * (10_000 + CONVERSATIONS),
);

test("a store that has made some steps keeps the copy from before the first", async () => {
	const path = bench.file("half.db");
	makeOld(path, 2);
	const db = new Database(path);
	// A table of the next to last step's name is in its way.
	db.exec("CREATE TABLE checks_changed (n INTEGER)");
	await expect(open(path)).rejects.toThrow("checks_changed");
	expect(versionOf(path)).toBeGreaterThan(1);
	expect(versionOf(path)).toBeLessThan(SCHEMA_VERSION);
	db.exec("DROP TABLE checks_changed");
	db.close();
	await expectWhole(path, 2);
	// One from another time is replaced.
	const again = bench.file("again.db");
	makeOld(again, 3);
	copyFileSync(path + COPY, again + COPY);
	await expectWhole(again, 3);
});

test("a copy that does not fit on the disk is removed, and the store is as it was", async () => {
	const path = bench.file("full.db");
	makeOld(path, 1000);
	const child = bench.start("migrate-child.ts", [path], ["prlimit", "--fsize=1000000"]);
	expect((await output(child)).replace(/ \d+$/m, "")).toBe("copying\nstore.io\n");
	expect([versionOf(path), existsSync(path + COPY)]).toEqual([1, false]);
	await expectWhole(path, 1000);
});

/** In bytes: how much the program had written when it began its copy, after it, and after the last step; 0: it was killed before. */
interface Written {
	readonly copying: number;
	readonly copied: number;
	readonly done: number;
}

/** A fifth of the kills while the copy is made, the others during the steps. */
function killAt(kill: number, { copying, copied, done }: Written): number {
	const inCopy = Math.floor(KILLS / 5);
	if (kill <= inCopy) return copying + ((copied - copying) * kill) / (inCopy + 1);
	return copied + ((done - copied) * (kill - inCopy)) / (KILLS - inCopy + 1);
}

/** Starts on a copy, and kills once the program has written so many bytes. */
async function upgrade(old: string, path: string, limit: number): Promise<Written> {
	removeStore(path);
	copyFileSync(old, path);
	const child = bench.start("migrate-child.ts", [path]);
	const said = output(child);
	while (child.exitCode === null && child.signalCode === null) {
		if (writtenBy(child.pid ?? 0, path) >= limit) child.kill("SIGKILL");
		await setImmediate();
	}
	const lines = await said;
	const at = (kind: string): number => Number(new RegExp(`^${kind} (\\d+)$`, "m").exec(lines)?.[1] ?? 0);
	return { copying: at("copying"), copied: at("copied"), done: at("done") };
}

function removeStore(path: string): void {
	for (const file of filesOf(path)) rmSync(file);
}

/** The store, and everything whose name begins with its name. */
function filesOf(path: string): string[] {
	const folder = dirname(path);
	return readdirSync(folder)
		.filter((name) => name.startsWith(basename(path)))
		.map((name) => `${folder}/${name}`)
		.sort();
}

function versionOf(path: string): number {
	return reading(path, (db) => db.pragma("user_version", { simple: true }) as number);
}

/** What SQLite itself finds after the kill, the log included. A step that was not finished has left nothing. */
function versionAfterKill(path: string): number {
	return reading(path, (db) => {
		expect(db.pragma("quick_check", { simple: true })).toBe("ok");
		const marked = db.prepare("SELECT value FROM settings WHERE name = 'migrating'").pluck().get();
		const version = db.pragma("user_version", { simple: true }) as number;
		expect(marked).toBe(version > 1 && version < SCHEMA_VERSION ? String(SCHEMA_VERSION) : undefined);
		return version;
	});
}

function reading<Result>(path: string, read: (db: Database.Database) => Result): Result {
	const db = new Database(path, { readonly: true });
	try {
		return read(db);
	} finally {
		db.close();
	}
}

/** Opened once more, it is of this version with every row, and beside it is the copy from before, with every row, and nothing else. */
async function expectWhole(path: string, conversations: number): Promise<void> {
	const store = await open(path);
	expect((await store.checkIntegrity({ scope: OPERATOR })).problems).toEqual([]);
	await store.close();
	expect(filesOf(path)).toEqual([path, path + COPY, `${path}.owner`]);
	const rows = Object.fromEntries(
		Object.entries(ROWS_OF_ONE).map(([table, count]) => [table, count * conversations]),
	);
	const counted = (db: Database.Database) =>
		Object.fromEntries(
			Object.keys(rows).map((table) => [table, db.prepare(`SELECT count(*) FROM ${table}`).pluck().get()]),
		);
	reading(path, (db) => {
		expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
		expect(db.pragma("foreign_key_check")).toEqual([]);
		expect(db.pragma("user_version", { simple: true })).toBe(SCHEMA_VERSION);
		expect(counted(db)).toEqual(rows);
		const waiting = "SELECT count(*) FROM deliveries WHERE first_at IS NOT NULL AND lane <> ''";
		expect(db.prepare(waiting).pluck().get()).toBe(waitingIn(conversations));
		expect(db.prepare("SELECT value FROM settings WHERE name = 'migrating'").get()).toBeUndefined();
	});
	reading(path + COPY, (db) => {
		expect(db.pragma("quick_check", { simple: true })).toBe("ok");
		expect(db.pragma("user_version", { simple: true })).toBe(1);
		expect(counted(db)).toEqual(rows);
	});
}
