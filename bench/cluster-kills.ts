// Three gateways in processes of their own, one of which is killed while it writes an answer: how long until another has given it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { createClient } from "../src/http/index.ts";
import { createCluster, createPlatformServer, ScriptedPlatform } from "../src/testing/index.ts";
import { balanced, makeHome, startNode } from "../test/postgres/storm/nodes.ts";
import { onServer } from "../test/support/postgres-store.ts";
import { PLATFORMS } from "../test/torture/scene.ts";

const NODES = 3;
/** As they are where nobody sets them. */
export const LEASE = { seconds: 10, heartbeat_seconds: 3 };

/** The longest of so many kills, in milliseconds. The answer itself takes 2.5 s of it. */
export async function slowestTakeOver(url: string, kills: number): Promise<number> {
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
	let slowest = 0;
	try {
		await cluster.start();
		for (let n = 0; n < kills; n++) {
			const victim = cluster.nodes[n % NODES];
			const others = createClient(balanced(root, NODES, (n + 1) % NODES));
			const { id } = await createClient(balanced(root, NODES, n % NODES)).send({
				text: `late ${n}`,
				client_message_id: `kill ${n}`,
				source: { platform: "local", chat_type: "dm", user_id: `user ${n}` },
			});
			const running = `SELECT 1 FROM keryx.inbox WHERE id = ${id} AND turn IS NOT NULL`;
			while ((await onServer(url, running)).length === 0);
			await victim?.kill();
			const killed = performance.now();
			while ((await others.inbound({ id, wait: 30 })).disposition === null);
			slowest = Math.max(slowest, performance.now() - killed);
			await victim?.start();
		}
		return slowest;
	} finally {
		await cluster.close();
		for (const [, { close }] of platforms) await close();
		rmSync(root, { recursive: true, force: true });
	}
}
