// Channels as people notice them: how soon an answer is seen and how often it goes on, how many answers at once keep to a platform's
// limit, what busy channels cost everybody else, and what an idle one costs. Over the wire, against a stand-in for each platform.
import { type ChildProcess, fork } from "node:child_process";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { type BenchPeer, PLATFORMS } from "./channels-platforms.ts";
import { ANSWER, type Told } from "./channels-words.ts";
import { atLeast, atMost, measured, median, type Row } from "./harness.ts";

const STREAMS = 50;
const IDLE = 10;
const FIRST_BAR_MS = 1500;
const GAP_BAR_MS = 2000;
const DELAY_BAR_MS = 25;
const MEMORY_BAR_MIB = 15;

export async function measureChannels(): Promise<Row[]> {
	const rows: Row[] = [];
	for (const platform of Object.keys(PLATFORMS)) rows.push(...(await measurePlatform(platform)));
	return [...rows, ...(await measureTogether())];
}

/** One gateway on every platform, all of them busy at once. */
async function measureTogether(): Promise<Row[]> {
	const gateway = await Gateway.start();
	const peers: BenchPeer[] = [];
	try {
		for (const [platform, { start }] of Object.entries(PLATFORMS)) {
			const peer = await start(1);
			peers.push(peer);
			await gateway.ask({ say: "connect", platform, accounts: peer.accounts, from: 0 });
		}
		const each = Math.floor(STREAMS / peers.length);
		const people = Array.from({ length: each }, (_, n) => n);
		await gateway.ask({ say: "watch" });
		const seen = (await Promise.all(peers.map((peer) => answersOf(peer, people)))).flat();
		const delayMs = await gateway.ask({ say: "delay" });
		const names = Object.keys(PLATFORMS).join(", ");
		const exact = seen.filter(({ isExact }) => isExact).length;
		return [
			atLeast(
				seen.length,
				measured(`${names} at once, ${each} answers each: ended exactly`, exact, "answers"),
			),
			atMost(
				0,
				measured(
					`${names} at once, ${each} answers each: told to slow down`,
					peers.reduce((sum, peer) => sum + peer.turnedAway(), 0),
					"times",
				),
			),
			...withRatio(
				atMost(
					DELAY_BAR_MS,
					measured(`${names} at once, ${each} answers each: event-loop delay, p99`, delayMs, "ms"),
				),
			),
		];
	} finally {
		await gateway.end();
		for (const peer of peers) await peer.close();
	}
}

/** The row, and how much of its bar it takes. */
function withRatio(row: Row): Row[] {
	return [row, measured(`${row.name}: of the bar`, row.value / (row.bar ?? Number.NaN), "times")];
}

async function measurePlatform(platform: string): Promise<Row[]> {
	const { start, limit } = PLATFORMS[platform] ?? {};
	const peer = await start?.(1 + IDLE);
	if (!peer || !limit) return [];
	const gateway = await Gateway.start();
	try {
		return [
			...(await memory(platform, peer, gateway)),
			...(await oneAnswer(platform, peer)),
			...(await manyAnswers(platform, peer, gateway, limit)),
		];
	} finally {
		await gateway.end();
		await peer.close();
	}
}

/** First, while nothing else has used any. The first channel loads its platform's library. */
async function memory(platform: string, peer: BenchPeer, gateway: Gateway): Promise<Row[]> {
	const [first, ...others] = peer.accounts;
	const none = await gateway.ask({ say: "memory" });
	await gateway.ask({ say: "connect", platform, accounts: first ? [first] : [], from: 0 });
	const one = await gateway.ask({ say: "memory" });
	await gateway.ask({ say: "connect", platform, accounts: others, from: 1 });
	const all = await gateway.ask({ say: "memory" });
	const row = (name: string, bytes: number) =>
		withRatio(
			atMost(MEMORY_BAR_MIB, measured(`${platform}: memory of ${name}`, Math.max(0, bytes) / 2 ** 20, "MiB")),
		);
	return [
		...row("the first idle channel, with its library", one - none),
		...row(`each more idle channel, of ${IDLE}`, (all - one) / IDLE),
	];
}

async function oneAnswer(platform: string, peer: BenchPeer): Promise<Row[]> {
	const [seen] = await answersOf(peer, [0]);
	if (!seen) return [];
	return [
		atMost(FIRST_BAR_MS, measured(`${platform}: an answer of 20 s is seen after`, seen.firstMs, "ms")),
		atMost(GAP_BAR_MS, measured(`${platform}: the longest time in which it did not go on`, seen.gapMs, "ms")),
		atLeast(1, measured(`${platform}: it ended with the exact text`, seen.isExact ? 1 : 0, "of 1")),
	];
}

async function manyAnswers(
	platform: string,
	peer: BenchPeer,
	gateway: Gateway,
	limit: { readonly calls: number; readonly ms: number },
): Promise<Row[]> {
	const calls: number[] = [];
	peer.onCall(() => calls.push(performance.now()));
	await gateway.ask({ say: "watch" });
	const seen = await answersOf(
		peer,
		Array.from({ length: STREAMS }, (_, n) => n + 1),
	);
	const delayMs = await gateway.ask({ say: "delay" });
	const of = `of ${STREAMS} at once`;
	return [
		atMost(
			limit.calls,
			measured(
				`${platform}: calls in the worst ${limit.ms / 1000} s, ${of}`,
				worstWindow(calls, limit.ms),
				"calls",
			),
		),
		atMost(0, measured(`${platform}: told to slow down`, peer.turnedAway(), `times, ${of}`)),
		measured(`${platform}: seen after, median ${of}`, median(seen.map(({ firstMs }) => firstMs)), "ms"),
		measured(
			`${platform}: longest without going on, median ${of}`,
			median(seen.map(({ gapMs }) => gapMs)),
			"ms",
		),
		measured(
			`${platform}: longest without going on, ${of}`,
			Math.max(...seen.map(({ gapMs }) => gapMs)),
			"ms",
		),
		atLeast(
			STREAMS,
			measured(`${platform}: ended with the exact text`, seen.filter(({ isExact }) => isExact).length, of),
		),
		...withRatio(atMost(DELAY_BAR_MS, measured(`${platform}: event-loop delay, p99, ${of}`, delayMs, "ms"))),
	];
}

interface Seen {
	readonly firstMs: number;
	/** The longest between two changes that people saw, up to the last. */
	readonly gapMs: number;
	readonly isExact: boolean;
}

/** Everybody writes at once; resolves when everybody has the whole answer. */
async function answersOf(peer: BenchPeer, people: readonly number[]): Promise<readonly Seen[]> {
	const began = performance.now();
	const states = people.map((person) => ({ person, text: peer.shown(person), times: [] as number[] }));
	await new Promise<void>((resolve) => {
		peer.onChange(() => {
			for (const state of states) {
				const text = peer.shown(state.person);
				if (text === state.text) continue;
				state.text = text;
				state.times.push(performance.now());
			}
			if (states.every(({ text }) => text === ANSWER)) resolve();
		});
		for (const person of people) peer.say(person, "write");
	});
	return states.map(({ text, times }) => ({
		firstMs: (times[0] ?? Number.NaN) - began,
		gapMs: Math.max(0, ...times.slice(1).map((at, n) => at - (times[n] ?? at))),
		isExact: text === ANSWER,
	}));
}

function worstWindow(times: readonly number[], ms: number): number {
	let worst = 0;
	for (let from = 0, to = 0; from < times.length; from++) {
		while (to < times.length && (times[to] as number) - (times[from] as number) < ms) to++;
		worst = Math.max(worst, to - from);
	}
	return worst;
}

/** The gateway's process, which answers one question at a time. */
class Gateway {
	readonly #child: ChildProcess;

	private constructor(child: ChildProcess) {
		this.#child = child;
	}

	static async start(): Promise<Gateway> {
		const child = fork(fileURLToPath(new URL("channels-gateway.ts", import.meta.url)), [], {
			execArgv: ["--expose-gc", "--disable-warning=ExperimentalWarning"],
		});
		await new Promise((resolve) => child.once("message", resolve));
		return new Gateway(child);
	}

	async ask(told: Told): Promise<number> {
		const answered = new Promise<{ readonly value: number }>((resolve, reject) => {
			this.#child.once("message", resolve);
			this.#child.once("exit", (code) => reject(new Error(`the gateway ended with ${code}`)));
		});
		this.#child.send(told);
		return (await answered).value;
	}

	async end(): Promise<void> {
		await this.ask({ say: "stop" });
	}
}
