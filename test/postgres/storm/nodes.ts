// The gateways of a cluster under test: where each lives, how it is started, and what the database knows of it.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { socketTransport, type Transport } from "../../../src/http/index.ts";
import type { NodeSetup } from "../../../src/testing/index.ts";
import { programFile } from "../../support/programs.ts";
import type { Orders } from "./scene.ts";

const CHILD = programFile(new URL("./child.ts", import.meta.url));

export function nameOf(n: number): string {
	return `node ${n}`;
}

export function homeOf(root: string, n: number): string {
	return join(root, `n${n}`);
}

/** A home with the keys that all nodes have in common. */
export function makeHome(root: string, n: number): string {
	const home = homeOf(root, n);
	mkdirSync(home, { recursive: true, mode: 0o700 });
	for (const key of ["audit.key", "pseudonym.key"])
		writeFileSync(join(home, key), Buffer.alloc(32, 7), { mode: 0o600 });
	return home;
}

/** Starts a node, and waits until it answers. */
export async function startNode(
	{ n, url, env }: NodeSetup,
	orders: Omit<Orders, "name" | "home" | "url"> & {
		readonly root: string;
		/** Of another build; left out: this one's. */
		readonly program?: string;
	},
): Promise<ChildProcess> {
	const { root, program = CHILD, ...rest } = orders;
	const told: Orders = { ...rest, name: nameOf(n), home: homeOf(root, n), url };
	const child = spawn(
		process.execPath,
		["--disable-warning=ExperimentalWarning", program, JSON.stringify(told)],
		{ stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, ...env } },
	);
	await Promise.race([
		once(child.stdout, "data"),
		once(child, "exit").then(([code, signal]) => {
			throw new Error(`node ${n} did not start: it ended with ${signal ?? code}`);
		}),
	]);
	child.stdout.resume();
	return child;
}

/** To whichever node answers, beginning with one of them: as through a load balancer. */
export function balanced(root: string, nodes: number, first: number): Transport {
	const lines = Array.from({ length: nodes }, (_, n) =>
		socketTransport(join(homeOf(root, (first + n) % nodes), "keryx.sock")),
	);
	return async (request) => {
		let failure: unknown;
		for (const line of lines)
			try {
				return await line(request);
			} catch (error) {
				failure = error;
				if (request.signal?.aborted) break;
			}
		throw failure;
	};
}
