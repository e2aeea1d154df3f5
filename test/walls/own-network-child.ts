// A machine in a network namespace of its own, with an address on the network and another one beyond it, on which boxes get their own
// network. Prints what was found as one line of JSON. Needs root: `unshare -n -m`; then it becomes an ordinary user if it is told to.
import { execFileSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { probeBoxNetwork, probeWalls } from "../../src/walls/index.ts";
import { becomeOrdinary, WallScene } from "./scene.ts";

const OUTSIDE = "198.51.100.1";
const groups: number[] = [];
const others: number[] = [];
const [top = "", who = ""] = process.argv.slice(2);

setUp();
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
		others.push(walled.pid);
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
	groups.push(program.pid);
	await new Promise((resolve) => program.child.stdout?.once("data", resolve));
	const during = living();
	process.kill(-program.pid, "SIGTERM");
	const ended = await program.exit;
	// Everything goes a moment after its program. If something stayed, this would never end.
	groups.push(...others);
	while (living().length > 0) await delay(1);
	const uid = process.getuid?.();
	console.log(JSON.stringify({ uid, probe, network, descriptors, onTerminal, killed, during, ended }));
} finally {
	await scene.close();
}
process.exit(0);

/** The programs in the process groups of what was started here. */
function living(): string[] {
	return readdirSync("/proc")
		.filter((pid) => /^\d+$/.test(pid) && groups.includes(groupOf(pid)))
		.map((pid) => basename(textOf(pid, "cmdline").split("\0")[0] ?? ""))
		.sort();
}

/** 0 for one that has ended. */
function groupOf(pid: string): number {
	const [state, , group] = textOf(pid, "stat")
		.replace(/^.*\) /s, "")
		.split(" ");
	return state === "Z" ? 0 : Number(group);
}

function textOf(pid: string, file: string): string {
	try {
		return readFileSync(`/proc/${pid}/${file}`, "latin1");
	} catch {
		return "";
	}
}

function setUp(): void {
	const sh = (script: string) => execFileSync("/bin/sh", ["-e", "-c", script], { stdio: "inherit" });
	const folder = mkdtempSync(join(top, "net-"));
	writeFileSync(join(folder, "resolv.conf"), `nameserver ${OUTSIDE}\n`, { mode: 0o644 });
	mkdirSync(join(folder, "dev"));
	chmodSync(folder, 0o755);
	// A device that everybody may open, as distributions make it; that of the real machine is not touched.
	sh(`mount -t tmpfs none ${folder}/dev; mknod -m 666 ${folder}/dev/tun c 10 200; mount --bind ${folder}/dev/tun /dev/net/tun
		mount --bind ${folder}/resolv.conf /etc/resolv.conf
		ip link set lo up
		for n in 7 8; do ip tuntap add eth$n mode tap; ip link set eth$n up; done
		ip addr add 192.0.2.9/24 dev eth7; ip route add default via 192.0.2.1; ip addr add ${OUTSIDE}/24 dev eth8`);
}

async function listen(): Promise<void> {
	const outside = createServer((request, response) => response.end(`outside ${request.url}\n`));
	const loopback = createServer((_, response) => response.end("LOOPBACK\n"));
	const names = createSocket("udp4", (asked, from) => names.send(answerTo(asked), from.port, from.address));
	await Promise.all([
		new Promise<void>((resolve) => outside.listen(80, OUTSIDE, resolve)),
		new Promise<void>((resolve) => loopback.listen(8080, "::", resolve)),
		new Promise<void>((resolve) => names.bind(53, OUTSIDE, resolve)),
	]);
}

/** Every name leads outside; there is nothing but IPv4. */
function answerTo(asked: Buffer): Buffer {
	let end = 12;
	while (asked[end]) end += (asked[end] ?? 0) + 1;
	const isAddress = asked.readUInt16BE(end + 1) === 1;
	const header = Buffer.from([...asked.subarray(0, 2), 0x81, 0x80, 0, 1, 0, isAddress ? 1 : 0, 0, 0, 0, 0]);
	const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...OUTSIDE.split(".").map(Number)]);
	return Buffer.concat([header, asked.subarray(12, end + 5), ...(isAddress ? [answer] : [])]);
}
