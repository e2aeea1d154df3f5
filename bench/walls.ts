// What a wall costs at the start of a command: `bash -c true` without one and behind each, taking turns, from the call to the exit.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { type Machine, probeWalls, startBehindWall, type Wall, type WallKind } from "../src/walls/index.ts";
import { atMost, measured, median, type Row } from "./harness.ts";

const ROUNDS = 120;
const WARM_UP = 10;
const KINDS = ["view", "mask", "box"] as const;
const BAR_MS = 15;

export async function measureWalls(): Promise<Row[]> {
	const top = realpathSync(mkdtempSync("/var/tmp/keryx-bench-"));
	for (const folder of ["home", "ws", "home/tmp"]) mkdirSync(join(top, folder));
	try {
		const { machine } = await probeWalls(join(top, "home"));
		if (!machine) throw new Error("bubblewrap is not installed");
		const times = { none: [] as number[], view: [] as number[], mask: [] as number[], box: [] as number[] };
		for (let round = -WARM_UP; round < ROUNDS; round++) {
			const none = await timed(() => plainly(top));
			if (round >= 0) times.none.push(none);
			for (const kind of KINDS) {
				const took = await timed(() => walled(kind, top, machine));
				if (round >= 0) times[kind].push(took);
			}
		}
		const without = median(times.none);
		const who = process.getuid?.() === 0 ? "root" : "an ordinary user";
		return [
			measured(`start and end of \`bash -c true\` without a wall, as ${who}`, without, "ms"),
			...KINDS.flatMap((kind) => [
				measured(`the same behind ${kind}`, median(times[kind]), "ms"),
				atMost(BAR_MS, measured(`${kind}, more than without`, median(times[kind]) - without, "ms")),
			]),
		];
	} finally {
		rmSync(top, { recursive: true, force: true });
	}
}

async function timed(work: () => Promise<void>): Promise<number> {
	const began = performance.now();
	await work();
	return performance.now() - began;
}

function plainly(top: string): Promise<void> {
	const child = spawn("/bin/bash", ["-c", "true"], {
		cwd: join(top, "ws"),
		env: {},
		stdio: "ignore",
		detached: true,
	});
	return new Promise((resolve) => child.once("exit", () => resolve()));
}

async function walled(kind: WallKind, top: string, machine: Machine): Promise<void> {
	const wall: Wall = {
		kind,
		home: join(top, "home"),
		workspace: join(top, "ws"),
		tmp: join(top, "home/tmp"),
		read: [],
		write: [],
		hide: [],
		protect: [],
		devices: [],
		network: kind === "box" ? "none" : "host",
		hasUnixSockets: false,
		privileges: "none",
		outlivesStarter: true,
		limits: { openFiles: null, memoryBytes: null },
	};
	const { exit } = await startBehindWall(
		{
			wall,
			argv: ["/bin/bash", "-c", "true"],
			cwd: wall.workspace,
			env: {},
			statusFile: join(top, "home/status"),
			streams: ["ignore", "ignore", "ignore"],
		},
		machine,
	);
	await exit;
}
