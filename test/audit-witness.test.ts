// The audit's witness: a count and a code outside the store. Whatever is done to the audit by hand while Keryx does not run shows.
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import {
	copyFileSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NO_SECRETS, openStore, type Store, storeOn } from "../src/store/index.ts";
import { WitnessKeeper } from "../src/store/sqlite/witness.ts";
import { createVirtualClock } from "../src/testing/virtual-clock.ts";
import { countedIds, createWallClock } from "./support/clock.ts";
import { MemoryDatabase } from "./support/memory-engine.ts";
import { programFile } from "./support/programs.ts";

const OPERATOR = { kind: "operator" } as const;
const KEY = new Uint8Array(32).fill(3);
const WRITER = programFile(new URL("./support/audited-writer.ts", import.meta.url));

let folder: string;
let path: string;
let witness: string;
const ids = countedIds();
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "keryx-witness-"));
	path = join(folder, "keryx.db");
	witness = join(folder, "audit.witness");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function open(changes: { readonly auditKey?: Uint8Array; readonly access?: "read" } = {}): Promise<Store> {
	const settings = {
		url: `sqlite:${path}`,
		clock: createWallClock(),
		ids,
		secrets: NO_SECRETS,
		auditKey: KEY,
	};
	return openStore({ ...settings, auditWitness: witness, ...changes });
}

async function using<Result>(use: (store: Store) => Promise<Result>, changes = {}): Promise<Result> {
	const store = await open(changes);
	try {
		return await use(store);
	} finally {
		await store.close();
	}
}

let drawn = 0;
/** So many entries more. */
async function note(store: Store, entries: number): Promise<void> {
	for (let n = 0; n < entries; n++)
		await store.createToken({
			name: `t${drawn++}`,
			digest: String(drawn),
			role: "reader",
			by: "operator",
			via: "cli",
		});
}

/** As somebody with sqlite3 does it. */
function byHand(...sql: readonly string[]): void {
	const raw = new Database(path);
	raw.pragma("foreign_keys = OFF");
	const triggers = raw
		.prepare(
			"SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name IN ('audit', 'audit_head', 'settings')",
		)
		.all() as { name: string; sql: string }[];
	for (const { name } of triggers) raw.exec(`DROP TRIGGER ${name}`);
	for (const statement of sql) raw.exec(statement);
	for (const trigger of triggers) raw.exec(trigger.sql);
	raw.close();
}

const seen = () => JSON.parse(readFileSync(witness, "utf8")) as { count: number; last: string; mac: string };
const verdict = (store: Store) => store.verifyAudit({ scope: OPERATOR });
const standing = (store: Store) => store.auditStanding({ scope: OPERATOR });

describe("the witness", () => {
	test("is there from the first start, for the user alone, and follows each commit", async () => {
		const store = await open();
		expect([seen().count, statSync(witness).mode & 0o777]).toEqual([0, 0o600]);
		await note(store, 3);
		const { head } = await verdict(store);
		await expect.poll(seen).toMatchObject({ count: 3, last: head });
		await note(store, 1);
		await store.close();
		expect(seen().count).toBe(4);
		expect(await using(verdict)).toMatchObject({ count: 4, bad: null });
	});

	test("is written a few times in a storm, not once an entry", async () => {
		const database = new MemoryDatabase(KEY);
		const engine = database.own();
		const clock = createVirtualClock(0);
		const store = storeOn(engine, { clock, ids, secrets: NO_SECRETS });
		const keeper = new WitnessKeeper({ path: witness, key: KEY, connection: database.connection, clock });
		engine.onCommit(() => keeper.committed(false));
		const written = new Set<string>();
		for (let n = 0; n < 400; n++) {
			await note(store, 1);
			await clock.advance(5);
			written.add(readFileSync(witness, "utf8"));
		}
		keeper.close();
		// Five in each of two seconds, and the one at the start.
		expect(written.size).toBe(11);
		expect(seen().count).toBe(400);
		database.close();
	});

	test("that is behind is caught up with: a crash comes between a commit and it", async () => {
		await using((store) => note(store, 2));
		const before = readFileSync(witness);
		await using((store) => note(store, 2));
		writeFileSync(witness, before);
		expect(await using(verdict, { access: "read" })).toMatchObject({ count: 4, bad: null });
		expect(seen().count).toBe(2);
		expect(await using(verdict)).toMatchObject({ count: 4, bad: null });
		expect(seen().count).toBe(4);
	});

	test("of an audit from before there were witnesses is made at the first start", async () => {
		const settings = {
			url: `sqlite:${path}`,
			clock: createWallClock(),
			ids,
			secrets: NO_SECRETS,
			auditKey: KEY,
		};
		const old = await openStore(settings);
		await note(old, 3);
		await old.close();
		expect(existsSync(witness)).toBe(false);
		expect(await using(verdict, { access: "read" })).toMatchObject({ bad: null });
		expect(await using(verdict)).toMatchObject({ count: 3, bad: null });
		expect(seen().count).toBe(3);
	});

	test("that cannot be written keeps nobody from deciding, and is written when it can be", async () => {
		const store = await open();
		rmSync(witness);
		// A folder in its place cannot be renamed over.
		mkdirSync(join(witness, "in the way"), { recursive: true });
		await note(store, 2);
		expect((await verdict(store)).count).toBe(2);
		rmSync(witness, { recursive: true });
		await note(store, 1);
		await store.close();
		expect(seen().count).toBe(3);
	});
});

test("I1: a kill at any moment leaves a store that its witness agrees with", async () => {
	let acknowledged = 0;
	for (const lives of [1, 40, 130]) {
		acknowledged += await killedAfter(lives);
		const { count, bad } = await using(verdict, { access: "read" });
		expect(bad).toBeNull();
		expect(count).toBeGreaterThanOrEqual(acknowledged);
		acknowledged = count;
	}
	expect(await using(standing)).toEqual({ count: acknowledged, problem: null });
	expect(seen().count).toBe(acknowledged);
});

/** Runs a writer until it has acknowledged so many entries, and answers how many those were in the end. */
function killedAfter(entries: number): Promise<number> {
	const child = spawn(process.execPath, [
		"--disable-warning=ExperimentalWarning",
		...[WRITER, path, witness, `w${entries}`],
	]);
	let said = 0;
	return new Promise((resolve, reject) => {
		child.stdout.on("data", (data: Buffer) => {
			said += data.length;
			if (said >= entries) child.kill("SIGKILL");
		});
		child.on("error", reject);
		child.on("close", () => resolve(said));
	});
}

const WAYS: readonly (readonly [name: string, alter: () => void | Promise<void>, seenAtStart: boolean])[] = [
	["every entry is deleted", () => byHand("DELETE FROM audit"), true],
	["every entry and the head are deleted", () => byHand("DELETE FROM audit", "DELETE FROM audit_head"), true],
	[
		"everything that was audited is deleted with it",
		() =>
			byHand(
				...["audit", "audit_head", "tokens", "grants", "confirmations"].map((name) => `DELETE FROM ${name}`),
			),
		true,
	],
	["the tail is cut", () => byHand("DELETE FROM audit WHERE n > 5"), true],
	[
		"the tail is cut, and the head put back to how it was then",
		() =>
			byHand(
				"DELETE FROM audit WHERE n > 5",
				"UPDATE audit_head SET count = 5, last = (SELECT last FROM kept), mac = (SELECT mac FROM kept)",
			),
		true,
	],
	["the head is deleted", () => byHand("DELETE FROM audit_head"), true],
	["the head counts less", () => byHand("UPDATE audit_head SET count = 7"), true],
	["the first entry is deleted", () => byHand("DELETE FROM audit WHERE n = 1"), false],
	["one in the middle is deleted", () => byHand("DELETE FROM audit WHERE n = 4"), false],
	[
		"one in the middle is deleted, and the others move up",
		() => byHand("DELETE FROM audit WHERE n = 4", "UPDATE audit SET n = n - 1 WHERE n > 4"),
		true,
	],
	[
		"two entries change places",
		() =>
			byHand(
				"UPDATE audit SET n = 100 WHERE n = 3",
				"UPDATE audit SET n = 3 WHERE n = 4",
				"UPDATE audit SET n = 4 WHERE n = 100",
			),
		false,
	],
	["who did it is changed", () => byHand("UPDATE audit SET who = 'token:eve' WHERE n = 2"), false],
	["what was done is changed", () => byHand("UPDATE audit SET body = '{}' WHERE n = 2"), false],
	["a body is said to be sealed", () => byHand("UPDATE audit SET body_key = 1 WHERE n = 2"), false],
	["when it was done is changed", () => byHand("UPDATE audit SET at = at + 1 WHERE n = 2"), false],
	[
		"an entry is added",
		() =>
			byHand(
				"INSERT INTO audit SELECT n + 1, at, kind, confirmation, who, via, body, body_key, mac FROM audit WHERE n = 8",
			),
		false,
	],
	["the store is replaced by an older copy", () => copyFileSync(`${path}.older`, path), true],
	["the store is deleted, and another made", () => rmSync(path), true],
	[
		"the store is replaced by one of another home, with as many entries",
		async () => {
			rmSync(path);
			const other = await openStore({
				url: `sqlite:${path}`,
				clock: createWallClock(),
				secrets: NO_SECRETS,
				ids,
				auditKey: new Uint8Array(32).fill(4),
			});
			await note(other, 8);
			await other.close();
		},
		true,
	],
	["the witness is deleted", () => rmSync(witness), true],
	["the witness is emptied", () => writeFileSync(witness, ""), true],
	[
		"the tail is cut, and the witness counts as little",
		() => {
			byHand(
				"DELETE FROM audit WHERE n > 5",
				"UPDATE audit_head SET count = 5, last = (SELECT last FROM kept), mac = (SELECT mac FROM kept)",
			);
			writeFileSync(witness, JSON.stringify({ ...seen(), count: 5 }));
		},
		true,
	],
	[
		"everything is deleted, and the witness",
		() => {
			byHand("DELETE FROM audit", "DELETE FROM audit_head", "DELETE FROM settings WHERE name <> 'epoch'");
			rmSync(witness);
		},
		true,
	],
	[
		"everything is deleted with all that was audited, every mark of it and the witness",
		() => {
			const tables = ["audit", "audit_head", "tokens", "grants", "confirmations", "events"];
			byHand(...tables.map((name) => `DELETE FROM ${name}`), "DELETE FROM settings WHERE name <> 'epoch'");
			rmSync(witness);
		},
		true,
	],
	[
		"the same, with the marks left alone",
		() => {
			byHand(...["audit", "audit_head", "tokens"].map((name) => `DELETE FROM ${name}`));
			rmSync(witness);
		},
		true,
	],
	["the mark of an audit is deleted", () => byHand("DELETE FROM settings WHERE name = 'audit'"), true],
];

describe("an audit that is altered by hand does not verify", () => {
	beforeEach(async () => {
		await using((store) => note(store, 5));
		copyFileSync(path, `${path}.older`);
		byHand("CREATE TABLE kept AS SELECT * FROM audit_head");
		await using((store) => note(store, 3));
	});

	test("and one that is not does", async () => {
		expect(await using(verdict)).toMatchObject({ count: 8, bad: null });
		expect(await using(standing)).toEqual({ count: 8, problem: null });
	});

	test.each([
		"DELETE FROM audit_head",
		"UPDATE audit_head SET count = 5",
		"DELETE FROM settings WHERE name = 'audit'",
		"DELETE FROM settings WHERE name = 'audit_witness'",
		"UPDATE settings SET value = 'none' WHERE name = 'audit'",
		"UPDATE settings SET name = 'other' WHERE name = 'audit_witness'",
	])("the database itself refuses: %s", (statement) => {
		const raw = new Database(path);
		try {
			expect(() => raw.exec(statement)).toThrow(/the audit/);
		} finally {
			raw.close();
		}
	});

	test("codes of entries whose body is in the clear are what they always were", async () => {
		const [first] = await using((store) => store.auditLog({ scope: OPERATOR, limit: 1 }));
		const raw = new Database(path, { readonly: true });
		const body = raw.prepare("SELECT body FROM audit WHERE n = 1").pluck().get();
		raw.close();
		const list = ["entry", 1, first?.at, first?.kind, null, first?.who, first?.via, body, ""];
		expect(first?.mac).toBe(createHmac("sha256", KEY).update(JSON.stringify(list)).digest("hex"));
	});

	test.each(WAYS)("%s", async (_name, alter, seenAtStart) => {
		await alter();
		const { bad } = await using(verdict, existsSync(path) ? { access: "read" } : {});
		expect(bad).toMatchObject({ n: expect.any(Number), problem: expect.any(String) });
		const store = await open();
		try {
			expect((await verdict(store)).bad).not.toBeNull();
			expect((await standing(store)).problem !== null).toBe(seenAtStart);
		} finally {
			await store.close();
		}
		// A start has mended nothing.
		expect((await using(verdict)).bad).not.toBeNull();
	});

	test("nor after as much was added, where nothing but the mark of a beginning is left", async () => {
		byHand(
			...["audit", "audit_head", "tokens", "events"].map((name) => `DELETE FROM ${name}`),
			"DELETE FROM settings WHERE name = 'audit_witness'",
		);
		rmSync(witness);
		await using((store) => note(store, 20));
		expect((await using(verdict)).bad?.problem).toContain("started again");
		await using((store) => store.acceptAudit({ by: "operator", via: "cli" }));
		expect(await using(verdict)).toMatchObject({ count: 21, bad: null });
	});

	test.each(WAYS.filter(([name]) => /older copy|another made|put back/.test(name)))(
		"nor after as much was added: %s",
		async (_name, alter) => {
			await alter();
			const before = existsSync(witness) ? readFileSync(witness, "utf8") : null;
			await using((store) => note(store, 20));
			expect((await using(verdict)).bad).not.toBeNull();
			expect(readFileSync(witness, "utf8")).toBe(before);
		},
	);

	test("after a restore the operator accepts what there is: the audit says so, and is witnessed anew", async () => {
		copyFileSync(`${path}.older`, path);
		await using(async (store) => {
			const { problem } = await standing(store);
			expect(problem).toContain("saw 8");
			await store.acceptAudit({ by: "operator", via: "cli" });
			expect((await verdict(store)).bad).toBeNull();
			const entries = await store.auditLog({ scope: OPERATOR, limit: 10, newest: true });
			expect(entries.at(-1)).toMatchObject({
				n: 6,
				kind: "audit_accepted",
				who: "operator",
				facts: { entries: 5, problem },
			});
			await note(store, 1);
		});
		expect(seen().count).toBe(7);
		expect(await using(verdict)).toMatchObject({ count: 7, bad: null });
	});

	test("where all is well there is nothing to accept", async () => {
		await expect(using((store) => store.acceptAudit({ by: "operator", via: "cli" }))).rejects.toMatchObject({
			code: "audit.sound",
		});
	});
});
