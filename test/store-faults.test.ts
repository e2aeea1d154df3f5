// Each fault of the disk and the file is a KeryxError with a remedy; the store is consistent afterwards, and works again when
// the cause is gone.

import { spawnSync } from "node:child_process";
import { once } from "node:events";
import {
	chmodSync,
	closeSync,
	copyFileSync,
	existsSync,
	mkdirSync,
	openSync,
	readFileSync,
	rmdirSync,
	rmSync,
	statSync,
	writeFileSync,
	writeSync,
} from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { resolvePolicy } from "../src/config/index.ts";
import type { ConversationId } from "../src/domain/index.ts";
import type { ErrorCode, KeryxError } from "../src/errors.ts";
import type { Scope } from "../src/store/index.ts";
import { hello, lines, open, output, refusal, Workbench } from "./crash/support.ts";

const OPERATOR: Scope = { kind: "operator" };
const POLICY = resolvePolicy({ mode: "none" }, { platform: "telegram", chatType: "dm" });
const bench = new Workbench();
afterAll(() => bench.end());

const template = bench.file("template.db");
beforeAll(() => works(template));

/** A folder of its own with a store in it that has one message, closed. */
function madeStore(name: string): string {
	const path = bench.file(`${name}/store.db`);
	mkdirSync(dirname(path));
	copyFileSync(template, path);
	return path;
}

/** Opens as owner, writes, reads. */
async function works(path: string): Promise<void> {
	const store = await open(path);
	expect(await store.accept(hello(`${store.epoch}`))).toMatchObject({ duplicate: false });
	expect(await store.checkIntegrity({ scope: { kind: "operator" } })).toEqual({ problems: [] });
	await store.close();
}

function expectRemedy(error: unknown, code: ErrorCode): void {
	expect(error).toMatchObject({ code });
	expect((error as KeryxError).hint).not.toBe("");
	expect((error as KeryxError).message).not.toBe("");
}

/** A mount of its own that is gone with its last program, where that is permitted. */
const OWN_MOUNTS = [
	["unshare", "-m"],
	["unshare", "-Urm"],
].find((wrapper) => spawnSync(wrapper[0] as string, [...wrapper.slice(1), "true"]).status === 0);

/** Root may do everything; without these two rights it is bound by permissions as its users are. */
const BOUND = process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] : [];

async function openedApart(
	path: string,
	wrapper: readonly string[] = BOUND,
	access = "own",
): Promise<unknown> {
	return JSON.parse(await output(bench.start("./open-child.ts", [path, access], wrapper)));
}

const disk = OWN_MOUNTS ? "a disk" : "a limit on files (no mounts here)";
test(`${disk} that is full in the middle of a group loses nothing acknowledged and keeps no half of the rest`, async () => {
	const folder = bench.file("full");
	mkdirSync(folder);
	// The shell would say "Killed" on its own stderr; the program's goes through.
	const both = '{ "$@" fill 2>&3; } 3>&2 2>/dev/null; "$@" free';
	const script = OWN_MOUNTS
		? [...OWN_MOUNTS, "sh", "-c", `mount -t tmpfs -o size=6m keryx "$0" && { ${both}; }`, folder]
		: ["sh", "-c", both, "sh"];
	const args = [folder, bench.file("full-notes"), OWN_MOUNTS ? "tmpfs" : "limit"];
	const report = JSON.parse(await output(bench.start("./full-child.ts", args, script))) as FullReport;
	expect(new Set(report.codes)).toEqual(new Set([OWN_MOUNTS ? "store.full" : "store.io"]));
	for (const hint of report.hints) expect(hint).toMatch(/^nothing was written; .+ then try again$/);
	expect(report.opening).toBe("store.full");
	expect(report.problems).toEqual([]);
	expect(report.retried).toBeGreaterThan(0);
	expect(Object.keys(report.acknowledged).length).toBeGreaterThan(report.retried);
});

interface FullReport {
	readonly acknowledged: Readonly<Record<string, number>>;
	readonly codes: readonly string[];
	readonly hints: readonly string[];
	/** With what a new store was refused while not a byte was left. */
	readonly opening: string;
	readonly problems: readonly string[];
	readonly retried: number;
}

test("one bad operation of a group is refused alone, whether it has written something or not", async () => {
	const store = await open(bench.file("group.db"));
	const { id, conversation } = (await store.accept(hello("1"))) as {
		id: number;
		conversation: ConversationId;
	};
	const opening = { conversation, policy: POLICY, context: "" };
	const more = { inbox: [id], autoContinueFreshness: 3600, deadlineAt: Date.now() + 600_000 };
	const begun = await store.beginTurn({ ...opening, ...more });
	if (begun.kind !== "begun") throw new Error(begun.kind);
	const results = await Promise.allSettled([
		store.accept(hello("2")),
		store.accept({ ...hello("3"), source: { platform: "telegram", chat_type: "nowhere" } }),
		store.setTitle({ session: begun.session, title: "kept", source: "user" }),
		// Stops the turn, and only then finds that there is nothing to continue.
		store.continueSession(opening),
		store.accept(hello("4")),
	]);
	const refused = results.map((result) =>
		result.status === "rejected" ? (result.reason as KeryxError).code : null,
	);
	expect(refused).toEqual([null, "source.invalid", null, "session.none", null]);
	expect(await store.openTurnOf({ scope: OPERATOR, conversation })).toMatchObject({ state: "running" });
	expect(await store.waitingItems({ scope: OPERATOR, after: 0, conversation, limit: 10 })).toHaveLength(2);
	expect(await store.session({ scope: OPERATOR, id: begun.session })).toMatchObject({ title: "kept" });
	expect(await store.checkIntegrity({ scope: { kind: "operator" } })).toEqual({ problems: [] });
	await store.close();
});

test("what arrives while a group runs is acknowledged or refused as if it were alone", async () => {
	const store = await open(bench.file("arriving.db"));
	const { id, conversation } = (await store.accept(hello("first"))) as {
		id: number;
		conversation: ConversationId;
	};
	const opening = { conversation, policy: POLICY, context: "" };
	const more = { inbox: [id], autoContinueFreshness: 3600, deadlineAt: Date.now() + 600_000 };
	expect(await store.beginTurn({ ...opening, ...more })).toMatchObject({ kind: "begun" });
	const accepted: number[] = [];
	const refused: string[] = [];
	const each: Promise<unknown>[] = [];
	for (let n = 0; n < 1000; n++) {
		each.push(store.accept(hello(`m${n}`)).then(({ id }) => accepted.push(id)));
		// Stops the turn, and only then finds that there is nothing to continue.
		if (n % 50 === 0)
			each.push(store.continueSession(opening).catch((error: KeryxError) => refused.push(error.code)));
		// Three at a time cross to the writer, which is still busy with the first.
		if (n % 3 === 0) await new Promise(setImmediate);
	}
	await Promise.all(each);
	expect(refused).toEqual(Array(20).fill("session.none"));
	expect(accepted).toEqual(accepted.toSorted((a, b) => a - b));
	const waiting = await store.waitingItems({ scope: OPERATOR, after: 0, conversation, limit: 2000 });
	expect(waiting.map((item) => item.id)).toEqual(accepted);
	expect(await store.openTurnOf({ scope: OPERATOR, conversation })).toMatchObject({ state: "running" });
	expect(await store.checkIntegrity({ scope: { kind: "operator" } })).toEqual({ problems: [] });
	await store.close();
});

test("a commit is told before the first of many writes that share it is answered", async () => {
	const store = await open(bench.file("told.db"));
	let commits = 0;
	store.onCommit(() => {
		commits++;
	});
	const told = Array.from({ length: 100 }, async (_, n) => {
		await store.accept(hello(`m${n}`));
		return commits;
	});
	expect(Math.min(...(await Promise.all(told)))).toBeGreaterThan(0);
	await store.close();
});

test.each([
	["folder", "0555", "store.readonly"],
	["file", "0444", "store.readonly"],
	["folder", "0000", "store.unreachable"],
	["file", "0000", "store.unreachable"],
] as const)(
	"a %s of mode %s is an error with a remedy until it can be written again",
	async (what, mode, code) => {
		const path = madeStore(`mode-${what}-${mode}`);
		const changed = what === "folder" ? dirname(path) : path;
		const before = statSync(changed).mode;
		chmodSync(changed, Number.parseInt(mode, 8));
		const error = await openedApart(path);
		chmodSync(changed, before);
		expectRemedy(error, code);
		expect(error).toMatchObject({ message: expect.stringContaining(path) });
		expect(await openedApart(path)).toMatchObject({ epoch: 2, conversations: 1 });
	},
);

test(`a disk that ${OWN_MOUNTS ? "is mounted read-only" : "cannot be written (no mounts here)"} is an error with a remedy`, async () => {
	const path = madeStore("read-only");
	const folder = dirname(path);
	const remount = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"';
	if (!OWN_MOUNTS) chmodSync(folder, 0o555);
	const error = await openedApart(path, OWN_MOUNTS ? [...OWN_MOUNTS, "sh", "-c", remount, folder] : BOUND);
	chmodSync(folder, 0o755);
	expectRemedy(error, "store.readonly");
	await works(path);
});

test("another program's lock fails writes and openings, not reads, until it is gone", async () => {
	const [used, closed] = [madeStore("locked-used"), madeStore("locked-closed")];
	const store = await open(used);
	const lockers = [used, closed].map((path) => bench.start("./lock-child.ts", [path]));
	for (const locker of lockers) expect(await lines(locker).next()).toMatchObject({ value: "locked" });
	const [writing, opening, reading] = await Promise.all([
		refusal(store.accept(hello("locked out"))),
		refusal(open(closed)),
		store.conversations({ scope: OPERATOR, limit: 10 }),
	]);
	expectRemedy(writing, "store.locked");
	expectRemedy(opening, "store.locked");
	expect(reading).toHaveLength(1);
	for (const locker of lockers) locker.stdin.end();
	await Promise.all(lockers.map((locker) => once(locker, "close")));
	expect(await store.accept(hello("locked out"))).toMatchObject({ duplicate: false });
	await store.close();
	await works(closed);
});

test("a damaged table is an error to whoever reads it, never an empty answer", async () => {
	const path = madeStore("damaged-table");
	const whole = `${path}.copy`;
	copyFileSync(path, whole);
	const pages = rootPages(path);
	overwrite(path, [pages("inbox")]);
	const store = await open(path);
	expectRemedy(await refusal(store.inboxItem({ scope: OPERATOR, id: 1 })), "store.corrupt");
	expectRemedy(await refusal(store.accept(hello("2"))), "store.corrupt");
	expect(await store.conversations({ scope: OPERATOR, limit: 10 })).toHaveLength(1);
	await store.close();
	copyFileSync(whole, path);
	await works(path);
});

test.each([
	["every page but the first is overwritten", (path: string) => overwrite(path, pagesOf(path).slice(1))],
	["the first page is overwritten", (path: string) => overwrite(path, [1])],
	["half of it is cut off", (path: string) => cut(path)],
	[
		"it is a text",
		(path: string) => writeFileSync(path, "Dear diary, today I was no database.\n".repeat(99)),
	],
])("a store is refused as damaged when %s, and opens when it is restored", async (what, damage) => {
	const path = madeStore(`damaged ${what}`);
	const whole = `${path}.copy`;
	copyFileSync(path, whole);
	damage(path);
	expectRemedy(await refusal(open(path)), "store.corrupt");
	expectRemedy(await refusal(open(path, "read")), "store.corrupt");
	copyFileSync(whole, path);
	await works(path);
});

test("a database of something else is refused and left as it is", async () => {
	const path = bench.file("foreign.db");
	const db = new Database(path);
	db.exec("CREATE TABLE bookmarks (url TEXT)");
	db.close();
	const before = readFileSync(path);
	expectRemedy(await refusal(open(path)), "store.corrupt");
	expect(readFileSync(path).equals(before)).toBe(true);
});

test("a missing folder is an error, and is not made: a disk may be missing there", async () => {
	const path = bench.file("nowhere/store.db");
	expectRemedy(await refusal(open(path)), "store.unreachable");
	expectRemedy(await refusal(open(path, "read")), "store.unreachable");
	expect(existsSync(dirname(path))).toBe(false);
	mkdirSync(dirname(path));
	await works(path);
});

test("a folder in the file's place, or a file in the folder's, is an error until it is gone", async () => {
	const path = bench.file("crossed.db");
	mkdirSync(path);
	expectRemedy(await refusal(open(path)), "store.unreachable");
	expectRemedy(await refusal(open(path, "read")), "store.unreachable");
	expectRemedy(await refusal(open(bench.file("crossed.db.owner/store.db"))), "store.unreachable");
	rmdirSync(path);
	await works(path);
});

test("a store of a newer Keryx is refused and left as it is", async () => {
	const path = madeStore("newer");
	const db = new Database(path);
	const version = db.pragma("user_version", { simple: true }) as number;
	db.pragma("user_version = 99");
	expectRemedy(await refusal(open(path)), "store.newer");
	expectRemedy(await refusal(open(path, "read")), "store.newer");
	expect(db.pragma("user_version", { simple: true })).toBe(99);
	db.pragma(`user_version = ${version}`);
	db.close();
	await works(path);
});

test("a file without a store in it yet cannot be read, and says what to do", async () => {
	const path = bench.file("empty.db");
	writeFileSync(path, "");
	expectRemedy(await refusal(open(path, "read")), "store.older");
	await works(path);
});

test("a damaged file of the owner's lock says that it may be deleted", async () => {
	const path = madeStore("lock");
	writeFileSync(`${path}.owner`, "x".repeat(5000));
	const error = await refusal(open(path));
	expectRemedy(error, "store.corrupt");
	expect(error.hint).toContain("delete that file");
	rmSync(`${path}.owner`);
	await works(path);
});

test("a closed store says so, to writers and to readers", async () => {
	const store = await open(bench.file("closed.db"));
	await store.close();
	expectRemedy(await refusal(store.accept(hello("1"))), "store.closed");
	expectRemedy(await refusal(store.conversations({ scope: OPERATOR, limit: 1 })), "store.closed");
});

test("a store that is closing says so, also to small reads, which the writer answers", async () => {
	const store = await open(bench.file("closing.db"));
	const before = store.homeChannels({ scope: OPERATOR });
	const closing = store.close();
	const after = await Promise.all([
		refusal(store.homeChannels({ scope: OPERATOR })),
		refusal(store.conversations({ scope: OPERATOR, limit: 1 })),
		refusal(store.accept(hello("1"))),
	]);
	for (const error of after) expectRemedy(error, "store.closed");
	expect(await before).toEqual([]);
	await closing;
});

test("listeners hear of a commit that the close of the store follows at once", async () => {
	const store = await open(bench.file("heard.db"));
	let heard = 0;
	store.onCommit(() => heard++);
	const [accepted] = await Promise.all([store.accept(hello("1")), store.close()]);
	expect(accepted).toMatchObject({ duplicate: false });
	expect(heard).toBe(1);
});

test("closed twice at once, it ends once, and what came before is acknowledged", async () => {
	const store = await open(bench.file("closed-twice.db"));
	const writes = [store.accept(hello("1")), store.accept(hello("2"))];
	await Promise.all([...writes, store.close(), store.close()]);
	expect(await Promise.all(writes)).toMatchObject([{ duplicate: false }, { duplicate: false }]);
});

test("closed again while it is closing, it ends once", async () => {
	for (let n = 0; n < 10; n++) {
		const store = await open(bench.file(`closing-${n}.db`));
		const closing = [store.close()];
		await new Promise(setImmediate);
		closing.push(store.close());
		await new Promise(setImmediate);
		await Promise.all([...closing, store.close()]);
	}
});

test("a value that is nested too deeply is refused alone", async () => {
	const store = await open(bench.file("deep.db"));
	const deep = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));
	const with_ = (id: string, levels: number) => ({ ...hello(id), content: deep(levels) as string });
	const results = await Promise.allSettled([
		store.accept(hello("1")),
		store.accept(with_("deep", 2000)),
		store.accept(with_("deeper", 100_000)),
		store.accept(hello("2")),
	]);
	expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
	for (const result of results)
		if (result.status === "rejected") expectRemedy(result.reason, "argument.invalid");
	await store.close();
});

test("arguments that are no plain data are refused alone", async () => {
	const store = await open(bench.file("plain.db"));
	const odd = { ...hello("odd"), content: (() => "hello") as unknown as string };
	const [first, refused, last] = await Promise.allSettled([
		store.accept(hello("1")),
		store.accept(odd),
		store.accept(hello("2")),
	]);
	expect([first?.status, last?.status]).toEqual(["fulfilled", "fulfilled"]);
	expectRemedy(refused?.status === "rejected" && refused.reason, "argument.invalid");
	await store.close();
});

test("a damaged row is refused to its own operation alone", async () => {
	const path = bench.file("damaged-row.db");
	const store = await open(path);
	const { id, conversation } = (await store.accept(hello("1"))) as {
		id: number;
		conversation: ConversationId;
	};
	const db = new Database(path);
	db.prepare("UPDATE inbox SET body = '{' WHERE id = ?").run(id);
	db.close();
	const begin = { conversation, policy: POLICY, context: "", inbox: [id], autoContinueFreshness: 3600 };
	const [begun, accepted] = await Promise.allSettled([
		store.beginTurn({ ...begin, deadlineAt: Date.now() + 600_000 }),
		store.accept(hello("2")),
	]);
	expectRemedy(begun?.status === "rejected" && begun.reason, "store.corrupt");
	expect(accepted?.status).toBe("fulfilled");
	await store.close();
});

test("the store's files can be read by their owner only", async () => {
	const path = madeStore("private");
	const store = await open(path);
	await store.accept(hello("mode"));
	for (const suffix of ["", "-wal", "-shm", ".owner", ".owner.txt"])
		expect(statSync(path + suffix).mode & 0o777, suffix).toBe(0o600);
	await store.close();
});

function rootPages(path: string): (table: string) => number {
	const db = new Database(path, { readonly: true });
	const rows = db.prepare("SELECT name, rootpage FROM sqlite_schema").all() as {
		name: string;
		rootpage: number;
	}[];
	db.close();
	return (table) => rows.find(({ name }) => name === table)?.rootpage ?? Number.NaN;
}

const PAGE = 4096;

function pagesOf(path: string): number[] {
	return Array.from({ length: statSync(path).size / PAGE }, (_, index) => index + 1);
}

function overwrite(path: string, pages: readonly number[]): void {
	const file = openSync(path, "r+");
	for (const page of pages) writeSync(file, Buffer.alloc(PAGE, 0xa5), 0, PAGE, (page - 1) * PAGE);
	closeSync(file);
}

function cut(path: string): void {
	writeFileSync(path, readFileSync(path).subarray(0, Math.floor(statSync(path).size / PAGE / 2) * PAGE));
}
