// How long a built Keryx takes to start: commands of the terminal until they have ended, and the gateway until it gives its first
// answer. Beside each is Node itself, doing nothing. CPU time is printed, too, since a busy machine stretches the rest.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { atMost, measured, median, type Row } from "./harness.ts";

const KERYX = process.env.KERYX_BENCH_PROGRAM ?? fileURLToPath(new URL("../bin/keryx.mjs", import.meta.url));
const USAGE = new URL("./start-usage.mjs", import.meta.url).href;
const SAMPLES = 7;
const COMMAND_BAR_MS = 150;
const GATEWAY_BAR_MS = 1000;
const COMMANDS: readonly (readonly string[])[] = [["--version"], ["help"], ["status"]];

export async function measureStart(): Promise<Row[]> {
	const folder = mkdtempSync(join(tmpdir(), "keryx-start-"));
	try {
		const home = join(folder, "home");
		const rows = rowsOf("node, doing nothing", await samples(() => run(["-e", "0"], home)));
		for (const words of COMMANDS)
			rows.push(
				...rowsOf(
					`keryx ${words.join(" ")}, with no Keryx running`,
					await samples(() => run([KERYX, ...words], home)),
					COMMAND_BAR_MS,
				),
			);
		rows.push(
			...rowsOf(
				"gateway, a new home, to its first answer",
				await samples((n) => startGateway(join(folder, `new ${n}`))),
				GATEWAY_BAR_MS,
			),
			...rowsOf(
				"gateway, a home that was used before, to its first answer",
				await samples(() => startGateway(home)),
				GATEWAY_BAR_MS,
			),
		);
		return rows;
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

interface Sample {
	readonly ms: number;
	/** In milliseconds. */
	readonly cpu: number;
}

async function samples(take: (n: number) => Promise<Sample>): Promise<readonly Sample[]> {
	await take(0);
	const taken: Sample[] = [];
	for (let n = 1; n <= SAMPLES; n++) taken.push(await take(n));
	return taken;
}

function rowsOf(what: string, taken: readonly Sample[], bar?: number): Row[] {
	const wall = measured(what, median(taken.map(({ ms }) => ms)), "ms");
	return [
		bar === undefined ? wall : atMost(bar, wall),
		measured(`${what}: CPU`, median(taken.map(({ cpu }) => cpu)), "ms"),
	];
}

function start(args: readonly string[], home: string) {
	const began = performance.now();
	const usage = `${home}.usage`;
	const child = spawn(process.execPath, ["--import", USAGE, ...args], {
		env: { ...process.env, KERYX_HOME: home, KERYX_HTTP_PORT: "0", KERYX_BENCH_USAGE: usage },
		stdio: "ignore",
	});
	const closed = once(child, "close").then(() => Number(readFileSync(usage, "utf8")) / 1000);
	return { child, began, closed };
}

async function run(args: readonly string[], home: string): Promise<Sample> {
	const { began, closed } = start(args, home);
	const cpu = await closed;
	return { ms: performance.now() - began, cpu };
}

/** CPU is that of the whole life, with its end. Whoever wants to look at it does so before it is told to stop. */
export async function startGateway(
	home: string,
	look: (pid: number) => Promise<void> = () => Promise.resolve(),
): Promise<Sample> {
	const { child, began, closed } = start([KERYX], home);
	let hasEnded = false;
	void closed.then(() => {
		hasEnded = true;
	});
	while (!(await answers(join(home, "keryx.sock")))) {
		if (hasEnded) throw new Error("the gateway ended before it answered");
		await delay(5);
	}
	const ms = performance.now() - began;
	await look(child.pid as number);
	child.kill("SIGTERM");
	return { ms, cpu: await closed };
}

function answers(socketPath: string): Promise<boolean> {
	return new Promise((resolve) => {
		const asked = request({ socketPath, path: "/health" }, (answer) => {
			answer.resume();
			answer.on("end", () => resolve(answer.statusCode === 200));
		});
		asked.on("error", () => resolve(false));
		asked.end();
	});
}
