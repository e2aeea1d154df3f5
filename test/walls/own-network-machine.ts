// A machine in a network namespace of its own, with an address on the network and another one beyond it, on which boxes get their own
// network. Needs root: `unshare -n -m`.
import { execFileSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { basename, join } from "node:path";

export const OUTSIDE = "198.51.100.1";

export interface Member {
	readonly pid: number;
	readonly parent: number;
	readonly name: string;
}

/** Everything alive in these process groups; a walled program's launcher leads one, and all it starts outside the wall is in it. */
export function membersOf(groups: readonly number[]): Member[] {
	return readdirSync("/proc")
		.filter((pid) => /^\d+$/.test(pid))
		.flatMap((pid) => {
			const [state, parent, group] = textOf(pid, "stat")
				.replace(/^.*\) /s, "")
				.split(" ");
			if (state === "Z" || !groups.includes(Number(group))) return [];
			const name = basename(textOf(pid, "cmdline").split("\0")[0] ?? "");
			return [{ pid: Number(pid), parent: Number(parent), name }];
		});
}

/** Empty for one that has ended. */
function textOf(pid: string, file: string): string {
	try {
		return readFileSync(`/proc/${pid}/${file}`, "latin1");
	} catch {
		return "";
	}
}

export function setUpMachine(top: string): void {
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

/** Servers on it: one outside, one on every address of this machine, and names that all lead outside. */
export async function listen(): Promise<void> {
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
