// Three gateways in processes of their own under load, one of which is killed while it writes answers: how long until others have given them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { KeryxError } from "../src/errors.ts";
import { type Client, createClient } from "../src/http/index.ts";
import { createCluster, createPlatformServer, ScriptedPlatform } from "../src/testing/index.ts";
import { balanced, makeHome, startNode } from "../test/postgres/storm/nodes.ts";
import { onServer } from "../test/support/postgres-store.ts";
import { PLATFORMS } from "../test/torture/scene.ts";

const NODES = 3;
/** As they are where nobody sets them. */
export const LEASE = { seconds: 10, heartbeat_seconds: 3 };

/** Conversations that the killed gateway is answering. */
const CUT_OFF = 4;
/** People who write all the time, to any of them. */
const WRITERS = 6;

/** From a kill until the last answer that was cut off is given by another, in milliseconds, for each. The answer itself takes 2.5 s of it. */
export async function takeOvers(url: string, kills: number): Promise<readonly number[]> {
	const root = mkdtempSync(join(tmpdir(), "kx-kills-"));
	const platforms = await Promise.all(
		Object.keys(PLATFORMS).map(
			async (platform) =>
				[platform, await createPlatformServer({ platform: new ScriptedPlatform({ platform }) })] as const,
		),
	);
	for (let n = 0; n < NODES; n++) makeHome(root, n);
	const cluster = await createCluster({
		url,
		nodes: NODES,
		start: (place) =>
			startNode(place, {
				root,
				lease: LEASE,
				addresses: Object.fromEntries(platforms.map(([name, { address }]) => [name, address])),
				telegram: null,
				effects: join(root, "effects"),
			}),
	});
	const times: number[] = [];
	const over = new AbortController();
	try {
		await cluster.start();
		const load = Array.from({ length: WRITERS }, (_, n) => keepWriting(root, n, over.signal));
		for (let n = 0; n < kills; n++) {
			const victim = cluster.nodes[n % NODES];
			const others = createClient(balanced(root, NODES, (n + 1) % NODES));
			const own = createClient(balanced(root, NODES, n % NODES));
			const ids: number[] = [];
			for (let k = 0; k < CUT_OFF; k++) ids.push((await say(own, `user ${n} ${k}`, `late ${n}`)).id);
			const begun = `SELECT 1 FROM keryx.inbox WHERE id IN (${ids}) AND turn IS NOT NULL`;
			while ((await onServer(url, begun)).length < CUT_OFF);
			await victim?.kill();
			const killed = performance.now();
			for (const id of ids) while ((await others.inbound({ id, wait: 30 })).disposition === null);
			times.push(performance.now() - killed);
			await victim?.start();
		}
		over.abort();
		await Promise.all(load);
		const open =
			"SELECT 1 FROM keryx.inbox WHERE platform = 'local' AND coalesce(disposition, '') NOT IN ('answered', 'merged')";
		if ((await onServer(url, open)).length > 0) throw new Error("a message has no answer");
		return times;
	} finally {
		await cluster.close();
		for (const [, { close }] of platforms) await close();
		rmSync(root, { recursive: true, force: true });
	}
}

let said = 0;

function say(client: Client, user: string, text: string): ReturnType<Client["send"]> {
	const source = { platform: "local", chat_type: "dm" as const, user_id: user };
	return client.send({ text, client_message_id: `said ${++said}`, source });
}

/** Writes, waits for the answer and writes again, until it is over. */
async function keepWriting(root: string, n: number, signal: AbortSignal): Promise<void> {
	const client = createClient(balanced(root, NODES, n % NODES));
	while (!signal.aborted) {
		const id = `load ${n} ${++said}`;
		const source = { platform: "local", chat_type: "dm" as const, user_id: `writer ${n}` };
		// The gateway may be killed before it says that it took it: the same id is taken once.
		const sent = await again(() => client.send({ text: "plain", client_message_id: id, source }));
		await again(async () => {
			while ((await client.inbound({ id: sent.id, wait: 30 })).disposition === null);
		});
	}
}

async function again<Value>(ask: () => Promise<Value>): Promise<Value> {
	for (;;)
		try {
			return await ask();
		} catch (error) {
			if (error instanceof KeryxError && !error.code.startsWith("store.") && error.code !== "gateway.silent")
				throw error;
		}
}
