// The gateway end to end: accept, turn, delivery sent; durable, with the scripted agent and a channel in this process. Beside it
// the store alone with the same rows, in the same run, turn and turn about.
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { limitHeap } from "../src/app/heap.ts";
import { systemClock } from "../src/gateway/index.ts";
import { NO_SECRETS, openStore, type Store, systemIds } from "../src/store/index.ts";
import { addConversations, chatOf } from "./gateway-data.ts";
import { AT_ONCE, type Chats, gatewayLoad, roundsInAll, roundsPerSecond, storeLoad } from "./gateway-load.ts";
import { atLeast, atMost, measured, median, type Row } from "./harness.ts";

const MILLION = 1_000_000;
const SAMPLES = 5;
const SAMPLE_MS = 3000;
const SHARE = 0.6;
const DELAY_BAR_MS = 25;
const FEW = 10;
const ALONE = 1000;
const ALONE_BAR = 1.25;
const MESSAGES_PER_SECOND = 500;

export async function measureGateway(): Promise<Row[]> {
	// As the command does for a gateway.
	limitHeap();
	return [
		...(await inFolder((folder) => throughput(folder, 1000))),
		...(await inFolder(eventLoopDelay)),
		...(await inFolder(async (folder) => [
			...(await throughput(folder, MILLION)),
			...(await alone(folder, join(folder, "gateway.db"))),
		])),
	];
}

/** Each kind on a store of its own, so that neither works on what the other has left. */
async function throughput(folder: string, conversations: number): Promise<Row[]> {
	const chats = among(conversations);
	const paths = ["alone", "gateway"].map((name) => join(folder, `${name}.db`)) as [string, string];
	await (await open(paths[0])).close();
	addConversations(paths[0], conversations);
	copyFileSync(...paths);
	const stores = [await open(paths[0]), await open(paths[1])];
	const [alone, below] = stores as [Store, Store];
	const loads = { alone: storeLoad(alone), gateway: await gatewayLoad(below) };
	const rates: { alone: number[]; gateway: number[] } = { alone: [], gateway: [] };
	for (const load of Object.values(loads)) await roundsPerSecond(load, chats, SAMPLE_MS / 2);
	for (let n = 0; n < SAMPLES; n++)
		for (const kind of ["alone", "gateway"] as const)
			rates[kind].push(await roundsPerSecond(loads[kind], chats, SAMPLE_MS));
	for (const load of Object.values(loads)) await load.stop();
	for (const store of stores) await store.close();
	const ratio = median(rates.gateway.map((rate, n) => rate / (rates.alone[n] as number)));
	const place = `${AT_ONCE} at once among ${conversations.toLocaleString("en")} conversations`;
	return [
		measured(`messages through the gateway, ${place}`, median(rates.gateway), "per second"),
		measured(`the same rows through the store alone, ${place}`, median(rates.alone), "per second"),
		atLeast(SHARE, measured(`gateway against the store alone, ${place}`, ratio, "times")),
	];
}

/** One message after the other, among few conversations and among many, turn and turn about. */
async function alone(folder: string, many: string): Promise<Row[]> {
	const few = join(folder, "few.db");
	await (await open(few)).close();
	addConversations(few, FEW);
	const stores = [await open(few), await open(many)];
	const sides = [];
	for (const [n, store] of stores.entries())
		sides.push({ load: await gatewayLoad(store), chats: n === 0 ? FEW : MILLION, times: [] as number[] });
	for (let turn = 0; turn < ALONE; turn++)
		for (const { load, chats, times } of sides) {
			const began = performance.now();
			await load.round(chatOf((turn * 7919) % chats));
			times.push(performance.now() - began);
		}
	for (const { load } of sides) await load.stop();
	for (const store of stores) await store.close();
	const [among10, amongMillion] = sides.map(({ times }) => median(times)) as [number, number];
	const what = "one message alone, from its acceptance to its delivery";
	const counts = [FEW, MILLION].map((count) => count.toLocaleString("en"));
	return [
		measured(`${what}, among ${counts[0]} conversations`, among10, "ms"),
		measured(`${what}, among ${counts[1]} conversations`, amongMillion, "ms"),
		atMost(ALONE_BAR, measured("the second to the first", amongMillion / among10, "times")),
	];
}

/** Every lane goes through conversations of its own, far apart, so that no cache holds them all. */
function among(conversations: number): Chats {
	const own = Math.floor(conversations / AT_ONCE);
	return (lane, turn) => chatOf(lane * own + ((turn * 7919) % own));
}

const DELAY_MS = 10_000;
const TICK_MS = 10;

/** Messages come at a steady rate while somebody searches without a pause. */
async function eventLoopDelay(folder: string): Promise<Row[]> {
	const store = await open(join(folder, "store.db"));
	const load = await gatewayLoad(store);
	const chats = among(1000);
	await roundsInAll(load, chats, 5000);
	const idle = monitorEventLoopDelay({ resolution: 1 });
	idle.enable();
	await new Promise((resolve) => setTimeout(resolve, DELAY_MS / 4));
	idle.disable();
	let isOver = false;
	let searches = 0;
	const searching = (async () => {
		for (; !isOver; searches++)
			await store.search({ scope: { kind: "operator" }, query: "migration", limit: 20 });
	})();
	const delay = monitorEventLoopDelay({ resolution: 1 });
	delay.enable();
	const began = performance.now();
	const rounds: Promise<void>[] = [];
	await new Promise<void>((resolve) => {
		const timer = setInterval(() => {
			const elapsed = performance.now() - began;
			const due = Math.min(elapsed, DELAY_MS) * (MESSAGES_PER_SECOND / 1000);
			while (rounds.length < due) rounds.push(load.round(`steady ${rounds.length % 1000}`));
			if (elapsed < DELAY_MS) return;
			clearInterval(timer);
			resolve();
		}, TICK_MS);
	});
	delay.disable();
	await Promise.all(rounds);
	isOver = true;
	await searching;
	await load.stop();
	await store.close();
	const p99 = delay.percentile(99) / 1e6;
	const name = `event-loop delay, p99, at ${MESSAGES_PER_SECOND} messages a second with a search running`;
	return [
		{ ...measured(name, p99, "ms"), bar: DELAY_BAR_MS, holds: p99 <= DELAY_BAR_MS },
		measured("the same with nothing to do: what the machine itself delays", idle.percentile(99) / 1e6, "ms"),
		measured("searches beside it", (searches / DELAY_MS) * 1000, "per second"),
	];
}

async function inFolder(measure: (folder: string) => Promise<Row[]>): Promise<Row[]> {
	const folder = mkdtempSync(join(tmpdir(), "keryx-gateway-"));
	try {
		return await measure(folder);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

function open(path: string): Promise<Store> {
	return openStore({
		url: `sqlite:${path}`,
		clock: systemClock,
		ids: systemIds(systemClock),
		secrets: NO_SECRETS,
	});
}
