// The process host: what it takes to a log, beside `cat > file` in the same minute on the same disk; a client's event loop while it
// follows 64 programs that print as fast as they can; and what the host holds in memory.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { connectHost, type HostClient, type SpawnRequest } from "../src/processes/index.ts";
import { atMost, measured, median, type Row } from "./harness.ts";
import { measureCommands } from "./processes-commands.ts";

const BYTES = 500_000_000;
const ROUNDS = 5;
const CHATTY = 64;
const CHATTY_MS = 5000;
/** How often the event loop is looked at; a delay of this much is none. */
const RESOLUTION_MS = 1;
const NS_PER_MS = 1e6;

export async function measureProcesses(): Promise<Row[]> {
	return [...(await measureCommands()), ...(await measureHost())];
}

async function measureHost(): Promise<Row[]> {
	const home = mkdtempSync(join(tmpdir(), "keryx-bench-"));
	const client = await connectHost({ home, start: true, idleMs: 1000 });
	try {
		const idle = memoryOf(client.hostPid);
		const ten = await withTen(client);
		const ratios: number[] = [];
		const speeds: number[] = [];
		for (let round = 0; round < ROUNDS; round++) {
			const bare = await bareCat(join(home, "bare"));
			const host = await throughHost(client, `throughput_${round}`);
			speeds.push(host);
			ratios.push(host / bare);
		}
		const chatty = await chattyOnes(client);
		return [
			measured("log of one program, 500 MB kept whole", median(speeds), "MB per second"),
			measured("the same, against `cat > file`", median(ratios), "ratio"),
			atMost(
				25,
				measured(
					`event-loop delay of a client that follows ${CHATTY} chatty programs, p99`,
					chatty.delay,
					"ms",
				),
			),
			measured(`all ${CHATTY} together, in their logs`, chatty.speed, "MB per second"),
			measured("memory of the host, idle, run from its sources", idle, "MB"),
			measured("the same with 10 programs", ten, "MB"),
			measured(`the same after ${CHATTY} chatty ones`, memoryOf(client.hostPid), "MB"),
		];
	} finally {
		for (const { id } of await client.list()) await client.kill(id, { graceMs: 0 });
		await client.close();
		rmSync(home, { recursive: true, force: true });
	}
}

async function withTen(client: HostClient): Promise<number> {
	const ids = Array.from({ length: 10 }, (_, index) => `idle_${index}`);
	for (const id of ids) await client.spawn(request(id, ["sleep", "600"]));
	const memory = memoryOf(client.hostPid);
	for (const id of ids) await client.kill(id, { graceMs: 0 });
	return memory;
}

/** Through a pipe into a file, as the host does it. In MB per second. */
async function bareCat(file: string): Promise<number> {
	const began = performance.now();
	const child = spawn("sh", ["-c", `head -c ${BYTES} /dev/zero | cat > "$0"`, file], { stdio: "ignore" });
	await new Promise((resolve) => child.once("exit", resolve));
	const speed = perSecond(BYTES, performance.now() - began);
	rmSync(file);
	return speed;
}

async function throughHost(client: HostClient, id: string): Promise<number> {
	const began = performance.now();
	const ended = new Promise<void>((resolve) => {
		const stop = client.onEnd((info) => {
			if (info.id !== id) return;
			stop();
			resolve();
		});
	});
	await client.spawn(request(id, ["head", "-c", String(BYTES), "/dev/zero"], 2 * BYTES));
	await ended;
	const speed = perSecond(BYTES, performance.now() - began);
	await client.remove(id);
	return speed;
}

async function chattyOnes(client: HostClient): Promise<{ readonly delay: number; readonly speed: number }> {
	const ids = Array.from({ length: CHATTY }, (_, index) => `chatty_${index}`);
	await Promise.all(ids.map((id) => client.spawn(request(id, ["yes", "all work and no play"]))));
	const following = ids.map(async (id) => {
		for await (const { data } of client.follow(id)) if (data.length === 0) return;
	});
	const before = await written(client, ids);
	const began = performance.now();
	const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
	histogram.enable();
	await delay(CHATTY_MS);
	histogram.disable();
	const elapsed = performance.now() - began;
	const after = await written(client, ids);
	await Promise.all(ids.map((id) => client.kill(id, { graceMs: 0 })));
	await Promise.all(following);
	return {
		delay: histogram.percentile(99) / NS_PER_MS - RESOLUTION_MS,
		speed: perSecond(after - before, elapsed),
	};
}

async function written(client: HostClient, ids: readonly string[]): Promise<number> {
	const infos = await Promise.all(ids.map((id) => client.get(id)));
	return infos.reduce((sum, { logSize }) => sum + logSize, 0);
}

function request(id: string, argv: readonly string[], maxLogBytes = 4 * 1024 * 1024): SpawnRequest {
	return { id, argv, cwd: "/", env: { PATH: process.env.PATH ?? "" }, pty: null, maxLogBytes };
}

function perSecond(bytes: number, ms: number): number {
	return bytes / 1000 / ms;
}

function memoryOf(pid: number): number {
	return Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1000;
}
