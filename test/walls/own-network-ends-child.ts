// Ends of boxes with their own network that nobody asked for: `<top> <root or user> <shell> <runs> <seed>`. Prints what was found as one
// line of JSON. Needs root; then it becomes an ordinary user if it is told to.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { isNamespaceAlive, readStatus, type Walled, type WallLimits } from "../../src/walls/index.ts";
import { randomBy } from "../crash/acks.ts";
import { type Member, membersOf, setUpMachine } from "./own-network-machine.ts";
import { becomeOrdinary, WallScene } from "./scene.ts";

const MB = 1024 * 1024;
/** It takes about 60 ms until the program runs. */
const WINDOW_MS = 120;
const LEFT_MS = 10_000;
const [top = "", who = "", shell = "", runs = "", seed = ""] = process.argv.slice(2);

setUpMachine(top);
if (who !== "root") becomeOrdinary();
const scene = new WallScene({ shell });
const wall = (limits: Partial<WallLimits> = {}, outlivesStarter = true) =>
	scene.wall("box", { network: "own", outlivesStarter, limits });
try {
	const ofSignal = await killedBubblewrap();
	const ofMemory = scene.machine.cgroups.memory === null ? null : await outOfMemory();
	const ofLauncher = await killedLaunchers();
	console.log(JSON.stringify({ uid: process.getuid?.(), ofSignal, ofMemory, ofLauncher }));
} finally {
	await scene.close();
}
process.exit(0);

/** bubblewrap itself is killed, as the system may do. The shell above it tells that as a code. */
async function killedBubblewrap() {
	const walled = await scene.start(wall(), ["sh", "-c", "echo up; sleep 600"]);
	await once(walled.child.stdout as Readable, "data");
	const found = membersOf([walled.pid]).filter(({ name }) => name === "bwrap");
	const outer = found.find(({ parent }) => !found.some(({ pid }) => pid === parent));
	if (!outer) throw new Error("bubblewrap does not run");
	process.kill(outer.pid, "SIGKILL");
	return { exit: await walled.exit, left: await leftOf([walled.pid]) };
}

/** Small processes without end: where the launcher's shell counts with them, it is the largest, and the first to be killed. */
async function outOfMemory() {
	const program = "echo up; read go; while :; do sleep 600 & done";
	const walled = await scene.start(wall({ totalMemoryBytes: 24 * MB }), ["dash", "-c", program], {
		streams: ["pipe", "pipe", "pipe"],
	});
	await once(walled.child.stdout as Readable, "data");
	const [folder = ""] = scene.cgroups();
	const limited = readFileSync(join(folder, "cgroup.procs"), "utf8").trim().split("\n").map(Number);
	const inCgroup = membersOf([walled.pid])
		.filter(({ pid }) => limited.includes(pid))
		.map(({ name }) => name);
	walled.child.stdin?.end("go\n");
	return { inCgroup, exit: await walled.exit, left: await leftOf([walled.pid]), cgroups: scene.cgroups() };
}

/** The launcher alone is killed, at any moment from the start on, by something else than its starter. */
async function killedLaunchers() {
	const random = randomBy(Number(seed));
	const pids: number[] = [];
	const running: string[] = [];
	const kinds = new Set<string>();
	for (let run = 0; run < Number(runs); run++) {
		const walled: Walled = await scene.start(wall({}, run % 2 === 0), ["sleep", "600"]);
		pids.push(walled.pid);
		const moment = performance.now() + random() * WINDOW_MS;
		while (performance.now() < moment) await delay(0);
		process.kill(walled.pid, "SIGKILL");
		kinds.add((await walled.exit).kind);
		const { namespace } = readStatus(scene.lastStatus);
		if (namespace && isNamespaceAlive(namespace)) running.push(scene.lastStatus);
	}
	return { runs: pids.length, kinds: [...kinds], running, left: await leftOf(pids) };
}

/** What is still there after a while, and then no more. */
async function leftOf(groups: readonly number[]): Promise<string[]> {
	const until = performance.now() + LEFT_MS;
	let left: Member[] = membersOf(groups);
	while (left.length > 0 && performance.now() < until) {
		await delay(5);
		left = membersOf(groups);
	}
	for (const { pid } of left) process.kill(pid, "SIGKILL");
	return left.map(({ name }) => name);
}
