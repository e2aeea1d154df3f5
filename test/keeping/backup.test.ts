// `keryx backup` and `keryx restore`: while Keryx runs, under load, encrypted, and with files that are not whole.
import {
	copyFileSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
	truncateSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createKeryx, type Keryx } from "../../src/app/index.ts";
import { openBackup } from "../../src/keeping/backup-file.ts";
import { Backups } from "../../src/keeping/index.ts";
import { NO_SECRETS, openStore, systemIds } from "../../src/store/index.ts";
import { Scene } from "../../src/testing/conformance/store/scene.ts";
import { createScriptedAgent, createVirtualClock } from "../../src/testing/index.ts";
import { systemClock } from "../../src/time/index.ts";
import { createWallClock } from "../support/clock.ts";
import { asJson, call, commandIn, dataOf } from "../support/keryx.ts";
import { until } from "../support/until.ts";

const root = mkdtempSync(join(tmpdir(), "keryx-keeping-"));
const running: Keryx[] = [];
afterEach(async () => {
	await Promise.all(running.splice(0).map((keryx) => keryx.stop()));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** More with KERYX_BACKUP_SENDERS: 64 send about as much as this machine takes. */
const SENDERS = Number(process.env.KERYX_BACKUP_SENDERS ?? 16);
const RATE = 500;
/** Messages that are on their way into the store at a time: as many a second as it takes, which is more than the rate. */
const AT_ONCE = 16;
/** Messages that are in the store before: more with KERYX_BACKUP_BEFORE. */
const BEFORE = Number(process.env.KERYX_BACKUP_BEFORE ?? 2000);
type Report = NonNullable<Parameters<typeof createKeryx>[0]>["report"];
const QUIET = { warn: () => {}, note: () => {} };
const agent = createScriptedAgent({ script: { otherwise: [{ text: "ok" }] }, clock: systemClock });

async function keryxIn(home: string, report: Report = QUIET): Promise<Keryx> {
	const keryx = await createKeryx({
		home,
		env: { HOME: root, XDG_DATA_HOME: dataOf(home), TZ: "UTC" },
		report,
		config: {},
		agent,
	});
	running.push(keryx);
	await keryx.start();
	return keryx;
}

const source = (chat: string) => ({
	platform: "web",
	chat_type: "dm" as const,
	chat_id: chat,
	user_id: chat,
});
const send = (keryx: Keryx, n: number) =>
	keryx.client.send({ text: `message ${n}`, client_message_id: `m${n}`, source: source(`chat-${n % 16}`) });

describe("under load", () => {
	test("a backup is the store at one instant, and restores to exactly that", async () => {
		const home = join(root, "load");
		const keryx = await keryxIn(home);
		const acknowledged: number[] = [];
		let next = 0;
		let isOver = false;
		const sender = async () => {
			while (!isOver) {
				const n = next++;
				await send(keryx, n);
				acknowledged.push(n);
			}
		};
		const senders = Array.from({ length: SENDERS }, sender);
		await until(() => acknowledged.length >= 200);
		const before = [...acknowledged];
		const file = join(root, "load.backup");
		const backups = new Backups({
			home,
			storePath: join(home, "keryx.db"),
			store: keryx.store,
			config: () => ({ backup: { keep: 7 } }),
			env: {},
			clock: systemClock,
			version: "test",
			warn: () => {},
		});
		const { lastEvent, messages } = await backups.make(file, null);
		const after = next;
		await until(() => acknowledged.length >= after + 50);
		isOver = true;
		await Promise.all(senders);

		const copy = join(root, "load-restored");
		const env = { KERYX_HOME: copy };
		const restored = asJson(await call(["restore", file, "--yes", "--json"], { env }));
		expect(messages).toBeGreaterThan(0);
		expect(restored).toMatchObject({ messages, kept: null });
		const [live, back] = [home, copy].map((one) => new Database(join(one, "keryx.db"), { readonly: true }));
		const rows = (db: Database.Database | undefined, sql: string) => db?.prepare(sql).all();
		// Events and messages are only ever added, so the store at that instant is a beginning of both.
		const events = `SELECT * FROM events WHERE id <= ${lastEvent} ORDER BY id`;
		expect(rows(back, events)).toEqual(rows(live, events));
		const last = (back?.prepare("SELECT max(id) FROM messages").pluck().get() as number) ?? 0;
		const said = `SELECT * FROM messages WHERE id <= ${last} ORDER BY id`;
		expect(rows(back, said)).toEqual(rows(live, said));
		// Every message of that time is there, as it was then: what an event says has happened has, and nothing else.
		const taken = new Set(
			back?.prepare("SELECT platform_message FROM inbox").pluck().all() as string[] | undefined,
		);
		expect(before.filter((n) => !taken.has(`m${n}`))).toEqual([]);
		expect([...taken].filter((id) => Number(id.slice(1)) >= after)).toEqual([]);
		const count = (sql: string) => back?.prepare(sql).pluck().get();
		expect(count("SELECT count(*) FROM inbox")).toBe(count("SELECT max(id) FROM inbox"));
		live?.close();
		back?.close();
	});
});

/** Straight into the store, as a gateway with that many messages would: more than a busy machine answers. */
test("at 500 messages a second into the store, a backup is the store at one instant", async () => {
	const home = join(root, "rate");
	mkdirSync(home);
	const path = join(home, "keryx.db");
	const ids = systemIds(systemClock);
	const store = await openStore({ url: `sqlite:${path}`, clock: systemClock, ids, secrets: NO_SECRETS });
	const scene = new Scene({ store, clock: createWallClock(), close: () => store.close() });
	const acknowledged: string[] = [];
	let sent = 0;
	const send = async () => {
		const id = `m${sent++}`;
		await scene.accept(`message ${id}`, undefined, { platformMessage: id });
		acknowledged.push(id);
	};
	// So that the copy takes a while.
	while (sent < BEFORE) await Promise.all(Array.from({ length: 100 }, send));
	const before = [...acknowledged];
	let isOver = false;
	const sender = async () => {
		while (!isOver) await send();
	};
	const senders = Array.from({ length: AT_ONCE }, sender);
	const backups = new Backups({
		home,
		storePath: path,
		store: {
			recordBackup: store.recordBackup,
			lastBackup: store.lastBackup,
			// A second's worth of messages comes meanwhile, and some after the copy, however fast the disk is.
			copyTo: async (to) => {
				const facts = await store.copyTo(to);
				const wanted = Math.max(before.length + RATE, sent + 1);
				await until(() => acknowledged.length >= wanted);
				return facts;
			},
		},
		config: () => ({ backup: { keep: 7 } }),
		env: {},
		clock: systemClock,
		version: "test",
		warn: () => {},
	});
	const file = join(root, "rate.backup");
	const facts = await backups.make(file, null);
	const after = new Set(acknowledged);
	isOver = true;
	await Promise.all(senders);

	const copy = join(root, "rate-restored");
	const restored = asJson(await call(["restore", file, "--yes", "--json"], { env: { KERYX_HOME: copy } }));
	expect(restored).toMatchObject({ conversations: facts.conversations, messages: facts.messages });
	const read = (db: string, sql: string) => {
		const opened = new Database(db, { readonly: true });
		try {
			return opened.prepare(sql).all();
		} finally {
			opened.close();
		}
	};
	// Rows are only ever added here, so the store at one instant is a beginning of each table, and all of them end at the same event.
	const events = `SELECT * FROM events WHERE id <= ${facts.lastEvent} ORDER BY id`;
	expect(read(join(copy, "keryx.db"), events)).toEqual(read(path, events));
	const inbox = read(join(copy, "keryx.db"), "SELECT * FROM inbox ORDER BY id") as {
		platform_message: string;
	}[];
	expect(inbox).toEqual(read(path, `SELECT * FROM inbox ORDER BY id LIMIT ${inbox.length}`));
	const told = read(
		join(copy, "keryx.db"),
		`SELECT count(*) AS n FROM events WHERE type = 'inbound.accepted' AND id <= ${facts.lastEvent}`,
	);
	expect(told).toEqual([{ n: inbox.length }]);
	const taken = new Set(inbox.map(({ platform_message }) => platform_message));
	expect(before.filter((id) => !taken.has(id))).toEqual([]);
	expect(after.size).toBeGreaterThanOrEqual(before.length + RATE);
	// The copy was made while they came, not after them.
	expect(inbox.length).toBeLessThan(sent);
	await store.close();
});

describe("a file", () => {
	const home = join(root, "home");
	const env = { KERYX_HOME: home };
	const file = join(root, "plain.backup");

	beforeAll(async () => {
		await call(["token", "create", "before", "--role", "reader"], { env });
		const made = await call(["backup", file], { env });
		expect(made).toMatchObject({ code: 0 });
		await call(["token", "create", "after", "--role", "reader"], { env });
	});

	const names = async (from: string) =>
		asJson(await call(["token", "list", "--json"], { env: { KERYX_HOME: from } })).tokens.map(
			({ name }: { name: string }) => name,
		);

	test("is for the user alone, and nothing else is left behind", () => {
		expect(statSync(file).mode & 0o777).toBe(0o600);
		expect(readdirSync(root).filter((name) => name.includes(".part"))).toEqual([]);
		expect(readdirSync(home).filter((name) => name.includes("copy"))).toEqual([]);
	});

	test("is never written over another file", async () => {
		const { code, stderr } = await call(["backup", file], { env });
		expect([code, stderr]).toEqual([1, expect.stringContaining("exists already")]);
	});

	test("goes into an empty home with its keys, and the store that was there is kept", async () => {
		const other = join(root, "other");
		const first = await call(["restore", file, "--yes"], { env: { KERYX_HOME: other } });
		expect(first.code).toBe(0);
		expect(await names(other)).toEqual(["before"]);
		for (const name of ["keryx.db", "audit.key", "pseudonym.key"])
			expect([name, statSync(join(other, name)).mode & 0o777]).toEqual([name, 0o600]);
		expect(readFileSync(join(other, "audit.key"))).toEqual(readFileSync(join(home, "audit.key")));

		const again = asJson(await call(["restore", file, "--yes", "--json"], { env }));
		expect(await names(home)).toEqual(["before"]);
		const kept = new Database(again.kept, { readonly: true });
		expect(kept.prepare("SELECT name FROM tokens ORDER BY name").pluck().all()).toEqual(["after", "before"]);
		kept.close();
	});

	test("leaves nothing to explain to the next start in an empty home", async () => {
		const fresh = join(root, "fresh");
		const restored = await call(["restore", file, "--yes"], { env: { KERYX_HOME: fresh } });
		expect(restored).toMatchObject({ code: 0 });
		// Tokens that were revoked since are valid again.
		expect(restored.stdout).toContain("as they were then");
		expect(restored.stderr).not.toContain("audit");
		const warnings: string[] = [];
		await keryxIn(fresh, { ...QUIET, warn: (text) => void warnings.push(text) });
		expect(warnings).toEqual([]);
		expect((await call(["confirm", "audit", "--verify"], { env: { KERYX_HOME: fresh } })).code).toBe(0);
	});

	test("of an older audit is told about at the next start", async () => {
		const older = join(root, "older");
		await call(["restore", file, "--yes"], { env: { KERYX_HOME: older } });
		await call(["token", "create", "later", "--role", "reader"], { env: { KERYX_HOME: older } });
		const restored = await call(["restore", file, "--yes"], { env: { KERYX_HOME: older } });
		expect(restored.stderr).toContain("keryx confirm audit --accept");
		const warnings: string[] = [];
		await keryxIn(older, { ...QUIET, warn: (text) => void warnings.push(text) });
		expect(warnings).toEqual([expect.stringContaining("entries are missing")]);
	});

	test("goes to a store on another disk than the home", async () => {
		// In memory, where there is such a disk.
		const disk = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : root, "keryx-disk-"));
		const parted = join(root, "parted");
		mkdirSync(parted, { mode: 0o700 });
		copyFileSync(join(home, "keryx.db"), join(disk, "keryx.db"));
		symlinkSync(join(disk, "keryx.db"), join(parted, "keryx.db"));
		try {
			const restored = await call(["restore", file, "--yes", "--json"], { env: { KERYX_HOME: parted } });
			expect(restored).toMatchObject({ code: 0, stderr: "" });
			expect(asJson(restored)).toMatchObject({ kept: expect.stringContaining(disk) });
			expect(await names(parted)).toEqual(["before"]);
			expect(statSync(join(disk, "keryx.db")).mode & 0o777).toBe(0o600);
			expect(readdirSync(disk).filter((name) => name.includes("restoring"))).toEqual([]);
		} finally {
			rmSync(disk, { recursive: true });
		}
	});

	test("is checked without a change by --check", async () => {
		const nowhere = join(root, "nowhere");
		const { code, stdout } = await call(["restore", file, "--check"], { env: { KERYX_HOME: nowhere } });
		expect([code, stdout]).toEqual([
			0,
			expect.stringContaining("is complete: 0 conversations and 0 messages"),
		]);
		expect(existsSync(join(nowhere, "keryx.db"))).toBe(false);
	});

	test.each([
		["cut short by a byte", (size: number) => size - 1, "cut short"],
		["cut in half", (size: number) => Math.floor(size / 2), "cut short"],
		["empty", () => 0, "it is empty"],
	])("that is %s is refused, and nothing changes", async (_, size, reason) => {
		const broken = join(root, "broken.backup");
		writeFileSync(broken, readFileSync(file));
		truncateSync(broken, size(statSync(file).size));
		const before = readFileSync(join(home, "keryx.db"));
		const { code, stderr } = await call(["restore", broken, "--yes"], { env });
		expect([code, stderr]).toEqual([1, expect.stringContaining(reason)]);
		expect(readFileSync(join(home, "keryx.db"))).toEqual(before);
		expect(readdirSync(home).filter((name) => name.startsWith("restore-"))).toEqual([]);
	});

	test("with any altered byte is refused", async () => {
		const whole = readFileSync(file);
		const broken = join(root, "altered.backup");
		for (let at = 0; at < whole.length; at += Math.ceil(whole.length / 40)) {
			const bytes = Buffer.from(whole);
			bytes[at] = (bytes[at] ?? 0) ^ 1;
			writeFileSync(broken, bytes);
			const { code, stderr } = await call(["restore", broken, "--check"], { env });
			expect([at, code, stderr]).toEqual([
				at,
				1,
				expect.stringMatching(/altered|cut short|not a backup made by Keryx/),
			]);
		}
	});

	test("is not called damaged where the disk refuses what is in it", async () => {
		const backup = await openBackup(file);
		const failure = await backup.unpack(join(root, "not-there"), null).catch((error: unknown) => error);
		expect(failure).toMatchObject({
			code: "backup.failed",
			message: expect.stringContaining("could not be unpacked: ENOENT"),
		});
	});

	test("that is something else is refused", async () => {
		const { stderr } = await call(["restore", join(home, "keryx.db"), "--yes"], { env });
		expect(stderr).toContain("not a backup made by Keryx");
	});

	test("is not restored over a Keryx that runs", async () => {
		const started = await commandIn(root).start(home);
		const { code, stderr } = await call(["restore", file, "--yes"], { env });
		await started.stop();
		expect([code, stderr]).toEqual([1, expect.stringContaining("belongs to a running Keryx")]);
	});
});

test("a running Keryx makes an encrypted backup, which opens with its passphrase alone", async () => {
	const home = join(root, "sealed");
	const started = await commandIn(root).start(home);
	const env = { KERYX_HOME: home };
	const file = join(root, "sealed.backup");
	const secret = join(root, "passphrase");
	writeFileSync(secret, "correct horse battery\n");
	const made = asJson(await call(["backup", file, "--passphrase-file", secret, "--json"], { env }));
	expect(made).toMatchObject({ path: file, encrypted: true });
	expect(asJson(await call(["doctor", "--quick", "--json"], { env })).checks).toContainEqual(
		expect.objectContaining({ check: "backup", state: "fine" }),
	);
	await started.stop();
	expect(readFileSync(file).includes("SQLite format 3")).toBe(false);
	const check = (...flags: string[]) => call(["restore", file, "--check", ...flags], { env });
	expect((await check()).stderr).toContain("is encrypted");
	writeFileSync(join(root, "wrong"), "incorrect horse\n");
	expect((await check("--passphrase-file", join(root, "wrong"))).stderr).toContain("not the passphrase");
	expect((await check("--passphrase-file", secret)).code).toBe(0);
});

test("a backup that fails says why, also where the store cannot note it", async () => {
	const home = join(root, "refused");
	mkdirSync(home);
	const backups = new Backups({
		home,
		storePath: join(home, "keryx.db"),
		store: {
			copyTo: () => Promise.reject(new Error("the copy does not fit")),
			recordBackup: () => Promise.reject(new Error("the disk with the store is full")),
			lastBackup: async () => ({ made: null, failed: null, scheduled: null }),
		},
		config: () => ({ backup: { keep: 7 } }),
		env: {},
		clock: systemClock,
		version: "test",
		warn: () => {},
	});
	await expect(backups.make(join(root, "refused.backup"), null)).rejects.toThrow("the copy does not fit");
});

describe("a schedule", () => {
	const facts = { schema: 1, conversations: 0, sessions: 0, messages: 0, lastEvent: 0 };

	test("makes a backup when it is due, keeps the newest, and says what went wrong", async () => {
		const home = join(root, "schedule");
		await call(["token", "list"], { env: { KERYX_HOME: home } });
		const clock = createVirtualClock(Date.parse("2026-03-10T12:00:00Z"));
		const warnings: string[] = [];
		let last: Awaited<ReturnType<Keryx["store"]["lastBackup"]>> = {
			made: null,
			failed: null,
			scheduled: null,
		};
		let fails = false;
		const backup = { every: "12h", keep: 2, to: `${join(root, "kept")}/` };
		const backups = new Backups({
			home,
			storePath: join(home, "keryx.db"),
			store: {
				copyTo: async (path) => {
					if (fails) throw new Error("the disk is full");
					writeFileSync(path, "a store");
					return facts;
				},
				recordBackup: async (record) => {
					const at = clock.now();
					last =
						record.kind === "made"
							? {
									made: { at, ...record },
									failed: null,
									scheduled: record.scheduled ? { at, path: record.path } : last.scheduled,
								}
							: { ...last, failed: { at, reason: record.reason } };
				},
				lastBackup: async () => last,
			},
			config: () => ({ backup }),
			env: {},
			clock,
			version: "test",
			warn: (text) => warnings.push(text),
		});
		const made = () => (existsSync(backup.to) ? readdirSync(backup.to) : []);
		const rested = (holds: () => boolean) => until(() => holds() && clock.pendingTimers().length > 0);
		backups.start();
		await rested(() => last.made !== null);
		writeFileSync(join(backup.to, "mine.backup"), "of somebody else");
		for (let n = 1; n <= 3; n++) {
			const at = clock.now();
			// One by hand in between changes nothing about the schedule.
			await clock.advance(6 * 3_600_000);
			await backups.make(join(root, `by-hand-${n}.backup`), null);
			await clock.advance(6 * 3_600_000);
			await rested(() => (last.scheduled?.at ?? 0) > at);
		}
		await rested(() => made().length === 3);
		expect(made().sort()).toEqual([
			"keryx-20260311T120000Z.backup",
			"keryx-20260312T000000Z.backup",
			"mine.backup",
		]);
		fails = true;
		await clock.advance(12 * 3_600_000);
		await rested(() => warnings.length === 1);
		expect(warnings).toEqual(["no backup was made: the disk is full"]);
		fails = false;
		await clock.advance(3_600_000);
		await rested(() => last.failed === null);
		expect(made()).toContain("keryx-20260312T130000Z.backup");
		// The clock was ahead, and is right again.
		for (const year of [2098, 2099]) writeFileSync(join(backup.to, `keryx-${year}0101T000000Z.backup`), "");
		for (const ahead of [
			{ scheduled: { at: clock.now() + 1e10, path: "x" }, failed: null },
			{ scheduled: null, failed: { at: clock.now() + 1e10, reason: "x" } },
		]) {
			last = { made: null, ...ahead };
			await clock.advance(12 * 3_600_000);
			await rested(() => last.made?.at === clock.now());
		}
		await rested(() => !made().some((name) => name.startsWith("keryx-209")));
		expect(made().sort()).toEqual([
			"keryx-20260313T010000Z.backup",
			"keryx-20260313T130000Z.backup",
			"mine.backup",
		]);
		// Its disk is not mounted: nothing is written below.
		rmSync(backup.to, { recursive: true });
		await clock.advance(12 * 3_600_000);
		await until(() => warnings.length === 2);
		expect(warnings[1]).toContain("with earlier backups is not there");
		expect(existsSync(backup.to)).toBe(false);
		mkdirSync(backup.to);
		await clock.advance(3_600_000);
		await until(() => made().length === 1);
		await backups.stop();
	});
});
