// The store's rows of "Numbers to hold": durable rounds beside two hand-written scripts, at three sizes; start-up and memory with
// a million conversations beside an empty store; reading. Then search, on a store of its own.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { SessionId } from "../src/domain/index.ts";
import {
	exportTexts,
	NO_SECRETS,
	openStore,
	type Store,
	systemClock,
	systemIds,
} from "../src/store/index.ts";
import { atLeast, atMost, measured, median, type Row } from "./harness.ts";
import { roundsAt } from "./store-compare.ts";
import { addConversations, LONG, progress, sessionOf } from "./store-data.ts";
import { hidingRows } from "./store-hiding.ts";
import { searchRows } from "./store-search.ts";

const SIZES = [1000, 100_000, 1_000_000];
const STARTS = 9;
const EXPORTED = 10_000;
const EXPORTS = 3;
const EXPORT_BAR = 30;

const OPEN_CHILD = fileURLToPath(new URL("./store-open.ts", import.meta.url));

export async function measureStore(): Promise<Row[]> {
	const folder = mkdtempSync(join(tmpdir(), "keryx-bench-"));
	try {
		const { path, size, rows } = await roundsAt(folder, SIZES);
		progress("measuring what hiding secrets costs");
		rows.push(...(await hidingRows(folder)));
		rows.push(await exporting(folder));
		rows.push(...(await startUp(folder, path, size)));
		rows.push(...(await reading(path, size)));
		progress("measuring search over its own 1,000,000 messages");
		return [...rows, ...(await searchRows())];
	} finally {
		rmSync(folder, { recursive: true, force: true });
		if (process.stderr.isTTY) progress("");
	}
}

interface Start {
	readonly ms: number;
	readonly megabytes: number;
}

/** In a process of its own each, turn and turn about. */
async function startUp(folder: string, path: string, size: number): Promise<Row[]> {
	const empty = join(folder, "empty.db");
	await (await open(empty)).close();
	const starts: Record<"empty" | "full", Start[]> = { empty: [], full: [] };
	for (let n = 0; n <= STARTS; n++) {
		progress(`measuring start-up with ${size.toLocaleString("en")} conversations: ${n} of ${STARTS}`);
		for (const [kind, file] of [
			["empty", empty],
			["full", path],
		] as const) {
			const start = await startOnce(file);
			// The first one reads what the disk's cache does not hold yet.
			if (n > 0) starts[kind].push(start);
		}
	}
	const among = `${size.toLocaleString("en")} conversations`;
	const [emptyMs, fullMs] = [starts.empty, starts.full].map((some) => median(some.map(({ ms }) => ms)));
	const [emptyMb, fullMb] = [starts.empty, starts.full].map((some) =>
		median(some.map((one) => one.megabytes)),
	);
	return [
		measured("start-up, an empty store", emptyMs as number, "ms"),
		measured(`start-up, ${among}`, fullMs as number, "ms"),
		atMost(1.2, measured(`start-up, ${among} to none`, (fullMs as number) / (emptyMs as number), "times")),
		measured("memory, an empty store", emptyMb as number, "MB"),
		atMost(30, measured(`memory, ${among} over none`, (fullMb as number) - (emptyMb as number), "MB")),
	];
}

async function startOnce(path: string): Promise<Start> {
	const args = ["--expose-gc", "--disable-warning=ExperimentalWarning", OPEN_CHILD, path];
	const { stdout } = await promisify(execFile)(process.execPath, args);
	return JSON.parse(stdout) as Start;
}

async function reading(path: string, size: number): Promise<Row[]> {
	const scope = { kind: "operator" } as const;
	const store = await open(path);
	// The session of the first conversation is the long one.
	const session = sessionOf(0) as SessionId;
	const among = `${size.toLocaleString("en")} conversations and messages`;
	const rows = [
		atMost(
			5,
			measured(
				`list 50 newest conversations of ${among}, median`,
				await medianMs(() => store.conversations({ scope, limit: 50 })),
				"ms",
			),
		),
		atMost(
			5,
			measured(
				`load the last 200 of a session's ${LONG} messages, ${among}, median`,
				await medianMs(() => store.messages({ scope, session, limit: 200 })),
				"ms",
			),
		),
	];
	await store.close();
	return rows;
}

async function medianMs(read: () => Promise<readonly unknown[]>): Promise<number> {
	const times: number[] = [];
	for (let n = 0; n < 60; n++) {
		const began = performance.now();
		await read();
		if (n >= 10) times.push(performance.now() - began);
	}
	return median(times);
}

/** Many conversations of one message each: the form that costs most for its size. */
async function exporting(folder: string): Promise<Row> {
	const path = join(folder, "export.db");
	await (await open(path)).close();
	addConversations(path, 0, EXPORTED);
	const store = await open(path);
	const rates: number[] = [];
	for (let sample = 0; sample < EXPORTS; sample++) {
		const began = performance.now();
		let bytes = 0;
		for await (const text of exportTexts(store, {
			scope: { kind: "operator" },
			what: { kind: "everything" },
		}))
			bytes += Buffer.byteLength(text);
		rates.push(bytes / 1e6 / ((performance.now() - began) / 1000));
	}
	await store.close();
	const what = `export of ${EXPORTED.toLocaleString("en")} conversations of one message`;
	return atLeast(EXPORT_BAR, measured(what, median(rates), "MB/s"));
}

function open(path: string): Promise<Store> {
	return openStore({
		url: `sqlite:${path}`,
		clock: systemClock,
		ids: systemIds(systemClock),
		secrets: NO_SECRETS,
	});
}
