// What a wall costs at the start of a command: `bash -c true` without one and behind each, taking turns, from the gateway's decision
// which wall it is to the exit, with the lists that a whole Keryx makes.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { openWalls } from "../src/app/walls.ts";
import { configSchema } from "../src/config/schema.ts";
import { type Walls, workspaceFinder } from "../src/gateway/index.ts";
import { startBehindWall, type WallKind } from "../src/walls/index.ts";
import { atMost, measured, median, type Row } from "./harness.ts";

const ROUNDS = 120;
const WARM_UP = 10;
const KINDS = ["view", "mask", "box"] as const;
const BAR_MS = 15;
const ARGV = ["/bin/bash", "-c", "true"] as const;

/** A profile for each kind of wall. */
const config = configSchema.parse({
	profiles: Object.fromEntries(KINDS.map((kind) => [kind, {}])),
	walls: { by_profile: Object.fromEntries(KINDS.map((kind) => [kind, { owner: kind }])) },
});

export async function measureWalls(): Promise<Row[]> {
	const top = realpathSync(mkdtempSync("/var/tmp/keryx-bench-"));
	const folders = { home: join(top, "home"), root: join(top, "workspaces") };
	for (const folder of Object.values(folders)) mkdirSync(folder, { mode: 0o700 });
	try {
		const workspaceOf = workspaceFinder(config, folders);
		const walls = openWalls({ folders, env: process.env, workspaceOf, config: () => config });
		const times = { none: [] as number[], view: [] as number[], mask: [] as number[], box: [] as number[] };
		for (let round = -WARM_UP; round < ROUNDS; round++) {
			const none = await timed(() => plainly(top));
			if (round >= 0) times.none.push(none);
			for (const kind of KINDS) {
				const statusFile = join(folders.home, `${kind}-${round}`);
				const took = await timed(() => walled(kind, walls, statusFile));
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

function plainly(cwd: string): Promise<void> {
	const [program, ...args] = ARGV;
	const child = spawn(program, args, { cwd, env: {}, stdio: "ignore", detached: true });
	return new Promise((resolve) => child.once("exit", () => resolve()));
}

async function walled(kind: WallKind, walls: Walls, statusFile: string): Promise<void> {
	const place = await walls.forCommand({ conversation: "0".repeat(32), profile: kind, standing: "owner" });
	if (place.run !== "walled")
		throw new Error(`there is no ${kind}: ${"reason" in place ? place.reason : place.run}`);
	const { wall, machine } = place.request;
	const { exit } = await startBehindWall(
		{
			wall,
			argv: ARGV,
			cwd: wall.workspace,
			env: place.env,
			statusFile,
			streams: ["ignore", "ignore", "ignore"],
		},
		machine,
	);
	const { kind: end } = await exit;
	if (end !== "exited") throw new Error(`behind ${kind} the command ${end}`);
}
