// How an interrupted update ends at the next start: which version runs, and which store it has.
import {
	copyFileSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { identityOf } from "../src/processes/index.ts";
import { NO_SECRETS, openStore, SCHEMA_VERSION } from "../src/store/index.ts";
import { Scene } from "../src/testing/conformance/store/scene.ts";
import { type Journal, readCurrent, readJournal, readLast, writeJournal } from "../src/update/journal.ts";
import { resume } from "../src/update/resume.ts";
import { countedIds, createWallClock } from "./support/clock.ts";
import { call } from "./support/keryx.ts";

const root = mkdtempSync(join(tmpdir(), "keryx-undo-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const FROM = { version: "1.0.0", root: "/versions/old", schema: SCHEMA_VERSION };
const TO = { version: "2.0.0", root: "/versions/new", schema: SCHEMA_VERSION + 1 };
const JOURNAL: Journal = {
	phase: "held",
	from: FROM,
	to: TO,
	by: "/versions/old",
	askedAt: Date.now(),
	trialMs: 0,
	wasReady: true,
	attempts: 0,
	worker: null,
	asker: null,
};
let homes = 0;

/** A home whose store was copied for an update, and was used since where asked. */
async function homeWith(journal: Journal, { isUsed = false, isMigrated = true } = {}): Promise<string> {
	const home = join(root, `home-${homes++}`);
	const before = join(home, "versions", "before");
	mkdirSync(before, { recursive: true });
	const store = join(home, "keryx.db");
	await said(store, "before the update");
	copyFileSync(store, join(before, "keryx.db"));
	writeFileSync(join(before, "audit.witness"), "of before");
	writeFileSync(join(home, "audit.witness"), "of after");
	if (isUsed) await said(store, "after the update");
	if (isMigrated) sql(store, (db) => db.pragma(`user_version = ${SCHEMA_VERSION + 1}`));
	writeJournal(home, journal);
	return home;
}

async function said(path: string, text: string): Promise<void> {
	const clock = createWallClock();
	const ids = countedIds();
	const store = await openStore({ url: `sqlite:${path}`, clock, ids, secrets: NO_SECRETS });
	const scene = new Scene({ store, clock, close: () => store.close() });
	await scene.accept(text, undefined, { platformMessage: text });
	await store.close();
}

function sql<Result>(path: string, use: (db: Database.Database) => Result): Result {
	const db = new Database(path);
	try {
		return use(db);
	} finally {
		db.close();
	}
}

const schemaIn = (home: string) =>
	sql(join(home, "keryx.db"), (db) => db.pragma("user_version", { simple: true }));
const takenIn = (home: string) =>
	sql(join(home, "keryx.db"), (db) => db.prepare("SELECT count(*) FROM inbox").pluck().get());

function started(home: string, isGateway = true): Promise<string | null> {
	return resume({ home, launcher: "1.0.0", words: [], isGateway, warn: () => {} });
}

test("a new version that was let go to nobody is undone, with its store and its witness", async () => {
	for (const isGateway of [true, false]) {
		const home = await homeWith(JOURNAL);
		expect(await started(home, isGateway)).toBe(FROM.root);
		expect([schemaIn(home), takenIn(home)]).toEqual([SCHEMA_VERSION, 1]);
		expect(readFileSync(join(home, "audit.witness"), "utf8")).toBe("of before");
		expect([readJournal(home), readCurrent(home)?.version]).toEqual([null, "1.0.0"]);
		expect(readLast(home)?.problem).toBe("it was interrupted");
		// Nothing is left of it, and a second start finds nothing to do.
		expect(existsSync(join(home, "versions", "before"))).toBe(false);
		expect(await started(home, isGateway)).toBe(FROM.root);
	}
});

test("a kill while the store is put back changes nothing: it is put back at the next start", async () => {
	const home = await homeWith(JOURNAL);
	const before = join(home, "versions", "before");
	copyFileSync(join(before, "keryx.db"), join(before, "copy.db"));
	writeFileSync(join(home, "keryx.db.restoring"), "half of it");
	expect(await started(home)).toBe(FROM.root);
	expect([schemaIn(home), takenIn(home)]).toEqual([SCHEMA_VERSION, 1]);
});

test("the copies of a new version that was killed while it changed the store are removed with it", async () => {
	for (const isMigrated of [true, false]) {
		const to = { ...TO, schema: SCHEMA_VERSION + 2 };
		const home = await homeWith({ ...JOURNAL, to }, { isMigrated });
		const copies = ["", "-journal"].map((ending) => join(home, `keryx.db.before-v${to.schema}${ending}`));
		for (const copy of copies) writeFileSync(copy, "half of it");
		expect(await started(home)).toBe(FROM.root);
		expect([schemaIn(home), ...copies.map((copy) => existsSync(copy))]).toEqual([
			SCHEMA_VERSION,
			false,
			false,
		]);
	}
});

test("what the new version was told stays, where only that version can read it", async () => {
	const home = await homeWith({ ...JOURNAL, phase: "going", attempts: 2 }, { isUsed: true });
	expect(await started(home)).toBe(TO.root);
	expect([schemaIn(home), takenIn(home)]).toEqual([SCHEMA_VERSION + 1, 2]);
	expect(readCurrent(home)?.version).toBe("2.0.0");
	expect(readLast(home)?.problem).toContain("would be lost by going back");
	expect(existsSync(join(home, "versions", "before", "keryx.db"))).toBe(true);
});

test("what the new version was told stays, and the old version goes on with it where it can", async () => {
	const home = await homeWith(
		{ ...JOURNAL, phase: "going", attempts: 2 },
		{ isUsed: true, isMigrated: false },
	);
	expect(await started(home)).toBe(FROM.root);
	expect([schemaIn(home), takenIn(home)]).toEqual([SCHEMA_VERSION, 2]);
});

test("a command that used the store in the middle of an update loses nothing", async () => {
	const home = await homeWith(JOURNAL, { isUsed: true, isMigrated: false });
	expect(await started(home)).toBe(FROM.root);
	expect(takenIn(home)).toBe(2);
});

test("commands leave an update alone that somebody works on", async () => {
	const worker = identityOf(process.ppid);
	const home = await homeWith({ ...JOURNAL, worker });
	expect(await started(home, false)).toBeNull();
	expect(readJournal(home)?.phase).toBe("held");
});

test("an update that nobody took up for an hour is not made any more", async () => {
	const home = await homeWith({ ...JOURNAL, phase: "asked", askedAt: Date.now() - 2 * 3_600_000 });
	expect(await started(home)).toBeNull();
	expect(readLast(home)?.problem).toBe("nobody took it up");
});

test("in a clone and in a container the command says what to do instead", async () => {
	const env = { KERYX_HOME: join(root, "elsewhere") };
	const { code, stderr } = await call(["update"], { env });
	expect([code, stderr]).toEqual([1, expect.stringContaining("git pull")]);
	const inImage = await call(["update", "--check"], { env: { ...env, KERYX_INSTALLED_BY: "image" } });
	expect(inImage.stderr).toContain("docker compose up --build");
});
