// Where one round's time goes: `npm run bench -- store --profile`. Statements are timed in one thread, the dearest twentieth of each left
// out (the scheduler's, not ours). Pages are counted in the log, so that they are the same on every machine.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import Database from "better-sqlite3";
import { NO_SECRETS, openStore, systemClock, systemIds } from "../src/store/index.ts";
import { measured, median, type Row } from "./harness.ts";
import { addConversations, progress } from "./store-data.ts";
import { LANES } from "./store-rounds.ts";
import { StoreSteps } from "./store-steps.ts";

const CONVERSATIONS = 1000;
const WARM_UP = 20;
const GROUPS = 40;
/** The first warms up. */
const TURNS = 3;
const PAGE = 4096;
const FRAME = 24;
const LOG_HEADER = 32;

/** What a round costs without one of these; the store would break its promises without any. */
const WITHOUT: Readonly<Record<string, (db: Database.Database) => unknown>> = {
	"the search index": (db) => db.exec("DROP TABLE search; CREATE TABLE search (tags TEXT, text TEXT)"),
	"the prefixes in the search index": withoutPrefixes,
	triggers: (db) => db.exec("DROP TRIGGER inbox_disposed_once; DROP TRIGGER messages_immutable"),
	"foreign keys": (db) => db.pragma("foreign_keys = OFF"),
	"the index of events": (db) => db.exec("DROP INDEX events_stretch"),
};

export async function profileStore(): Promise<Row[]> {
	const folder = mkdtempSync(join(tmpdir(), "keryx-bench-"));
	try {
		const prepared = join(folder, "store.db");
		const options = { clock: systemClock, ids: systemIds(systemClock), secrets: NO_SECRETS };
		await (await openStore({ url: `sqlite:${prepared}`, ...options })).close();
		addConversations(prepared, 0, CONVERSATIONS);
		const copy = (name: string): string => {
			const path = join(folder, name);
			const db = new Database(prepared);
			db.prepare("VACUUM INTO ?").run(path);
			db.close();
			return path;
		};
		const least = new Map<string, number>();
		for (let turn = 0; turn < TURNS; turn++)
			for (const what of ["", ...Object.keys(WITHOUT)]) {
				progress(`profiling ${what ? `without ${what}` : "with all"}: ${turn + 1} of ${TURNS}`);
				const cpu = cpuOf(copy(`${turn} ${what}.db`), WITHOUT[what]);
				least.set(what, Math.min(cpu, least.get(what) ?? cpu));
			}
		const whole = least.get("") ?? Number.NaN;
		progress("profiling statements and pages");
		return [
			measured("CPU of a round's operations, in one thread", whole, "us"),
			...Object.keys(WITHOUT).map((what) =>
				measured(`of it for ${what}`, whole - (least.get(what) ?? Number.NaN), "us"),
			),
			...statementRows(copy("statements.db")),
			...pageRows(copy("pages.db")),
		];
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

function among(lane: number): number {
	return lane + LANES * Math.floor(Math.random() * Math.floor(CONVERSATIONS / LANES));
}

function withoutPrefixes(db: Database.Database): void {
	const sql = db.prepare("SELECT sql FROM sqlite_master WHERE name = 'search'").pluck().get() as string;
	const bare = sql.replace("prefix='1 2 3',", "");
	if (bare === sql) throw new Error("the search index has no such prefixes");
	db.exec(`DROP TABLE search; ${bare}`);
}

/** The quarter of the groups that the machine disturbed least. */
function cpuOf(path: string, leaveOut?: (db: Database.Database) => unknown): number {
	const steps = new StoreSteps(path);
	leaveOut?.(steps.connection.db);
	for (let group = 0; group < WARM_UP; group++) steps.rounds(among);
	const each = Array.from({ length: GROUPS }, () => {
		const before = process.threadCpuUsage();
		steps.rounds(among);
		const { user, system } = process.threadCpuUsage(before);
		return (user + system) / LANES;
	});
	steps.close();
	return median(each.toSorted((a, b) => a - b).slice(0, GROUPS / 4));
}

function statementRows(path: string): Row[] {
	const spent = new Map<string, number[]>();
	const steps = new StoreSteps(path, (step, sql, us) => {
		const name = `${step}: ${sql}`;
		const times = spent.get(name);
		if (times) times.push(us);
		else spent.set(name, [us]);
	});
	for (let group = 0; group < WARM_UP; group++) steps.rounds(among);
	spent.clear();
	for (let group = 0; group < GROUPS; group++) steps.rounds(among);
	const rounds = GROUPS * LANES;
	const rows = [...spent].map(([name, times]) => {
		const usual = times.toSorted((a, b) => a - b).slice(0, Math.ceil(times.length * 0.95));
		const mean = usual.reduce((sum, us) => sum + us, 0) / usual.length;
		const often = times.length < rounds / 2 ? "for all" : `${Math.round(times.length / rounds)} a round`;
		const text = name.replace(/\s+/g, " ").replace(/(, \([?, ]+\))+/, ", ...");
		return measured(`${text.slice(0, 100)} (${often})`, (mean * times.length) / rounds, "us");
	});
	const crossing = crossingOf(steps);
	const json = jsonOf(steps.connection.db);
	steps.close();
	return [
		measured("time in SQLite, commits included", sumOf(rows), "us"),
		measured("crossing between threads, both ways", crossing, "us"),
		measured("JSON of bodies, written and read once", json, "us"),
		...rows.sort((a, b) => b.value - a.value),
	];
}

/** Posting and taking what one group asks and is answered. */
function crossingOf({ exchanged }: StoreSteps): number {
	const { port1, port2 } = new MessageChannel();
	let total = 0;
	for (const { asked, answered } of exchanged.values())
		for (const message of [asked, answered])
			total += quickest(() => {
				port1.postMessage(message);
				receiveMessageOnPort(port2);
			});
	port1.close();
	return total / LANES;
}

function jsonOf(db: Database.Database): number {
	const rows = [
		...db
			.prepare("SELECT body FROM messages ORDER BY id DESC LIMIT ?")
			.pluck()
			.all(2 * LANES),
		...db.prepare("SELECT body FROM deliveries ORDER BY n DESC LIMIT ?").pluck().all(LANES),
		...db.prepare("SELECT source_body FROM conversations LIMIT ?").pluck().all(LANES),
	] as string[];
	return quickest(() => rows.map((body) => JSON.stringify(JSON.parse(body)))) / LANES;
}

function quickest(work: () => unknown): number {
	let least = Number.POSITIVE_INFINITY;
	for (let n = 0; n < 100; n++) {
		const began = performance.now();
		work();
		least = Math.min(least, (performance.now() - began) * 1000);
	}
	return least;
}

/** Which tables and indexes the pages belong to that commits write into the log. */
function pageRows(path: string): Row[] {
	const steps = new StoreSteps(path);
	const { db } = steps.connection;
	for (let group = 0; group < WARM_UP; group++) steps.rounds(among);
	db.pragma("wal_checkpoint(TRUNCATE)");
	db.pragma("wal_autocheckpoint = 0");
	const before = bytesOf(db);
	for (let group = 0; group < WARM_UP; group++) steps.rounds(among);
	const after = bytesOf(db);
	const owners = new Map(
		(
			db.prepare("SELECT pageno, name FROM dbstat").all() as {
				readonly pageno: number;
				readonly name: string;
			}[]
		).map(({ pageno, name }) => [pageno, name]),
	);
	const log = readFileSync(`${path}-wal`);
	steps.close();
	const written = new Map<string, number>();
	for (let at = LOG_HEADER; at + FRAME <= log.length; at += FRAME + PAGE) {
		const name = owners.get(log.readUInt32BE(at)) ?? "none";
		written.set(name, (written.get(name) ?? 0) + 1);
	}
	const rows = [...written].map(([name, count]) =>
		measured(`pages of ${name}`, count / WARM_UP / LANES, "a round"),
	);
	const added = [...after]
		.map(([name, bytes]) => [name, (bytes - (before.get(name) ?? 0)) / WARM_UP / LANES] as const)
		.filter(([, bytes]) => bytes > 0)
		.map(([name, bytes]) => measured(`bytes that stay in ${name}`, bytes, "a round"));
	return [
		measured("pages that commits write", sumOf(rows), "a round"),
		...rows.sort((a, b) => b.value - a.value),
		measured("bytes that stay", sumOf(added), "a round"),
		...added.sort((a, b) => b.value - a.value),
	];
}

/** What the rows of each table and index take, without the room that pages have left. */
function bytesOf(db: Database.Database): Map<string, number> {
	const rows = db.prepare("SELECT name, SUM(payload) AS bytes FROM dbstat GROUP BY name").all();
	return new Map((rows as { name: string; bytes: number }[]).map(({ name, bytes }) => [name, bytes]));
}

function sumOf(rows: readonly Row[]): number {
	return rows.reduce((sum, { value }) => sum + value, 0);
}
