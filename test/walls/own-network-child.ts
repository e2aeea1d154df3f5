// Boxes with their own network, on a machine made for them. Prints what was found as one line of JSON. Needs root; then it becomes an
// ordinary user if it is told to.
import { setTimeout as delay } from "node:timers/promises";
import { probeBoxNetwork, probeWalls } from "../../src/walls/index.ts";
import { listen, membersOf, OUTSIDE, setUpMachine } from "./own-network-machine.ts";
import { becomeOrdinary, WallScene } from "./scene.ts";

const started: number[] = [];
const [top = "", who = ""] = process.argv.slice(2);

setUpMachine(top);
await listen();
if (who !== "root") becomeOrdinary();
const scene = new WallScene();
try {
	const probe = await probeBoxNetwork(scene.home, await probeWalls(scene.home));
	const box = scene.wall("box", { outlivesStarter: false });
	const wall = { ...box, network: "own" as const };
	const get = "curl -sS -m 1";
	const open = "ls /proc/self/fd | tr '\\n' ' '";
	const network = await scene.run(
		wall,
		`${get} http://${OUTSIDE}/a; ${get} http://somewhere.example/b
		for to in 127.0.0.1 localhost 192.0.2.1 192.0.2.9 '[::1]'; do ${get} "http://$to:8080/" && echo REACHED; done; exit 7`,
	);
	const descriptors = [await scene.run(wall, open), await scene.run(box, open)].map(({ out }) => out);
	const terminal = await scene.onTerminal(wall, ["bash", "--norc", "-i"]);
	terminal.type("test -t 0 && grep -q eth7 /proc/net/route && exit 5\n");
	const onTerminal = await terminal.walled.exit;
	// At moments from the start on; it takes about 60 ms until the program runs.
	const killed: string[] = [];
	for (const moment of [0, 20, 40, 60, 120]) {
		const walled = await scene.start(wall, ["sleep", "600"]);
		started.push(walled.pid);
		const until = performance.now() + moment;
		while (performance.now() < until) await delay(0);
		walled.kill();
		killed.push((await walled.exit).kind);
	}
	const program = await scene.start(wall, [
		"bash",
		"-c",
		"trap 'exit 9' TERM; echo up; while :; do sleep 0.01; done",
	]);
	started.push(program.pid);
	await new Promise((resolve) => program.child.stdout?.once("data", resolve));
	const during = membersOf([program.pid]).map(({ name }) => name);
	process.kill(-program.pid, "SIGTERM");
	const ended = await program.exit;
	// Everything goes a moment after its program. If something stayed, this would never end.
	while (membersOf(started).length > 0) await delay(1);
	const uid = process.getuid?.();
	console.log(JSON.stringify({ uid, probe, network, descriptors, onTerminal, killed, during, ended }));
} finally {
	await scene.close();
}
process.exit(0);
