// Kill -9 at any moment (I1, I3-I7): a child writes as fast as it can and says what was acknowledged; it is killed, the store is
// looked at, and the next child goes on with the same store.
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { setImmediate } from "node:timers/promises";
import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { NO_SECRETS, type Store, systemClock, systemIds } from "../src/store/index.ts";
import { openSqlite } from "../src/store/sqlite/engine.ts";
import { storeOn } from "../src/store/store.ts";
import { type Ack, type Orders, randomBy } from "./crash/acks.ts";
import { Follower, Ledger } from "./crash/ledger.ts";
import { hello, killed, open, Workbench } from "./crash/support.ts";
import { SEED } from "./support/seed.ts";

const KILLS = Number(process.env.KERYX_CRASH_RUNS ?? 10);
/** How often everything is looked at from the beginning, not only what is new. */
const LOOK_BACK_EVERY = 25;
/** Of PRAGMA synchronous. */
const FULL = 2;

const bench = new Workbench();
const path = bench.file("store.db");
afterAll(() => bench.end());

test(
	`after each of ${KILLS} kills everything acknowledged is there, nothing twice, and every invariant holds`,
	async () => {
		const random = randomBy(SEED);
		const ledger = new Ledger();
		const follower = new Follower();
		for (let run = 1; run <= KILLS; run++) {
			// The first one lives until there is a store; dying before that is a test of its own.
			const lines = Math.max(killAfter(random), run === 1 ? 9 : 0);
			const orders: Orders = { path, run, seed: SEED * 1000 + run, stale: ledger.stale() };
			// Every other time somebody reads beside the child: then the log is in use when its writer dies. It is only
			// read here, so that it stays as the dead child left it, for the next one to recover.
			const reader = new Reader(follower);
			ledger.record(await runAndKill(orders, lines, run % 2 === 0 ? reader : undefined));
			const store = await reader.open();
			await ledger.checkLast(store, follower);
			if (run % LOOK_BACK_EVERY === 0 || run === KILLS) await ledger.checkAll(store, follower);
			await store.close();
			expect(ledger.problems, `seed ${SEED}, kill ${run}, after ${lines} lines`).toEqual([]);
		}
		expect(pages(path)).toEqual("ok");
		console.log(
			`crash: ${KILLS} kills, ${ledger.acknowledged} acknowledgements, ${ledger.refused} stale writes refused, ` +
				`${follower.events.length} events, epoch ${ledger.epoch}, seed ${SEED}`,
		);
		expect(ledger.acknowledged).toBeGreaterThan(KILLS);
	},
	60_000 + KILLS * 10_000,
);

/** Some die while they open or recover, most in the middle of their work. */
function killAfter(random: () => number): number {
	return random() < 0.2 ? 1 + Math.floor(random() * 8) : 9 + Math.floor(random() * 500);
}

async function runAndKill(orders: Orders, lines: number, beside: Reader | undefined): Promise<Ack[]> {
	const child = bench.start("./store-child.ts", [JSON.stringify(orders)]);
	const closed = once(child, "close");
	let said = "";
	let count = 0;
	child.stdout.setEncoding("utf8").on("data", (data: string) => {
		said += data;
		count += data.split("\n").length - 1;
		if (count >= lines) child.kill("SIGKILL");
		if (said.includes('"opened"')) beside?.nudge();
	});
	const [, signal] = (await closed) as [number | null, NodeJS.Signals | null];
	await beside?.reading;
	// What follows the last line break was cut off by the kill.
	const acks = said
		.split("\n")
		.slice(0, -1)
		.map((line) => JSON.parse(line) as Ack);
	if (signal !== "SIGKILL" && !acks.some(({ op }) => op === "failed"))
		throw new Error(`the child ended by itself after ${acks.length} lines`);
	return acks;
}

/** Reads from this process; nudged in the middle of the writing, it follows the events. */
class Reader {
	readonly #follower: Follower;
	#store: Promise<Store> | undefined;
	reading: Promise<void> | undefined;

	constructor(follower: Follower) {
		this.#follower = follower;
	}

	open(): Promise<Store> {
		this.#store ??= open(path, "read");
		return this.#store;
	}

	nudge(): void {
		this.reading ??= this.#read();
	}

	async #read(): Promise<void> {
		await this.#follower.follow(await this.open());
		this.reading = undefined;
	}
}

function pages(file: string): unknown {
	const db = new Database(file, { readonly: true });
	try {
		return db.pragma("integrity_check", { simple: true });
	} finally {
		db.close();
	}
}

test.each([".owner", "", "-journal", "-wal"])(
	"killed while it makes a store, as its file with '%s' appears, a child leaves nothing that stops the next one",
	async (suffix) => {
		const fresh = bench.file(`fresh${suffix}/store.db`);
		mkdirSync(dirname(fresh));
		const child = bench.start("./store-child.ts", [
			JSON.stringify({ path: fresh, run: 1, seed: SEED, stale: [] } satisfies Orders),
		]);
		// A journal is there for a moment only and may be missed: then the child dies a little later.
		while (!existsSync(fresh + suffix) && !existsSync(`${fresh}-wal`)) await setImmediate();
		await killed(child);
		const store = await open(fresh);
		await store.accept(hello("1"));
		expect(await store.checkIntegrity({ scope: { kind: "operator" } })).toEqual({ problems: [] });
		await store.close();
	},
);

test("the writer's own connection syncs every commit, also after it has written", async () => {
	const engine = await openSqlite({ path: bench.file("sync.db"), startedAt: Date.now(), access: "own" });
	const store = storeOn(engine, { clock: systemClock, ids: systemIds(systemClock), secrets: NO_SECRETS });
	const safe = { journalMode: "wal", synchronous: FULL, foreignKeys: true };
	expect(await engine.writerSettings()).toEqual(safe);
	await store.accept(hello("1"));
	expect(await engine.writerSettings()).toEqual(safe);
	await store.close();
});

const TRACER = ["strace", "-f", "-y", "-s", "40", "-e", "trace=fsync,fdatasync,write", "-o"];
const CAN_TRACE = spawnSync(TRACER[0] as string, ["-o", "/dev/null", "true"]).status === 0;
const only = CAN_TRACE ? "" : " (no strace: only the setting is looked at)";
test(`no acknowledgement is sent before the log is on the disk${only}`, async () => {
	const traced = bench.file("traced.db");
	if (!CAN_TRACE) {
		const engine = await openSqlite({ path: traced, startedAt: Date.now(), access: "own" });
		expect((await engine.writerSettings()).synchronous).toBe(FULL);
		await engine.close();
		return;
	}
	const trace = bench.file("trace");
	const child = bench.start("./sync-child.ts", [traced, "20"], [...TRACER, trace]);
	child.stdout.resume();
	expect(await once(child, "close")).toEqual([0, null]);
	expect(syncsBeforeAcks(readFileSync(trace, "utf8"))).toEqual(Array.from({ length: 20 }, () => true));
});

/** For each acknowledgement in a trace, whether a sync of the log was finished since the one before. */
function syncsBeforeAcks(trace: string): boolean[] {
	const acks: boolean[] = [];
	const unfinished = new Set<string>();
	let synced = false;
	for (const line of trace.split("\n")) {
		const [thread = ""] = line.split(" ", 1);
		const isSync = /\bf(data)?sync\(\d+<[^>]*-wal>/.test(line);
		if (isSync && line.includes("<unfinished")) unfinished.add(thread);
		else if (isSync && line.endsWith("= 0")) synced = true;
		else if (/f(data)?sync resumed.*= 0$/.test(line) && unfinished.delete(thread)) synced = true;
		if (!line.includes('"acknowledged ')) continue;
		acks.push(synced);
		synced = false;
	}
	return acks;
}
