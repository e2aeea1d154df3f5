// A port for a server that cannot choose one itself, or must come back on it. Not one that the system gives to connections and to whoever
// asks for any port: it may be gone again before the server begins.
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the system's own range. Each worker has ports of its own, so two test files never choose the same one. */
const FIRST = 12_000;
const WORKERS = 16;
const PER_WORKER = 1200;

const given = new Set<number>();

export async function freePort(): Promise<number> {
	const own = FIRST + (Number(process.env.VITEST_POOL_ID ?? 0) % WORKERS) * PER_WORKER;
	for (;;) {
		const port = own + Math.floor(Math.random() * PER_WORKER);
		if (given.has(port) || !(await isFree(port))) continue;
		given.add(port);
		return port;
	}
}

async function isFree(port: number): Promise<boolean> {
	const server = createServer();
	try {
		server.listen(port, "127.0.0.1");
		await once(server, "listening");
	} catch {
		return false;
	}
	server.close();
	await once(server, "close");
	return true;
}
