// A client that waits: as long as Keryx shows that it lives, and no longer.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createNetServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createClient, socketTransport, type Transport } from "../../src/http/index.ts";
import { createVirtualClock, type VirtualClock } from "../../src/testing/index.ts";

let folder: string;
let socketPath: string;
let clock: VirtualClock;
const servers: Server[] = [];

beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "keryx-patience-"));
	socketPath = join(folder, "keryx.sock");
	clock = createVirtualClock(0);
});
afterEach(async () => {
	for (const server of servers.splice(0)) server.close();
	rmSync(folder, { recursive: true, force: true });
});

async function listen(server: Server): Promise<void> {
	servers.push(server);
	server.listen(socketPath);
	await once(server, "listening");
}

function transport(): Transport {
	return socketTransport(socketPath, { patience: { connectMs: 5000, silenceMs: 30_000, clock } });
}

/** A Keryx whose calls are answered by the test, and whose health answers as long as it lives. */
async function keryx() {
	const waiting: { request: IncomingMessage; response: ServerResponse }[] = [];
	const seen = { probes: 0, isAlive: true };
	const server = createServer((request, response) => {
		if (request.url !== "/health") {
			waiting.push({ request, response });
			return;
		}
		seen.probes++;
		if (seen.isAlive) response.end("{}");
	});
	await listen(server);
	const asked = async (count = 1) => {
		await expect.poll(() => waiting.length, { interval: 1 }).toBe(count);
		return waiting[count - 1] as (typeof waiting)[number];
	};
	return { seen, asked };
}

const refused = (call: Promise<unknown>) =>
	call.then(
		() => "answered",
		(error: { code?: string; message: string }) => `${error.code}: ${error.message}`,
	);

/** Lets time pass up to the next time that Keryx is asked whether it lives, and until it has said so. */
async function probed(seen: { readonly probes: number }, count: number): Promise<void> {
	await clock.advance(25_000);
	await expect.poll(() => seen.probes, { interval: 1 }).toBe(count);
	// The answer has come when the next look is 25 s away, and not the end of this one 5 s.
	await expect.poll(() => (clock.pendingTimers()[0] ?? 0) - clock.now(), { interval: 1 }).toBe(25_000);
}

test("one that takes the connection and says nothing is given up after the time that it may be silent", async () => {
	await listen(createNetServer(() => {}));
	const call = refused(createClient(transport()).health());
	await expect
		.poll(() => clock.pendingTimers().map((at) => at - clock.now()), { interval: 1 })
		.toEqual([25_000]);
	await clock.advance(29_999);
	expect(clock.pendingTimers()).toHaveLength(1);
	await clock.advance(1);
	expect(await call).toBe("gateway.silent: Keryx has not responded for 30 s");
	expect(clock.pendingTimers()).toEqual([]);
});

test("a call that takes long is waited for while Keryx answers for its health", async () => {
	const { seen, asked } = await keryx();
	const answer = transport()({ method: "GET", path: "/long", headers: {} });
	const { response } = await asked();
	for (let count = 1; count <= 4; count++) await probed(seen, count);
	response.end("done");
	expect((await answer).status).toBe(200);
});

test("a stream lives as long as something comes, be it a heartbeat, and is given up when nothing does", async () => {
	const { seen, asked } = await keryx();
	const sent = transport()({ method: "GET", path: "/events", headers: {} });
	const { response } = await asked();
	response.write(": following\n\n");
	const { body } = await sent;
	const chunks: string[] = [];
	const read = refused(
		(async () => {
			for await (const chunk of body) chunks.push(Buffer.from(chunk).toString());
		})(),
	);
	for (let beat = 2; beat <= 5; beat++) {
		await expect.poll(() => chunks.length, { interval: 1 }).toBe(beat - 1);
		await clock.advance(20_000);
		response.write(": beat\n\n");
	}
	await expect.poll(() => chunks.length, { interval: 1 }).toBe(5);
	expect(seen.probes).toBe(0);
	seen.isAlive = false;
	await clock.advance(30_000);
	expect(await read).toBe("gateway.silent: Keryx has not responded for 30 s");
});

test("followers take a silent Keryx for a cut, and go on when it is back", async () => {
	const { seen, asked } = await keryx();
	const stop = new AbortController();
	const frames = createClient(transport()).follow({ signal: stop.signal });
	const first = frames.next();
	(await asked()).response.write(": following\n\n");
	await expect.poll(() => clock.pendingTimers().length, { interval: 1 }).toBe(1);
	seen.isAlive = false;
	await clock.advance(60_000);
	expect(await first).toMatchObject({ value: { kind: "lost" } });
	const again = frames.next();
	(await asked(2)).response.write(": following\n\n");
	expect(await again).toMatchObject({ value: { kind: "restored" } });
	stop.abort();
	await frames.return(undefined);
});

test("one that ends is noticed at once", async () => {
	const { asked } = await keryx();
	const call = refused(transport()({ method: "GET", path: "/long", headers: {} }));
	(await asked()).response.destroy();
	expect(await call).toContain("ECONNRESET");
	await expect.poll(() => clock.pendingTimers(), { interval: 1 }).toEqual([]);
});
