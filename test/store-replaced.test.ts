// A file of the store that is deleted, moved or replaced while its owner has it open: nothing is acknowledged any more, the owner says
// which file it is, and goes on when the file is back.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
	copyFileSync,
	existsSync,
	mkdirSync,
	renameSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { KeryxError } from "../src/errors.ts";
import { NO_SECRETS, openStore, type Store, systemClock, systemIds } from "../src/store/index.ts";
import { hello, lines, open, output, refusal, Workbench } from "./crash/support.ts";

const OPERATOR = { kind: "operator" } as const;
const bench = new Workbench();
afterAll(() => bench.end());

/** A whole store with one message, to be put in another's place. */
const backup = bench.file("backup.db");
beforeAll(async () => {
	const store = await open(backup);
	await store.accept(hello("of the backup"));
	await store.close();
});

function placeFor(name: string): string {
	const path = bench.file(`${name.replaceAll(/\W+/g, "-")}/store.db`);
	mkdirSync(dirname(path));
	return path;
}

/** Another program does it: within this process, closing the file would drop the locks of its owner. */
function overwrite(path: string): void {
	execFileSync("cp", [backup, path]);
}

interface Fault {
	readonly what: string;
	readonly lose: (path: string) => void;
	readonly code: "store.replaced" | "store.owner_lost";
	readonly file: string;
	/** Puts things back as they were; null: that is not possible. */
	readonly putBack: ((path: string) => void) | null;
}

const FAULTS: readonly Fault[] = [
	{
		what: "keryx.db is deleted",
		lose: (path) => rmSync(path),
		code: "store.replaced",
		file: "store.db",
		putBack: null,
	},
	{
		what: "keryx.db is moved away",
		lose: (path) => renameSync(path, `${path}.away`),
		code: "store.replaced",
		file: "store.db",
		putBack: (path) => renameSync(`${path}.away`, path),
	},
	{
		what: "another store is moved over it",
		lose: (path) => {
			copyFileSync(backup, `${path}.other`);
			renameSync(path, `${path}.away`);
			renameSync(`${path}.other`, path);
		},
		code: "store.replaced",
		file: "store.db",
		putBack: (path) => renameSync(`${path}.away`, path),
	},
	{
		what: "a backup is copied into it",
		lose: overwrite,
		code: "store.replaced",
		file: "store.db",
		putBack: null,
	},
	{
		what: "its log is deleted",
		lose: (path) => rmSync(`${path}-wal`),
		code: "store.replaced",
		file: "store.db-wal",
		putBack: null,
	},
	{
		what: "its log is emptied",
		lose: (path) => execFileSync("cp", ["/dev/null", `${path}-wal`]),
		code: "store.replaced",
		file: "store.db-wal",
		putBack: null,
	},
	{
		what: "its log is moved away",
		lose: (path) => renameSync(`${path}-wal`, `${path}-wal.away`),
		code: "store.replaced",
		file: "store.db-wal",
		putBack: (path) => renameSync(`${path}-wal.away`, `${path}-wal`),
	},
	{
		what: "its shared memory is deleted",
		lose: (path) => rmSync(`${path}-shm`),
		code: "store.replaced",
		file: "store.db-shm",
		putBack: null,
	},
	{
		what: "the owner's lock is deleted",
		lose: (path) => rmSync(`${path}.owner`),
		code: "store.owner_lost",
		file: "store.db.owner",
		putBack: null,
	},
	{
		what: "the owner's lock is moved away",
		lose: (path) => renameSync(`${path}.owner`, `${path}.owner.away`),
		code: "store.owner_lost",
		file: "store.db.owner",
		putBack: (path) => renameSync(`${path}.owner.away`, `${path}.owner`),
	},
	{
		what: "its folder is renamed",
		lose: (path) => renameSync(dirname(path), `${dirname(path)}.away`),
		code: "store.replaced",
		file: "store.db",
		putBack: (path) => renameSync(`${dirname(path)}.away`, dirname(path)),
	},
];

describe("after a fault", () => {
	test.each(FAULTS)("no write is acknowledged when $what", async ({ what, lose, code, file }) => {
		const path = placeFor(`refuse ${what}`);
		const store = await open(path);
		const { id } = await store.accept(hello("1"));
		await store.inboxItem({ scope: OPERATOR, id });
		lose(path);
		for (let n = 0; n < 3; n++) {
			const error = await refusal(store.accept(hello(`lost ${n}`)));
			expect(error.code).toBe(code);
			expect(error.message).toContain(file);
			expect(error.hint).not.toBe("");
		}
		// What it has open can still be read, so that it can be saved.
		expect(await store.inboxItem({ scope: OPERATOR, id })).toMatchObject({ platformMessage: "1" });
		expect((await refusal(store.accept(hello("lost 4")))).code).toBe(code);
		await store.close();
	});

	const mendable = FAULTS.filter(({ putBack }) => putBack !== null);
	test.each(mendable)(
		"the owner goes on when what was lost is put back: $what",
		async ({ what, lose, putBack }) => {
			const path = placeFor(`back ${what}`);
			const store = await open(path);
			await store.accept(hello("1"));
			lose(path);
			await refusal(store.accept(hello("2")));
			putBack?.(path);
			expect(await store.accept(hello("3"))).toMatchObject({ duplicate: false });
			// What was refused was not written.
			expect(await store.accept(hello("2"))).toMatchObject({ duplicate: false });
			await store.close();
			const again = await open(path);
			expect(await again.accept(hello("3"))).toMatchObject({ duplicate: true });
			expect(await again.checkIntegrity({ scope: OPERATOR })).toEqual({ problems: [] });
			await again.close();
		},
	);

	test("what was begun before and is committed afterwards is not acknowledged either", async () => {
		const path = placeFor("meanwhile");
		const store = await open(path);
		await store.accept(hello("1"));
		const locker = bench.start("./lock-child.ts", [path]);
		expect(await lines(locker).next()).toMatchObject({ value: "locked" });
		const writing = refusal(store.accept(hello("2")));
		// By then the writer waits for the lock; where it does not, it is refused before it has begun.
		for (let n = 0; n < 5; n++) await store.conversations({ scope: OPERATOR, limit: 1 });
		renameSync(path, `${path}.away`);
		locker.stdin.end();
		const error = await writing;
		expect(error.code).toBe("store.replaced");
		expect(error.hint).toMatch(/^(it may have been written, and may be lost|nothing was written); /);
		await store.close();
	});

	test("the path is the one that was given: a link that leads elsewhere is another store", async () => {
		const [first, second] = [placeFor("link first"), placeFor("link second")];
		const link = bench.file("current");
		symlinkSync(dirname(first), link);
		const store = await open(`${link}/store.db`);
		await store.accept(hello("1"));
		rmSync(link);
		symlinkSync(dirname(second), link);
		expect((await refusal(store.accept(hello("2")))).code).toBe("store.replaced");
		copyFileSync(backup, second);
		expect((await refusal(store.accept(hello("2")))).code).toBe("store.replaced");
		await store.close();
	});

	test("a reader that starts later does not open the file that took the place", async () => {
		const path = placeFor("late reader");
		const store = await open(path);
		await store.accept(hello("1"));
		copyFileSync(backup, `${path}.other`);
		renameSync(`${path}.other`, path);
		const error = await refusal(store.conversations({ scope: OPERATOR, limit: 10 }));
		expect(error.code).toBe("store.replaced");
		await store.close();
	});

	test("what was acknowledged before its log was deleted survives a kill", async () => {
		const path = placeFor("saved log");
		const owner = bench.start("./lose-child.ts", [path]);
		const said = lines(owner);
		await said.next();
		for (let n = 0; n < 50; n++) await said.next();
		rmSync(`${path}-wal`);
		const { acknowledged } = await untilRefused(said);
		const store = await open(path);
		await Promise.all(acknowledged.map(({ id }) => store.inboxItem({ scope: OPERATOR, id })));
		expect(await store.checkIntegrity({ scope: OPERATOR })).toEqual({ problems: [] });
		await store.close();
	});
});

interface Acknowledged {
	readonly isLate: boolean;
	readonly id: number;
}

async function untilRefused(said: AsyncGenerator<string>) {
	const acknowledged: Acknowledged[] = [];
	for await (const line of said) {
		const one = JSON.parse(line) as Acknowledged | { refused: KeryxError };
		if ("refused" in one) return { acknowledged, refused: one.refused };
		acknowledged.push(one);
	}
	throw new Error("it ended without being refused");
}

describe("under load, in another process", () => {
	// What is moved is lost as what is deleted is.
	const heavy = FAULTS.filter(({ what }) => !/moved away|memory/.test(what));
	test.each(heavy)(
		"no write that begins afterwards is acknowledged when $what",
		async ({ what, lose, code }) => {
			const path = placeFor(`load ${what}`);
			const marker = bench.file(`${what.replaceAll(/\W+/g, "-")}.lost`);
			const owner = bench.start("./lose-child.ts", [path, marker]);
			const said = lines(owner);
			await said.next();
			for (let n = 0; n < 20; n++) await said.next();
			lose(path);
			writeFileSync(marker, "");
			const { acknowledged, refused } = await untilRefused(said);
			expect(refused).toMatchObject({ code });
			expect(acknowledged.filter(({ isLate }) => isLate)).toEqual([]);
		},
	);
});

describe("the next start", () => {
	/** Ended in order, or as after kill -9. */
	const ways = ["in order", "by a kill"] as const;

	async function endOf(
		path: string,
		way: (typeof ways)[number],
		lose: (path: string) => void,
	): Promise<void> {
		if (way === "in order") {
			const store = await open(path);
			await store.accept(hello("1"));
			lose(path);
			await refusal(store.accept(hello("2")));
			await store.close();
			return;
		}
		const owner = bench.start("./lose-child.ts", [path]);
		const said = lines(owner);
		for (let n = 0; n < 20; n++) await said.next();
		lose(path);
		await untilRefused(said);
		await once(owner, "close");
	}

	async function expectBackup(path: string): Promise<void> {
		const store = await open(path);
		expect(await store.checkIntegrity({ scope: OPERATOR })).toEqual({ problems: [] });
		expect(await store.accept(hello("of the backup"))).toMatchObject({ duplicate: true });
		expect(await store.accept(hello("1"))).toMatchObject({ duplicate: false });
		await store.close();
	}

	test.each(ways)("takes a store that was moved in as it is, when the owner ended %s", async (way) => {
		const path = placeFor(`moved in ${way}`);
		await endOf(path, way, (path) => {
			copyFileSync(backup, `${path}.other`);
			renameSync(`${path}.other`, path);
		});
		await expectBackup(path);
	});

	test.each(ways)(
		"finds all in a store that was moved away and back, when the owner ended %s",
		async (way) => {
			const path = placeFor(`and back ${way}`);
			await endOf(path, way, (path) => renameSync(path, `${path}.away`));
			renameSync(`${path}.away`, path);
			const store = await open(path);
			expect(await store.checkIntegrity({ scope: OPERATOR })).toEqual({ problems: [] });
			expect((await store.conversations({ scope: OPERATOR, limit: 10 })).length).toBe(1);
			await store.close();
		},
	);

	test.each(ways)("mixes no log with a backup that was copied in, when the owner ended %s", async (way) => {
		const path = placeFor(`copied in ${way}`);
		await endOf(path, way, overwrite);
		for (const access of ["own", "read"] as const) {
			const error = await refusal(open(path, access));
			expect(error.code).toBe("store.replaced");
			expect(error.hint).toContain("delete store.db-wal and store.db-shm");
		}
		rmSync(`${path}-wal`);
		rmSync(`${path}-shm`);
		await expectBackup(path);
		expect(existsSync(`${path}.overwritten`)).toBe(false);
	});

	test.each(ways)("finds all when nothing but the date was changed, and the owner ended %s", async (way) => {
		const path = placeFor(`touched ${way}`);
		await endOf(path, way, (path) => execFileSync("touch", [path]));
		expect((await refusal(open(path))).hint).toContain("delete store.db.overwritten");
		rmSync(`${path}.overwritten`);
		const store = await open(path);
		expect(await store.checkIntegrity({ scope: OPERATOR })).toEqual({ problems: [] });
		expect((await store.conversations({ scope: OPERATOR, limit: 10 })).length).toBe(1);
		await store.close();
	});
});

describe("without a fault", () => {
	test("the log is folded into the database again and again, and its own writes alarm nobody", async () => {
		const path = placeFor("folded");
		const told: unknown[] = [];
		const store = await watched(path, (problem) => told.push(problem));
		const text = "x".repeat(20_000);
		for (let n = 0; n < 40; n++)
			await Promise.all(Array.from({ length: 40 }, (_, m) => store.accept(hello(`${n} ${m}`, text))));
		await store.close();
		expect(told).toEqual([]);
	});

	test("another program may read, and may fold the log by SQLite's own means", async () => {
		const path = placeFor("another folds");
		const told: unknown[] = [];
		const store = await watched(path, (problem) => told.push(problem));
		for (const mode of ["PASSIVE", "FULL", "RESTART", "TRUNCATE"]) {
			await store.accept(hello(`before ${mode}`));
			expect(await output(bench.start("./fold-child.ts", [path, mode]))).toContain('"busy":0');
			expect(await store.accept(hello(`after ${mode}`))).toMatchObject({ duplicate: false });
		}
		// Another's commits begin the log anew, so that the counts say nothing.
		expect(await output(bench.start("./fold-child.ts", [path, "TRUNCATE", "commit"]))).toContain('"busy":0');
		expect(await store.accept(hello("after a commit"))).toMatchObject({ duplicate: false });
		await store.close();
		expect(told).toEqual([]);
		const again = await open(path);
		expect(await again.accept(hello("after TRUNCATE"))).toMatchObject({ duplicate: true });
		await again.close();
	});

	test("the log does not grow without end", async () => {
		const path = placeFor("bounded");
		const store = await open(path);
		// Twice as much as the log may have.
		const text = "x".repeat(400_000);
		for (let n = 0; n < 16; n++)
			await Promise.all(Array.from({ length: 20 }, (_, m) => store.accept(hello(`${n} ${m}`, text))));
		expect(statSync(`${path}-wal`).size).toBeLessThan(80_000_000);
		await store.close();
		expect(existsSync(`${path}-wal`)).toBe(false);
	});
});

describe("telling", () => {
	test("the owner is told by itself which file is lost, once, and once when it is back", async () => {
		const path = placeFor("told");
		let told: (KeryxError | null)[] = [];
		let heard = () => {};
		const store = await watched(path, (problem) => {
			told.push(problem);
			heard();
		});
		const next = () =>
			new Promise<void>((resolve) => {
				heard = resolve;
			});
		let waiting = next();
		renameSync(path, `${path}.away`);
		await waiting;
		expect(told).toMatchObject([{ code: "store.replaced", message: expect.stringContaining("store.db") }]);
		for (let n = 0; n < 3; n++) await refusal(store.accept(hello(`${n}`)));
		expect(told).toHaveLength(1);
		told = [];
		waiting = next();
		renameSync(`${path}.away`, path);
		await waiting;
		expect(told).toEqual([null]);
		await store.close();
	});
});

function watched(path: string, onTrouble: (problem: KeryxError | null) => void): Promise<Store> {
	const clock = systemClock;
	return openStore({ url: `sqlite:${path}`, clock, ids: systemIds(clock), secrets: NO_SECRETS, onTrouble });
}
