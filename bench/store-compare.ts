// Durable rounds of Keryx beside two hand-written scripts, in one run: one writes the same rows into the same tables, the lean one keeps the
// same promises with tables of its own. Rates, CPU time and bytes of a round. `npm run bench -- rounds` for 1,000 conversations.
import { closeSync, copyFileSync, fsyncSync, mkdtempSync, openSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { NO_SECRETS, openStore, type Store, systemClock, systemIds } from "../src/store/index.ts";
import { atLeast, atMost, measured, median, type Row } from "./harness.ts";
import { addConversations, progress } from "./store-data.ts";
import { LeanRounds } from "./store-lean.ts";
import { KeryxRounds, LANES, type Pick } from "./store-rounds.ts";
import { ScriptRounds } from "./store-script.ts";

const SHARE = 0.9;
const LEAN_SHARE = 0.6;
/** Of the lean script's CPU time and bytes. */
const LEAN_TIMES = 2;
/** Many short ones: the machine's speed changes within seconds, and each is compared with the others' right beside it. */
const SAMPLES = 20;
const SAMPLE_MS = 700;
/** Compiling what runs often goes on for some seconds. */
const WARM_UP_MS = 5000;

/** With `full` also among more conversations. */
export async function measureRounds({ full }: { readonly full: boolean }): Promise<Row[]> {
	const folder = mkdtempSync(join(tmpdir(), "keryx-bench-"));
	try {
		return (await roundsAt(folder, full ? [1000, 100_000, 1_000_000] : [1000])).rows;
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

/** At each size in turn; answers the store that has the last one. */
export async function roundsAt(
	folder: string,
	sizes: readonly number[],
): Promise<{ readonly path: string; readonly size: number; readonly rows: Row[] }> {
	const path = join(folder, "store.db");
	await (await open(path)).close();
	const rows: Row[] = [];
	let size = 0;
	for (const next of sizes) {
		addConversations(path, size, next);
		size = next;
		rows.push(...(await rounds(folder, path, size)));
	}
	return { path, size, rows };
}

const NAMES = ["keryx", "script", "lean"] as const;
type Name = (typeof NAMES)[number];

/** What one of the three made in one sample. */
interface Sample {
	readonly rate: number;
	/** Of a round, in microseconds, in all threads. */
	readonly cpu: number;
}

interface Maker {
	rate(pick: Pick, ms: number): number | Promise<number>;
	close(): unknown;
}

/** Turn and turn about, each on a file of its own, so that none works on what another has left. */
async function rounds(folder: string, prepared: string, size: number): Promise<Row[]> {
	const pathOf = (name: string): string => join(folder, `${name}.db`);
	for (const name of ["keryx", "script"]) copyToDisk(prepared, pathOf(name));
	const store = await open(pathOf("keryx"));
	const keryx = new KeryxRounds(store);
	const makers: Record<Name, Maker> = {
		keryx: { rate: (pick, ms) => keryx.rate(pick, ms), close: () => store.close() },
		script: new ScriptRounds(pathOf("script")),
		lean: new LeanRounds(pathOf("lean"), size),
	};
	const before = new Map(NAMES.map((name) => [name, statSync(pathOf(name)).size]));
	const made = new Map(NAMES.map((name) => [name, 0]));
	const among = (lane: number): number => lane + LANES * Math.floor(Math.random() * Math.floor(size / LANES));
	const samples: Record<Name, Sample>[] = [];
	for (let sample = 0; sample <= SAMPLES; sample++) {
		if (sample % 5 === 0)
			progress(`measuring rounds among ${size.toLocaleString("en")} conversations: ${sample} of ${SAMPLES}`);
		const one: Partial<Record<Name, Sample>> = {};
		for (const name of NAMES) {
			const { count, ...rest } = await sampleOf(makers[name], among, sample === 0 ? WARM_UP_MS : SAMPLE_MS);
			made.set(name, (made.get(name) ?? 0) + count);
			one[name] = rest;
		}
		// The first warms up.
		if (sample > 0) samples.push(one as Record<Name, Sample>);
	}
	for (const name of NAMES) await makers[name].close();
	const bytes = (name: Name): number =>
		(statSync(pathOf(name)).size - (before.get(name) ?? 0)) / (made.get(name) ?? 1);
	const place = `${LANES} at once among ${size.toLocaleString("en")} conversations`;
	const of = (what: (sample: (typeof samples)[number]) => number): number => median(samples.map(what));
	const rows = [
		measured(
			`durable rounds, Keryx, ${place}`,
			of(({ keryx }) => keryx.rate),
			"per second",
		),
		measured(
			`the same rows by a script, ${place}`,
			of(({ script }) => script.rate),
			"per second",
		),
		measured(
			`the same promises by a lean script, ${place}`,
			of(({ lean }) => lean.rate),
			"per second",
		),
		atLeast(
			SHARE,
			measured(
				`Keryx to script, ${place}`,
				of(({ keryx, script }) => keryx.rate / script.rate),
				"of the script",
			),
		),
		atLeast(
			LEAN_SHARE,
			measured(
				`Keryx to lean script, ${place}`,
				of(({ keryx, lean }) => keryx.rate / lean.rate),
				"of the script",
			),
		),
		measured(
			`CPU of a round, Keryx, ${place}`,
			of(({ keryx }) => keryx.cpu),
			"us",
		),
		measured(
			`CPU of a round, script, ${place}`,
			of(({ script }) => script.cpu),
			"us",
		),
		measured(
			`CPU of a round, lean script, ${place}`,
			of(({ lean }) => lean.cpu),
			"us",
		),
		atMost(
			LEAN_TIMES,
			measured(
				`CPU of a round, Keryx to lean script, ${place}`,
				of(({ keryx, lean }) => keryx.cpu / lean.cpu),
				"times",
			),
		),
		...NAMES.map((name) =>
			measured(`bytes a round adds to the file, ${name}, ${place}`, bytes(name), "bytes"),
		),
		atMost(
			LEAN_TIMES,
			measured(`bytes of a round, Keryx to lean script, ${place}`, bytes("keryx") / bytes("lean"), "times"),
		),
	];
	for (const name of NAMES) rmSync(pathOf(name));
	return rows;
}

async function sampleOf(maker: Maker, pick: Pick, ms: number): Promise<Sample & { readonly count: number }> {
	globalThis.gc?.();
	const cpu = process.cpuUsage();
	const began = performance.now();
	const rate = await maker.rate(pick, ms);
	const count = (rate * (performance.now() - began)) / 1000;
	const { user, system } = process.cpuUsage(cpu);
	return { rate, cpu: (user + system) / count, count };
}

/** All the way: what is still to be written would slow down the first commits of whoever comes next. */
function copyToDisk(from: string, to: string): void {
	copyFileSync(from, to);
	const file = openSync(to, "r+");
	fsyncSync(file);
	closeSync(file);
}

function open(path: string): Promise<Store> {
	return openStore({
		url: `sqlite:${path}`,
		clock: systemClock,
		ids: systemIds(systemClock),
		secrets: NO_SECRETS,
	});
}
