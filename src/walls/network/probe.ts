// Whether a box can have its own network here: pasta is started once around a real box, in which a program tries to reach a server on this
// machine's loopback by every address it could have there.
import { accessSync, constants, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { newWall } from "../new-wall.ts";
import { startBehindWall } from "../start.ts";
import type { Machine } from "../types.ts";

/** missing: it is not installed. tun: this user may not open the device it needs. open: the machine's loopback could be reached. */
export type NetworkCause = "missing" | "tun" | "open" | "failed";

export type NetworkProbe =
	| { readonly isPossible: true }
	| { readonly isPossible: false; readonly cause: NetworkCause; readonly said: string };

const TUN = "/dev/net/tun";
/** A connection within this machine takes less than a millisecond. */
const REACH_MS = 300;

export async function probeNetwork(home: string, machine: Machine | null): Promise<NetworkProbe> {
	if (machine === null || machine.pasta === null) return impossible("missing");
	if (!canOpen(TUN)) return impossible("tun");
	const folder = mkdtempSync(join(realpathSync(home), ".walls-"));
	const reached: string[] = [];
	const server = createServer((socket) => {
		reached.push(socket.localAddress ?? "");
		socket.destroy();
	});
	try {
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		const { port } = server.address() as AddressInfo;
		const workspace = join(folder, "box");
		mkdirSync(workspace);
		const node = realpathSync(process.execPath);
		const { child, exit } = await startBehindWall(
			{
				wall: newWall({ kind: "box", home: realpathSync(home), workspace, read: [node], network: "own" }),
				argv: [node, "-e", attempts(port)],
				cwd: workspace,
				env: { PATH: "/usr/bin:/bin" },
				statusFile: join(folder, "box.status"),
				streams: ["ignore", "ignore", "pipe"],
			},
			machine,
		);
		const [said, result] = await Promise.all([child.stderr === null ? "" : text(child.stderr), exit]);
		if (result.kind !== "exited" || result.code !== 0) return impossible("failed", said.trim());
		return reached.length > 0 ? impossible("open") : { isPossible: true };
	} catch (error) {
		return impossible("failed", (error as Error).message);
	} finally {
		server.close();
		rmSync(folder, { recursive: true, force: true });
	}
}

export function networkCauseInWords({ cause, said }: Extract<NetworkProbe, { isPossible: false }>): string {
	switch (cause) {
		case "missing":
			return "pasta is not installed";
		case "tun":
			return `this user may not open ${TUN}, which pasta needs`;
		case "open":
			return "pasta does not close this machine's loopback";
		case "failed":
			return `pasta could not be started${said === "" ? "" : ` (${said.split("\n")[0]})`}`;
	}
}

/** `install`: installs a package by its name. */
export function networkRemedy(cause: NetworkCause, install: (name: string) => string): string {
	switch (cause) {
		case "missing":
			return install("passt");
		case "tun":
			return `sudo chmod 666 ${TUN}, and a rule in /etc/udev/rules.d to keep it: KERNEL=="tun", MODE="0666"`;
		case "open":
			return "install a newer passt";
		case "failed":
			return "run pasta --config-net -- true to see what it says";
	}
}

function impossible(cause: NetworkCause, said = ""): NetworkProbe {
	return { isPossible: false, cause, said };
}

/** Loopback's addresses, and the gateway, through which pasta shows the machine's loopback by default. */
function attempts(port: number): string {
	return `const { connect } = require("node:net");
const routes = require("node:fs").readFileSync("/proc/net/route", "utf8").split("\\n").map((line) => line.split("\\t"));
const gateways = routes.filter((line) => line[1] === "00000000").map((line) => [...Buffer.from(line[2], "hex")].reverse().join("."));
for (const host of ["127.0.0.1", "::1", ...gateways]) connect({ host, port: ${port} }).on("error", () => {});
setTimeout(() => process.exit(0), ${REACH_MS});`;
}

function canOpen(path: string): boolean {
	try {
		accessSync(path, constants.R_OK | constants.W_OK);
		return true;
	} catch {
		return false;
	}
}
